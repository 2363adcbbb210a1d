import { keepInTab, takeFromTab } from '../session/tab-storage'

/** Sent to the window before a page leaves for the sign-in or reloads in another language, so that its forms keep what was typed. */
export const PAGE_LEAVES = 'page-leaves'

/** The address to sign in with, which one page hands to the next; no path may hold it. */
export const SIGN_IN = 'sign-in'

const keyOf = (name: string, userId: string) => `draft:${name}:${userId}`

/** Keeps what was typed, never a password, in this tab until the page is there again. */
export function keepDraft(name: string, userId: string, values: Record<string, unknown>) {
  const { current_password: _, reauthentication: __, ...typed } = values
  const filled = Object.entries(typed).filter(([, value]) => value)
  if (filled.length > 0) keepInTab(keyOf(name, userId), JSON.stringify(Object.fromEntries(filled)))
}

/** Returns the kept text once. */
export function takeDraft(name: string, userId: string): Record<string, unknown> {
  try {
    const draft: unknown = JSON.parse(takeFromTab(keyOf(name, userId)) ?? '{}')
    return typeof draft === 'object' && draft !== null ? { ...draft } : {}
  } catch {
    return {}
  }
}
