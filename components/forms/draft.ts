import { keepInTab, takeFromTab } from '../session/tab-storage'

/** Sent to the window before a page leaves for the sign-in, so that its forms keep what was typed. */
export const SESSION_ENDED = 'session-ended'

/** The address that was typed at the sign-in; no path may hold it. */
export const FORGOTTEN = 'forgotten'

const keyOf = (name: string, userId: string) => `draft:${name}:${userId}`

/** Keeps what was typed, never a password, in this tab while the person signs in again. */
export function keepDraft(name: string, userId: string, values: Record<string, unknown>) {
  const { current_password: _, ...draft } = values
  keepInTab(keyOf(name, userId), JSON.stringify(draft))
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
