import * as z from 'zod'
import { account } from './admin'
import { delivery } from './apps'
import { listedConnection } from './connections'
import { contract, FOR_SERVICES, FOR_SERVICES_ON_ACCOUNT, isStorable, STORABLE } from './define'
import { amount, blocker, isoDateTime, maxLength } from './fields'
import { isFailing, isOpen, RETRIED, retried, type ShownTask, shownTask } from './tasks'
import { RECEIPT_KINDS } from './vocabulary'
import { countedStep } from './withdrawal'
import { firstOf, type Troubles } from './words'

const time = isoDateTime.nullable()

/** `purged`: nothing of the person is kept any more. While an application is not done it stays `processing`, even after its purge. */
export const WITHDRAWAL_STATES = ['processing', 'completed', 'purged'] as const
export type WithdrawalState = (typeof WITHDRAWAL_STATES)[number]

export const shownStep = countedStep.extend({
  /** A newer instance may know further steps. */
  step: z.string(),
  estimated_completion: isoDateTime,
  completed_at: time,
  /** The next run. */
  due_at: time,
  is_overdue: z.boolean(),
  /** The time for which it was planned, or for which its next run was; null where it is not overdue. */
  late_since: time,
  /** When it had deleted what it erases itself; tasks of applications may keep it open longer. */
  erased_at: time,
  attempts: z.int(),
  last_error: z.string().nullable(),
})
export type ShownStep = z.input<typeof shownStep>

/** A withdrawal in a list. Nothing here is personal. */
export const listedWithdrawal = z.object({
  withdrawal_id: z.string(),
  status: z.enum(WITHDRAWAL_STATES),
  is_past_due: z.boolean(),
  reason: z.string().nullable(),
  started_at: isoDateTime,
  /** Null if an older release started it. */
  due_by: time,
  scheduled_completion: isoDateTime,
  completed_at: time,
  purge_due_at: isoDateTime,
  purged_at: time,
  /** A list has the open steps. A withdrawal that needs attention has the steps that failed or are overdue. */
  deletion_steps: z.array(shownStep),
  open_tasks: z.int(),
  /** The applications of these tasks. */
  waits_for: z.array(z.string()),
  /** Those for which nobody waits any more; null once the purge has deleted them. */
  waived_tasks: z.int().nullable(),
})
export type ListedWithdrawal = z.input<typeof listedWithdrawal>

export const troubledWithdrawal = listedWithdrawal.extend({
  /** The tasks that failed, and those that its late steps wait for. */
  tasks: z.array(shownTask),
})
export type TroubledWithdrawal = z.input<typeof troubledWithdrawal>

export const shownNotice = z.object({
  notice_id: z.string(),
  kind: z.string(),
  attempts: z.int(),
  due_at: time,
  sent_at: time,
  failed_at: time,
})
export const shownAudit = z.object({
  audit_id: z.string(),
  action: z.string(),
  actor: z.string(),
  /** The token of the service that acted. */
  service_token_id: z.string().nullable(),
  /** The name of that service. */
  service_name: z.string().nullable(),
  /** The account of the operator who acted on a page of /admin; null where the operator command did, or an earlier release. */
  operator_id: z.string().nullable(),
  /** The address of that operator; null where the account is no more. */
  operator_email: z.string().nullable(),
  /** What it was done to, where that is not the account itself. */
  subject_id: z.string().nullable(),
  requested_by: z.string().nullable(),
  at: isoDateTime,
})
export type ShownAudit = z.input<typeof shownAudit>

export const shownDelivery = delivery.extend({
  /** When somebody last had it sent again; null where it has not failed since. */
  retried_at: time,
})
export type ShownDelivery = z.input<typeof shownDelivery>

/** A withdrawal as operators see it, on its page and from the command. Of the person it has the id of the account alone. */
export const shownWithdrawal = listedWithdrawal.extend({
  /** Null once the purge has taken it. */
  user_id: z.string().nullable(),
  tasks: z.array(shownTask),
  deliveries: z.array(shownDelivery),
  notices: z.array(shownNotice),
  audit: z.array(shownAudit),
  receipts: z.array(z.object({ kind: z.enum(RECEIPT_KINDS), issued_at: isoDateTime })),
  /** The time since which a receipt waits to be written. */
  receipt_due_at: time,
  /** Whether there is more than the lists hold. */
  is_cut: z.boolean(),
})
export type ShownWithdrawal = z.input<typeof shownWithdrawal>

/**
 * The parts of a withdrawal that a retry tries again: not deliveries that were made, and not tasks that were waived. The error of a step
 * whose applications fail is theirs.
 */
