/** “Email changed” of `email_changed` and of `email.changed` */
export function toLabel(name: string): string {
  const text = name.replaceAll(/[_.]/g, ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

export const count = (number: number, noun: string) =>
  `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`

export const WITHDRAWAL_WORDS = { processing: 'Processing', completed: 'Completed', purged: 'Purged' } as const
export const WITHDRAWAL_TONES = { processing: 'accent', completed: 'success', purged: 'neutral' } as const
export const TASK_TONES = {
  pending: 'neutral',
  calling: 'accent',
  accepted: 'accent',
  unconfirmed: 'accent',
  present: 'danger',
  completed: 'success',
  waived: 'neutral',
} as const
