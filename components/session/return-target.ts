import { keepInTab, keptInTab } from './tab-storage'

/** The address that a page may lead back to, in the browser's own spelling; null for any other. */
export function returnTarget(wish: string | null, allowed: readonly string[]): string | null {
  if (wish === null || !URL.canParse(wish)) return null
  const { href, origin, protocol, username, password } = new URL(wish)
  if (username || password) return null
  return allowed.includes(protocol === 'https:' ? origin : protocol) ? href : null
}

const KEY = 'return-target'

/** Remembers where to lead back to, because a sign-in and other pages do not carry the query. */
export const keepReturnTarget = (target: string) => keepInTab(KEY, target)

export const keptReturnTarget = () => keptInTab(KEY)