export const openParts = ({ deletion_steps, tasks, deliveries }: ShownWithdrawal) => ({
  steps: deletion_steps.filter(
    ({ step, completed_at }) =>
      completed_at === null && !tasks.some((task) => task.phase === step && task.last_error !== null),
  ),
  tasks: tasks.filter(isOpen),
  deliveries: deliveries.filter(({ delivered_at }) => delivered_at === null),
})

/** Those that are tried: nothing is sent to an application that is disabled. */
export function retriedParts(withdrawal: ShownWithdrawal) {
  const { steps, tasks, deliveries } = openParts(withdrawal)
  return {
    steps,
    tasks: tasks.filter(({ is_app_disabled }) => !is_app_disabled),
    deliveries: deliveries.filter(({ app_id, status, due_at }) =>
      status === 'dead' ? !tasks.some((task) => task.app_id === app_id && task.is_app_disabled) : due_at !== null,
    ),
  }
}

/** Whether a deletion waits for a task that fails, or for one of which the operator has to decide. */
export const holdsUp = (task: ShownTask) => isFailing(task) || task.state === 'present'

/** Steps begin in a status that people read as work in progress; what was never run waits. */
export const isUntried = ({ attempts, erased_at, completed_at }: ShownStep) =>
  attempts === 0 && erased_at === null && completed_at === null

/** The tasks of one step, counted as a withdrawal counts all of its own. */
export const countTasks = (tasks: readonly ShownTask[]) => ({
  open_tasks: tasks.filter(isOpen).length,
  waived_tasks: tasks.filter(({ waived }) => waived).length,
})

/** A step fails where its own part does, or one of its tasks. Once its own part is done its error is that of its tasks. */
export function troublesOfStep(shown: ShownStep, tasks: readonly ShownTask[]): Troubles {
  const { step, completed_at, erased_at, last_error, late_since } = shown
  const own = tasks.filter(({ phase }) => phase === step)
  const isOfTasks = own.some((task) => task.last_error !== null || (erased_at !== null && isOpen(task)))
  return {
    failing: own.some(holdsUp) || (completed_at === null && last_error !== null && !isOfTasks),
    late: late_since,
  }
}

/** Of an open step in a list, which has none of its tasks. */
export const troublesOfListedStep = ({ last_error, late_since }: ShownStep): Troubles => ({
  failing: last_error,
  late: late_since,
})

const troublesWith = (is_past_due: boolean, ofSteps: readonly Troubles[]): Troubles => ({
  past_due: is_past_due,
  failing: ofSteps.some(({ failing }) => failing),
  late: firstOf(ofSteps.map(({ late }) => late)),
})

/** Those of its open steps; a list has no others. */
export const troublesOfListed = ({ is_past_due, deletion_steps }: ListedWithdrawal) =>
  troublesWith(is_past_due, deletion_steps.map(troublesOfListedStep))

/** Those of its steps. An event that is not delivered holds nothing up. */
export const troublesOfWithdrawal = ({ is_past_due, deletion_steps, tasks }: ShownWithdrawal) =>
  troublesWith(
    is_past_due,
    deletion_steps.map((step) => troublesOfStep(step, tasks)),
  )

/** What the adopter's product has recorded; a pending one holds a withdrawal back. */
export const shownTransaction = z.object({
  transaction_id: z.string(),
  user_id: z.string(),
  status: z.string(),
  title: z.string(),
  /** Null in rows that do not tell the currency. */
  amount: amount.nullable(),
  url: z.string().nullable(),
  created_at: isoDateTime,
})
export type ShownTransaction = z.input<typeof shownTransaction>

/** A blocker that a service has pushed. */
export const shownBlocker = z.object({
  source: z.string(),
  key: z.string(),
  code: z.string(),
  title: z.string(),
  amount: amount.nullable(),
  url: z.string().nullable(),
  created_at: isoDateTime,
  expires_at: time,
})
export type ShownBlocker = z.input<typeof shownBlocker>

/** An account as operators see it, on its page and from the command. */
export const shownAccount = account.extend({
  verified_at: time,
  /** When support last said that somebody else reads an old mailbox. */
  old_mailbox_lost_at: time,
  role: z.string().nullable(),
  /** Browsers that are signed in. */
  open_sessions: z.int(),
  /** Those that still work. */
  open_access_tokens: z.int(),
  /** What holds a withdrawal back, as far as this database knows. */
  blockers: z.array(blocker),
  pending_transactions: z.array(shownTransaction),
  /** Those of `blockers` that services have pushed, at most a hundred. */
  pushed_blockers: z.array(shownBlocker),
  connections: z.array(listedConnection),
  /** The newest twenty acts on it beside look-ups, the newest first. */
  audit: z.array(shownAudit),
})
export type ShownAccount = z.input<typeof shownAccount>

