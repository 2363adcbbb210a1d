import { keepInTab, takeFromTab } from './tab-storage'

const KEY = 'return-path'

/** Keeps the path that the person asked for. It includes the fragment of a mailed link, which no server may see. */
export const keepReturnPath = (path: string) => keepInTab(KEY, path)

/** Returns the kept path once. */
export const takeReturnPath = () => takeFromTab(KEY)
