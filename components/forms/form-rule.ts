import type { Messages } from 'use-intl'

/** The message of a rule that only a page has is the name of its text. */
export const rule = (name: keyof Messages['Errors']['rules']): string => name
