/** Rules that only a page has. */
const FORM_RULES = [
  'accountEmail',
  'code',
  'cookies',
  'newEmail',
  'newPassword',
  'sure',
  'tokenName',
  'tokenScopes',
] as const
type FormRule = (typeof FORM_RULES)[number]

/** The message of a form's own rule is the name of its text. */
export const rule = (name: FormRule): string => name

export const isFormRule = (message: string): message is FormRule => (FORM_RULES as readonly string[]).includes(message)
