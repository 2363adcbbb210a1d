import { keepInTab, takeFromTab } from './tab-storage'

const KEY = 'return-path'

/** Remembers where the person was going, the fragment of a mailed link included, which no server may see. */
export const keepReturnPath = (path: string) => keepInTab(KEY, path)

/** Where the person was going; it is given once. */
export const takeReturnPath = () => takeFromTab(KEY)