/** An application whose deliveries of events fail. */
const failingApp = z.object({
  app_id: z.string(),
  name: z.string(),
  /** At most 1,001, which stands for any higher number; so does `dead`. */
  waiting: z.int(),
  dead: z.int(),
  /** The attempts of the delivery that was tried most. */
  attempts: z.int(),
  /** When the oldest of these events happened. */
  since: isoDateTime,
  last_error: z.string().nullable(),
})
export type FailingApp = z.input<typeof failingApp>

/** A higher count is shown as more than this. */
export const MAX_COUNTED = 10_000
/** Any number above MAX_COUNTED stands for all of them; null where it could not be read. */
const figure = (title: string) => z.int().nullable().meta({ title })
/** What is open, waits or has failed, in numbers, and how operators read each. */
export const figures = z.object({
  past_due: figure('Deletions past their due date'),
  overdue_steps: figure('Deletion steps that are late'),
  failing_steps: figure('Deletion steps that fail'),
  silent_apps: figure('Apps without a good answer for a day'),
  still_present: figure('Deletions after which an app still has the person'),
  failed_notices: figure('Mails given up in the last 30 days'),
  unwarned: figure('Security mails that came back in the last 30 days'),
  undeliverable: figure('Addresses that take no mail'),
  dead_deliveries: figure('Events given up'),
  replayed_withdrawals: figure('Deletions started again after the database had lost them'),
  soon_due: figure('Deletions due within a week'),
  ending_tokens: figure('Service tokens in use that end within 30 days'),
  processing: figure('Deletions in progress'),
  completed: figure('Deletions completed, of which some records are still kept'),
  purged: figure('Deletions fully erased, with nothing kept any more'),
  due_steps: figure('Deletion steps due now'),
  waiting_notices: figure('Mails waiting to be sent'),
  waiting_deliveries: figure('Events waiting for apps'),
  outbox: figure('Jobs waiting for Inngest, the optional engine; they run without it too'),
  waiting_ledger: figure('Entries of the deletion log that are not yet stored outside the database'),
})
export type Figures = z.input<typeof figures>
export const FIGURES = Object.keys(figures.shape) as (keyof Figures)[]
/** The figures that need an operator and that no row of what fails says. */
export const ALARMS = ['past_due', 'still_present', 'undeliverable', 'unwarned', 'failed_notices'] as const
/** Those that are not zero, or unknown. */
export const alarmsIn = (counted: Figures) => ALARMS.filter((name) => counted[name] !== 0)

/** The other figures of an overview: not those of which it has each row. */
const IN_ROWS = ['overdue_steps', 'failing_steps', 'silent_apps', 'dead_deliveries'] as const
export const COUNTS = FIGURES.filter((name) => ![...ALARMS, ...IN_ROWS].some((other) => other === name))

/** An application and everything of it that fails or that it holds back while it is disabled. */
export interface TroubledApp {
  app_id: string
  name: string
  /** What is wrong with it; null where it is disabled or waited for, and nothing else. */
  problem: string | null
  /** Null where its events are delivered. */
  deliveries: FailingApp | null
  /** Its deletion tasks that failed, or that wait because it is disabled. */
  tasks: ShownTask[]
  /** Whether it fetches its deletion tasks itself and has left some of them. */
  leaves_tasks: boolean
  /** The first due date of the withdrawals that fail or are late because of it. */
  first_due_by: string | null
  /** Whether one of these is past it. */
  is_past_due: boolean
  /** The first time for which a step that is late because of it was planned. */
  late_since: string | null
  unreliable: UnreliableApp | null
}

/** An application on which the next deletion cannot rely: it is disabled, or it failed when an operator stopped waiting for it. */
export interface UnreliableApp {
  app_id: string
  name: string
  polls: boolean
  disabled_at: string | null
  /** When an operator last stopped waiting for it; null if it has answered well since. */
  waived_at: string | null
  /** What it had answered. */
  waived_error: string | null
}

const exampleId = 'wd_4Qm9ZsX1cT7uYb2LhKpV0w'

