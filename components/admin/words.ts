/** The words of operators for fields of the contract whose names do not say enough. */
const LABELS: Record<string, string> = {
  acknowledges: 'Ends a deletion task',
  app_name: 'Application',
  audience: 'Notified about',
  audit_id: 'What happened',
  checks: 'Asked before a withdrawal',
  dead: 'Given up',
  dead_deliveries: 'Events given up',
  deletion_steps: 'Waits for',
  due_by: 'Due by',
  email: 'Address',
  failed_notices: 'Mails given up in the last 30 days',
  failing_steps: 'Steps that failed',
  has_password: 'Signs in with a password',
  includes: 'Addresses in events',
  kind: 'Mail',
  last_error: 'Last answer',
  locale: 'Language',
  name: 'Application',
  old_mailbox_lost_at: 'Old mailbox lost',
  outbox: 'Waiting for the job engine',
  overdue_steps: 'Steps that nobody has run in time',
  past_due: 'Withdrawals past their due date',
  phase: 'Deletion step',
  previous_secret_until: 'The secret before signs until',
  purge_due_at: 'What is kept is deleted',
  purged: 'Withdrawals of which nothing is kept',
  purged_at: 'Nothing kept since',
  replayed_withdrawals: 'Started again after the database had lost them',
  scheduled_completion: 'Planned to be complete',
  silent_apps: 'Applications that have not answered for a day',
  soon_due: 'Withdrawals due within a week',
  state: 'Now',
  step: 'Deletion step',
  type: 'Event',
  unwarned: 'Security mails that came back in the last 30 days',
  user_id: 'Account',
  waiting_deliveries: 'Events waiting for applications',
  waiting_ledger: 'Deletion records not yet stored outside the database',
  waiting_notices: 'Mails waiting',
  withdrawal_id: 'Withdrawal',
}

/** “Email changed” of `email_changed` and of `email.changed` */
export function toLabel(name: string): string {
  const text = name.replaceAll(/[_.]/g, ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

export const labelOf = (field: string) => LABELS[field] ?? toLabel(field.replace(/_at$/, ''))

/** The words of operators for values of the contract; a value without one is its own word. */
export const WORDS: Record<string, string> = {
  accepted: 'Accepted',
  at_once: 'With its answer',
  calling: 'Being asked',
  completed: 'Done',
  connected: 'Users that are connected to it',
  dead: 'Given up',
  delivered: 'Delivered',
  everyone: 'Every user',
  later: 'Later, by a report',
  pending: 'Waiting',
  processing: 'In progress',
  purged: 'Nothing kept',
  waived: 'Not waited for',
}

/** The values that are states, and their colors. */
export const TONES = {
  accepted: 'accent',
  calling: 'accent',
  completed: 'success',
  dead: 'danger',
  delivered: 'success',
  pending: 'neutral',
  processing: 'accent',
  purged: 'neutral',
  waived: 'neutral',
} as const

export const count = (number: number, noun: string) =>
  `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`
