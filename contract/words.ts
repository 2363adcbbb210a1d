import { isGoodPing } from './ping'

/** The words of operators, on the pages and from the command, for fields of the contract whose names do not say enough. */
const LABELS: Record<string, string> = {
  acknowledges: 'A deletion task is complete',
  actor: 'Who',
  app_name: 'App',
  at: 'When',
  audience: 'Notified about',
  blockers: 'Deletion is held back',
  checks: 'Asked before a deletion',
  code: 'Reason code',
  confirms: 'Asked to confirm that nothing is left',
  dead_events: 'Given-up events',
  deletion_steps: 'Waits for',
  deliveries: 'Events to deliver',
  'deliveries.dead': 'Given-up events',
  'deliveries.waiting': 'Waiting events',
  due_at: 'Next try',
  due_by: 'Due by law',
  email: 'Address',
  email_undeliverable: 'Returned mail',
  email_verified: 'Address is verified',
  erased: 'Deleted',
  events: 'Events that it gets',
  external_id: 'Your own ID',
  failing: 'Problem',
  failed_at: 'Given up',
  has_password: 'Signs in with a password',
  held_up: 'Deletions',
  includes: 'Personal data in events',
  ip_address: 'IP address',
  kind: 'Mail',
  last_asked_at: 'Last asked for its tasks',
  last_error: 'Last result',
  late_since: 'Late since',
  locale: 'Language',
  name: 'App',
  old_mailbox_lost_at: 'An old mailbox was reported lost',
  pending_change: 'Pending change of the address',
  phase: 'Deletion step',
  previous_secret_until: 'Old secret valid until',
  purge_due_at: 'Kept records will be erased',
  purged_at: 'Kept records were erased',
  requested_by: 'Asked for by',
  retained: 'Kept',
  scheduled_completion: 'Planned to be complete',
  source: 'Service',
  state: 'Now',
  step: 'Deletion step',
  subject: 'Knows the person as',
  subject_id: 'Concerns',
  type: 'Event',
  url: 'Link',
  user_id: 'Account',
  waive_reasons: 'Own reasons to stop waiting',
  waived_tasks: 'Apps not waited for',
  withdrawal_id: 'Deletion',
}

/** “Email changed” of `email_changed` and of `email.changed`, in the words of the pages: they speak of deletions. */
export function toLabel(name: string): string {
  const text = name
    .replaceAll(/[_.]/g, ' ')
    .replace('withdrawal', 'deletion')
    .replace(/\bid\b/, 'ID')
  return capitalized(text)
}

export const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

export const labelOf = (field: string) => LABELS[field] ?? toLabel(field.replace(/_at$/, ''))

/** Acts whose label would say something else, or would not say it in plain words. */
const ACTIONS: Record<string, string> = {
  'access.all_ended': 'Signed out everywhere',
  'access_token.all_revoked': 'All access tokens ended',
  'access_token.revoked': 'Access token ended',
  'account.withdrawn': 'Deletion began',
  'archive.loss_accepted': 'Loss of an archive accepted',
  'connection.put': 'App connected',
  'connection.removed': 'App disconnected',
  'data.exported': 'Data downloaded',
  'email.old_mailbox_lost': 'Old mailbox reported lost',
  'email.reverted': 'Change of the address undone',
  'email.undeliverable': 'Mail came back',
  'email_change.resent': 'Code sent again',
  'events.resent': 'Events sent again',
  'page_token.issued': 'Settings opened in your pages',
  'password.renewed': 'Password stored more safely',
  'reauthentication.completed': 'Identity confirmed at the provider',
  'reauthentication.refused': 'Identity not confirmed at the provider',
  'reauthentication.started': 'Asked to confirm the identity at the provider',
  'security_notice.undelivered': 'Warning to the old address came back',
  'session.all_revoked': 'Signed out everywhere',
  'session.others_revoked': 'Other sessions ended',
  'session.revoked': 'Session ended',
  'sign_in.disowned': 'Said that a sign-in was somebody else’s',
  'task.retried': 'Deletion task tried again',
  'task.waived': 'Stopped waiting',
  'user.created': 'Account created',
  'user.imported': 'Account imported',
  'user.updated': 'Account updated',
  'withdrawal.blocker_put': 'Deletion held back',
  'withdrawal.blocker_removed': 'No longer held back',
  'withdrawal.requested': 'Link to delete the account mailed',
  'withdrawal.retried': 'Deletion tried again',
  sign_in: 'Signed in',
  sign_in_refused: 'Sign-in refused',
  sign_out: 'Signed out',
}

/** “Role changed to operator”: what an act is about, where that is no id. */
export function actSaid({ action, subject_id }: { action: string; subject_id?: string | null }): string {
  const said = ACTIONS[action] ?? toLabel(action)
  return action === 'role.changed' && subject_id ? `${said} to ${subject_id}` : said
}

