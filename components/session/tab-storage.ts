/** Keeps a text in this tab. Does nothing if the browser refuses storage. */
export function keepInTab(key: string, text: string) {
  try {
    sessionStorage.setItem(key, text)
  } catch {
    // Private windows and strict settings may refuse.
  }
}

export function keptInTab(key: string): string | null {
  try {
    return sessionStorage.getItem(key)
  } catch {
    return null
  }
}

/** Returns the kept text once. */
export function takeFromTab(key: string): string | null {
  const text = keptInTab(key)
  if (text !== null) sessionStorage.removeItem(key)
  return text
}