export const retryWithdrawal = contract({
  ...FOR_SERVICES,
  name: 'retryWithdrawal',
  operator: 'any',
  summary: 'Retry a Withdrawal',
  description: 'Tries at once what has failed: steps, deletion tasks and events. What was never tried keeps its time.',
  method: 'POST',
  path: '/admin/withdrawals/{withdrawalId}/retry',
  scope: 'apps:manage',
  params: z.object({
    withdrawalId: z
      .string()
      .refine(isStorable, 'WITHDRAWAL_004')
      .meta({ description: 'The withdrawal, `wd_…`', pattern: STORABLE }),
  }),
  data: z.object({
    withdrawal_id: z.string().describe('The withdrawal, `wd_…`'),
    retried,
    retried_steps: z.array(z.string()).describe('The deletion steps that will run'),
  }),
  message: RETRIED,
  errors: ['WITHDRAWAL_004', 'RATE_001'],
  example: { data: { withdrawal_id: exampleId, retried: true, retried_steps: ['third_party_integrations'] } },
})

export const endTransaction = contract({
  ...FOR_SERVICES_ON_ACCOUNT,
  name: 'endTransaction',
  operator: 'fresh',
  summary: 'End a Pending Transaction',
  description: 'Settles or cancels a pending transaction, which then holds no withdrawal back.',
  method: 'POST',
  path: '/admin/transactions/{transactionId}/end',
  scope: 'users:write',
  params: z.object({
    transactionId: z
      .string()
      .refine(isStorable, 'REQUEST_005')
      .meta({ description: 'The transaction, `txn_…`', pattern: STORABLE }),
  }),
  body: z.object({
    status: z
      .enum(['settled', 'cancelled'], 'REQUEST_001: status must be settled or cancelled.')
      .describe('How it ended'),
  }),
  data: z.object({
    transaction_id: z.string().describe('The transaction, `txn_…`'),
    status: z.enum(['settled', 'cancelled']).describe('How it ended'),
  }),
  message: 'This transaction holds no withdrawal back any more.',
  errors: ['REQUEST_001', 'REQUEST_005', 'RATE_001'],
  example: {
    body: { status: 'settled' },
    data: { transaction_id: 'txn_4Qm9ZsX1cT7uYb2LhKpV0w', status: 'settled' },
  },
})

const MAX_LOOKED_UP = 320
const LOOKED_UP = `REQUEST_001: text must be a string of at most ${MAX_LOOKED_UP} characters.`

export const lookUp = contract({
  ...FOR_SERVICES,
  name: 'lookUp',
  operator: 'any',
  summary: 'Look Up',
  description:
    'Finds a withdrawal or an account by its id, by your own id of the person, by the id of a transaction or by the address, and an application by its id or name. For an operator the beginning of a name or of a word of it is enough, and so are six characters of an id after its prefix, unless the id is your own. A withdrawn account is found by its ids alone, as its withdrawal.',
  method: 'POST',
  path: '/admin/look-up',
  scope: 'users:read',
  params: z.object({}),
  body: z.object({
    text: z
      .string(LOOKED_UP)
      .check(maxLength(MAX_LOOKED_UP, LOOKED_UP))
      .refine(isStorable, LOOKED_UP)
      .meta({ description: 'In the body, because a URL must not contain an address', pattern: STORABLE }),
  }),
  data: z.object({
    kind: z.enum(['withdrawal', 'user', 'app']).describe('What was found'),
    id: z.string().describe('`wd_…`, `usr_…` or `app_…`'),
  }),
  message: 'This is what was found.',
  errors: ['REQUEST_001', 'USER_001', 'RATE_001'],
  example: { body: { text: 'ada@example.com' }, data: { kind: 'user', id: 'usr_5Tq8wZ1cXk7Yb3nLhRpV0a' } },
})

/** Whether it is told nothing; its tasks say so too, where the list of the applications could not be read. */
export const isDisabled = ({ unreliable, tasks }: TroubledApp) =>
  (unreliable?.disabled_at ?? null) !== null || tasks.some(({ is_app_disabled }) => is_app_disabled)

export const lastAnswerOf = ({ deliveries, tasks, unreliable }: TroubledApp): string | null =>
  deliveries?.last_error ?? tasks.find(isFailing)?.last_error ?? unreliable?.waived_error ?? null

/** An application that has left its tasks fails no more than the deletions that wait for it: they are late. One that is disabled is not called. */
export const troublesOf = (app: TroubledApp): Troubles => ({
  past_due: app.is_past_due,
  failing: !isDisabled(app) && (lastAnswerOf(app) !== null || app.tasks.some(holdsUp)),
  late: app.late_since,
  disabled: isDisabled(app),
})