/** Who acts in what an audit row tells, where its word says only how. */
export const ACTORS: Record<string, string> = {
  access_token: 'A program with an access token',
  mailed_link: 'Who had the mailed link',
  operator: 'The operator command',
  oidc: 'The person, at the identity provider',
  outside_token: 'A program with a token of your identity provider',
  page_token: 'The person, in your own pages',
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

/** What is wrong with an app, a deletion, a step or a task, the worst first. `late` is later than planned, `past_due` later than the law allows. */
export const TROUBLES = {
  past_due: 'Past due',
  failing: 'Failing',
  late: 'Late',
  disabled: 'Disabled',
  not_fetched: 'Not fetched',
  app_disabled: 'App is disabled',
} as const
export type Trouble = keyof typeof TROUBLES
/** What is late has the time for which it was planned. */
export type Troubles = { [Name in Trouble]?: unknown } & { late?: string | null }

/** What is past due is late too, and says so alone. */
export const troublesIn = ({ late, ...of }: Troubles) =>
  (Object.keys(TROUBLES) as Trouble[]).filter((name) => (name === 'late' ? late && !of.past_due : of[name]))

/** Whether a message to an address came back, as far as it is known. */
export const returnedSaid = (isKnown: boolean) => (isKnown ? 'Yes: reach the person another way' : 'None known')

/** As within a sentence. */
export const troublesSaid = (of: Troubles) => troublesIn(of).map((name) => TROUBLES[name].toLowerCase())

/** The earliest of the times for which something late was planned. */
export const firstOf = (times: readonly (string | null | undefined)[]): string | null =>
  times.flatMap((time) => time ?? []).toSorted()[0] ?? null

/** The same with the last results in place of “failing”, such as “late, HTTP 503”; null where nothing is wrong. */
export const problemSaid = (of: Troubles, results: readonly (string | null)[]): string | null =>
  [...troublesSaid({ ...of, failing: false }), ...new Set(results)].filter(Boolean).join(', ') || null

/** Of an ID that finds nothing. */
export const MAY_BE_GONE =
  'It may be mistyped, or fully erased by now; the command “receipt show wd_…” still finds the receipt of a deletion.'

/** Of an app that has no endpoint. */
export const FETCHES = 'Fetches its tasks'

/** “Deletion started” of `account.withdrawal_started` */
export function nameOfEvent(type: string): string {
  const name = type.replace('account.', '')
  return WORDS[name] ?? toLabel(name)
}

/** What follows while a part is away that the service can do without. */
export const AWAY = {
  mail: 'The mail server does not answer, or refuses the sign-in: mails wait, and addresses cannot be changed.',
  engine: 'The engine, Inngest, does not answer: what is due runs without it, a little later.',
  ledger: 'The store of the deletion log does not answer: no deletion can begin.',
}
export type AwayPart = keyof typeof AWAY

/** Why the service serves nobody, by the reason that its readiness gives, and what to do. */
const NOT_READY: Record<string, string> = {
  database_away: 'The database does not answer, so nothing can be shown or done: check that it runs, and DATABASE_URL.',
  stopping: 'This instance of the service is stopping.',
}
export const notReady = (reason: unknown) =>
  typeof reason === 'string' && reason !== ''
    ? (NOT_READY[reason] ?? `The service serves nobody now (${reason}): its log says what to do.`)
    : 'You are offline, or the service does not answer.'

/** What a receipt is of. */
export const RECEIPTS = { acceptance: 'the request', completion: 'the completion', purge: 'the final erasure' }

export const count = (number: number, noun: string) =>
  `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`

const LIST = new Intl.ListFormat('en')
/** “Mail, Shop, and Wiki” */
export const listOf = (names: readonly string[]) => LIST.format(names)

/** “unknown”, “7” or “10,000+” */
export function capped(number: number | null, max = Number.POSITIVE_INFINITY): string {
  if (number === null) return 'unknown'
  return number > max ? `${max.toLocaleString('en')}+` : number.toLocaleString('en')
}

interface Waived {
  open_tasks: number
  waived_tasks: number | null
}

/** “1 app has not confirmed”, where nothing waits for an application any more and some were waived: nobody knows what they have deleted. */
export function notConfirmed({ open_tasks, waived_tasks: apps }: Waived): string | null {
  if (open_tasks > 0 || apps === null || apps === 0) return null
  return `${count(apps, 'app')} ${apps === 1 ? 'has' : 'have'} not confirmed`
}

/** Why a call got no answer, by the code of its failure, and what that has to do with the host. */
const CAUSES: [code: RegExp, cause: string, at: (host: string) => string][] = [
  [/^ECONNREFUSED$/, 'connection refused', (host) => `: nothing listens at ${host}`],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'unknown host', (host) => `: no address was found for ${host}`],
  [/^(ETIMEDOUT|timeout)$/, 'no answer in time', (host) => ` from ${host}`],
  [/CERT|VERIFY/, 'untrusted certificate', (host) => ` of ${host}`],
]
const causeOf = (code: string) => CAUSES.find(([pattern]) => pattern.test(code)) ?? []

/** Such as “Connection refused: nothing listens at 127.0.0.1:9 (ECONNREFUSED)”. */
function callFailure(code: string, host: string): string {
  const [, cause, at] = causeOf(code)
  return cause && at ? `${capitalized(cause)}${at(host)} (${code})` : `It did not answer: ${code}`
}

interface Ping {
  status: number
  took_ms: number
  problem: string | null
}

export function resultOfPing({ status, took_ms: ms, problem }: Ping, host: string): string {
  if (problem !== null) return `${callFailure(problem, host)}, after ${ms} ms.`
  return isGoodPing({ status })
    ? `It answered HTTP ${status} in ${ms} ms.`
    : `The ping failed: HTTP ${status}, after ${ms} ms.`
}

/** Of a task that failed without a bad answer. */
const RESULTS: Record<string, string> = {
  no_answer: 'no answer',
  no_report: 'no report in time',
  private_address: 'the endpoint has a private address, which is not called (private_address)',
  reported_failed: 'the app reported that it failed',
}

/** What came of the last attempt, in words; what is none of our codes says it itself. */
export function resultOf(lastError: string): string {
  const [, cause] = causeOf(lastError)
  return cause ? `${cause} (${lastError})` : (RESULTS[lastError] ?? lastError)
}
