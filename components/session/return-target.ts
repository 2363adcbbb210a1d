/** The address that a page may lead back to, in the browser's own spelling; null for any other. */
export function returnTarget(wish: string | null, allowed: readonly string[]): string | null {
  if (wish === null || !URL.canParse(wish)) return null
  const { href, origin, protocol, username, password } = new URL(wish)
  if (username || password) return null
  return allowed.includes(protocol === 'https:' ? origin : protocol) ? href : null
}

const KEY = 'return-target'

/** Remembers in this tab where to lead back to, because a sign-in and other pages do not carry the query. */
export function keepReturnTarget(target: string) {
  try {
    sessionStorage.setItem(KEY, target)
  } catch {
    // A browser that keeps nothing shows the way back on the first page only.
  }
}

export function keptReturnTarget(): string | null {
  try {
    return sessionStorage.getItem(KEY)
  } catch {
    return null
  }
}
