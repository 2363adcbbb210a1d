const KEY = 'return-path'

/** Remembers in this tab where the person was going, the fragment of a mailed link included, which no server may see. */
export function keepReturnPath(path: string) {
  try {
    sessionStorage.setItem(KEY, path)
  } catch {
    // A browser that keeps nothing leads to the settings.
  }
}

/** Where the person was going; it is given once. */
export function takeReturnPath(): string | null {
  try {
    const path = sessionStorage.getItem(KEY)
    sessionStorage.removeItem(KEY)
    return path
  } catch {
    return null
  }
}
