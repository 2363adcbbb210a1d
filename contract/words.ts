import type { ListedWithdrawal } from './operator'

/** The words of operators, on the pages and from the command, for fields of the contract whose names do not say enough. */
const LABELS: Record<string, string> = {
  acknowledges: 'A deletion task is complete',
  app_name: 'App',
  audience: 'Notified about',
  checks: 'Asked before a deletion',
  confirms: 'Asked to confirm that nothing is left',
  deletion_steps: 'Waits for',
  deliveries: 'Events to deliver',
  due_at: 'Next try',
  email: 'Address',
  email_undeliverable: 'Mail arrives',
  email_verified: 'Address is verified',
  erased: 'Deleted',
  failed_at: 'Given up',
  has_password: 'Signs in with a password',
  includes: 'Personal data in events',
  ip_address: 'IP address',
  kind: 'Mail',
  last_asked_at: 'Last asked for its tasks',
  last_error: 'Last answer',
  locale: 'Language',
  name: 'App',
  phase: 'Deletion step',
  previous_secret_until: 'Old secret valid until',
  purge_due_at: 'Kept records will be erased',
  purged_at: 'Kept records were erased',
  requested_by: 'Asked for by',
  retained: 'Kept',
  scheduled_completion: 'Planned to be complete',
  state: 'Now',
  step: 'Deletion step',
  subject: 'Knows the person as',
  subject_id: 'Concerns',
  type: 'Event',
  url: 'Link',
  user_id: 'Account',
  waive_reasons: 'Own reasons to stop waiting',
  waived_tasks: 'Apps',
  withdrawal_id: 'Deletion',
}

/** “Email changed” of `email_changed` and of `email.changed`, in the words of the pages: they speak of deletions. */
export function toLabel(name: string): string {
  const text = name.replaceAll(/[_.]/g, ' ').replace('withdrawal', 'deletion')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

export const labelOf = (field: string) => LABELS[field] ?? toLabel(field.replace(/_at$/, ''))

/** Acts whose label would say something else. */
export const ACTIONS: Record<string, string> = {
  'access.all_ended': 'Signed out everywhere',
  'account.withdrawn': 'Deletion began',
  'connection.put': 'App connected',
  'connection.removed': 'App disconnected',
  'session.all_revoked': 'Signed out everywhere',
  'session.others_revoked': 'Other sessions ended',
  'task.waived': 'Stopped waiting',
  'user.created': 'Account created',
  'user.imported': 'Account imported',
  'user.updated': 'Account updated',
}

/** Who acts in what an audit row tells, where its word says only how. */
export const ACTORS: Record<string, string> = {
  mailed_link: 'Who had the mailed link',
  operator: 'The operator command',
  oidc: 'The person, at the identity provider',
  password: 'The person, with a password',
  reset_link: 'Who had the mailed link',
  session: 'The person, signed in',
  system: 'The service itself',
}

/** The words of operators for values of the contract; a value without one is its own word. */
export const WORDS: Record<string, string> = {
  accepted: 'Accepted',
  at_once: 'When it answers',
  calling: 'Being asked',
  completed: 'Completed',
  connected: 'People who are connected to it',
  dead: 'Given up',
  delivered: 'Delivered',
  everyone: 'Everyone',
  later: 'When it reports so',
  pending: 'Waiting',
  present: 'Still has the person',
  processing: 'In progress',
  purged: 'Fully erased',
  unconfirmed: 'To be confirmed',
  waived: 'Stopped waiting',
}

export const count = (number: number, noun: string) =>
  `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`

/** “unknown”, “7” or “10,000+” */
export function capped(number: number | null, max = Number.POSITIVE_INFINITY): string {
  if (number === null) return 'unknown'
  return number > max ? `${max.toLocaleString('en')}+` : number.toLocaleString('en')
}

type Waived = Pick<ListedWithdrawal, 'open_tasks' | 'waived_tasks'>

/** “1 app has not confirmed”, where nothing waits for an application any more and some were waived: nobody knows what they have deleted. */
export function notConfirmed({ open_tasks, waived_tasks: apps }: Waived): string | null {
  if (open_tasks > 0 || apps === null || apps === 0) return null
  return `${count(apps, 'app')} ${apps === 1 ? 'has' : 'have'} not confirmed`
}
