import { decodeJwt } from 'jose'
import { createTranslator } from 'use-intl/core'
import type { Data } from '@/contract/define'
import { AppError, CONFIRMATION, parseIssueMessage } from '@/contract/errors'
import {
  countTasks,
  isUntried,
  type ListedWithdrawal,
  retriedParts,
  type retryWithdrawal as retryContract,
  type ShownStep,
  type ShownWithdrawal,
  troublesOfListed,
  troublesOfStep,
  troublesOfWithdrawal,
  WITHDRAWAL_STATES,
  type WithdrawalState,
} from '@/contract/operator'
import type { ReceiptClaims } from '@/contract/receipt'
import { isOpen, type ShownTask } from '@/contract/tasks'
import { REASONS } from '@/contract/vocabulary'
import { type withdrawAccount, withdrawBody } from '@/contract/withdrawal'
import {
  capitalized,
  count,
  listOf,
  nameOfEvent,
  notConfirmed,
  problemSaid,
  resultOf,
  troublesSaid,
  WORDS,
} from '@/contract/words'
import { isTooShort, lookUp, wholeIdOf, whyNothing } from '@/domain/accounts/look-up'
import type { SystemContext } from '@/domain/context'
import { findBlockers, holdsPersonAlone, refusalOf } from '@/domain/withdrawal/blockers'
import { requireLevelLedger } from '@/domain/withdrawal/ledger/ledger-before-answer'
import { listWithdrawals } from '@/domain/withdrawal/list-withdrawals'
import { retryWithdrawal } from '@/domain/withdrawal/operate-withdrawal'
import { listReceipts } from '@/domain/withdrawal/receipts/receipts'
import { pushedBlockers } from '@/domain/withdrawal/show-account'
import { showWithdrawal } from '@/domain/withdrawal/show-withdrawal'
import { withdrawByOperator } from '@/domain/withdrawal/withdraw-account'
import { daysInWords } from '@/server/texts/duration-words'
import { loadCatalogue } from '@/server/texts/load-catalogue'
import { final, reading, revocable, UsageError } from './command.ts'
import { type EndedBlocker, quoted } from './refusal.ts'
import { stepName, timeOf } from './show.ts'
import { isDueAt, isWatched, NOT_TRIED, untilTried, WAITS } from './until-tried.ts'
import { checkActiveUser, idOf, namedAccount, personOf, sentenceOfReason, withdrawal } from './values.ts'

const id = { ...withdrawal, positional: true, required: true } as const

async function nextStep(ctx: SystemContext, id: string): Promise<string> {
  const { deletion_steps: steps } = await showWithdrawal(ctx, id)
  const [next] = steps.flatMap(({ due_at }) => due_at ?? []).sort()
  return next ? `; the next step is due at ${timeOf(new Date(next), ctx.clock.now())}` : ''
}

function toBody({ reason, feedback }: { reason?: string | undefined; feedback?: string | undefined }) {
  const body = withdrawBody.safeParse({ confirmation: CONFIRMATION, reason, feedback })
  if (body.success) return body.data
  const { details } = parseIssueMessage(body.error.issues[0]?.message ?? '')
  throw new UsageError(reason === 'other' && !feedback ? '--reason other needs --feedback.' : `--${details}`)
}

/** A refusal names the command that ends each pushed blocker. */
async function withEnds(ctx: SystemContext, userId: string, error: unknown): Promise<unknown> {
  if (!(error instanceof AppError) || !error.blockers) return error
  const pushed = await pushedBlockers(ctx, userId)
  const blockers = error.blockers.map((one): EndedBlocker => {
    const at = pushed.findIndex(
      ({ source, code, title }) => `${source} ${code} ${title}` === `${one.source} ${one.code} ${one.title}`,
    )
    const [own] = at < 0 ? [] : pushed.splice(at, 1)
    return own
      ? { ...one, end: `blocker end --user ${userId} --source ${quoted(own.source)} --key ${quoted(own.key)}` }
      : one
  })
  return new AppError(error.code, error.details, undefined, blockers)
}

function problemOf(withdrawal: ListedWithdrawal): string | null {
  if (withdrawal.status === 'completed') return notConfirmed(withdrawal)
  const results = withdrawal.deletion_steps.map(({ last_error }) => last_error)
  return problemSaid(troublesOfListed(withdrawal), results)
}

const toListed = (one: ListedWithdrawal) => ({
  ...one,
  problem: problemOf(one),
  late_since: troublesOfListed(one).late ?? null,
})

function statusOf(shown: ShownStep, tasks: ShownTask[]) {
  const own = tasks.filter(({ phase }) => phase === shown.step)
  const troubles = troublesSaid(troublesOfStep(shown, tasks))
  return inWords(WORDS[isUntried(shown) ? 'pending' : shown.status], notConfirmed(countTasks(own)), ...troubles)
}

const inWords = (...parts: (string | false | null | undefined)[]) => parts.filter(Boolean).join(', ')

const readBy = ({ reason, sentence }: NonNullable<ShownTask['waived']>) => sentence ?? sentenceOfReason([], reason)

/** What the page of the withdrawal shows. */
function forOperators(shown: ShownWithdrawal) {
  const { is_past_due, waits_for, waived_tasks, open_tasks, ...withdrawal } = shown
  const { status, completed_at, purged_at, due_by, scheduled_completion, purge_due_at, tasks } = withdrawal
  const now = new Date()
  const troubles = troublesOfWithdrawal(shown)
  return {
    ...withdrawal,
    status: inWords(
      WORDS[status],
      notConfirmed({ open_tasks, waived_tasks }),
      ...troublesSaid(troubles).map((word) =>
        word === 'late' && troubles.late ? `late since ${timeOf(new Date(troubles.late), now)}` : word,
      ),
    ),
    deletion_steps: withdrawal.deletion_steps.map((step) => ({ ...step, status: statusOf(step, tasks) })),
    tasks: tasks.map((task) => ({ ...task, person_reads: task.waived && readBy(task.waived) })),
    // By its name, as on the page.
    audit: withdrawal.audit.map((act) => ({
      ...act,
      subject_id: tasks.find(({ task_id }) => task_id === act.subject_id)?.name ?? act.subject_id,
    })),
    scheduled_completion: completed_at ? null : scheduled_completion,
    due_by: completed_at ? null : due_by,
    purge_due_at: purged_at ? null : purge_due_at,
  }
}

type Started = Data<typeof withdrawAccount>

const endOf = ({ completed_at, estimated_completion = '' }: Started['deletion_steps'][number]) =>
  completed_at ?? estimated_completion

/** In the order in which the page has the steps, and without the token, which opens the progress without a sign-in. */
const startForOperators = ({ status_token, ...started }: Started) => ({
  ...started,
  data_retention_period: daysInWords('en', started.data_retention_period),
  deletion_steps: started.deletion_steps.toSorted((one, other) => endOf(one).localeCompare(endOf(other))),
})

interface Failing {
  /** The app, or the deletion step. */
  name: string
  last_error: string
}

/** Where the command has waited for the answers it has what came of them. */
type Retried = Data<typeof retryContract> & {
  /** All that failed is of apps that are disabled. */
  is_stopped?: boolean
  is_tried?: boolean
  status?: WithdrawalState
  still_failing?: Failing[]
  error?: string
}

/** What has failed of what a retry tries. */
function failingIn(withdrawal: ShownWithdrawal): Failing[] {
  const { steps, tasks, deliveries } = retriedParts(withdrawal)
  return [
    ...steps.map(({ step, last_error }) => ({ name: stepName(step), last_error })),
    ...tasks,
    ...deliveries.map(({ app_name, type, last_error }) => ({ name: `${app_name} (${nameOfEvent(type)})`, last_error })),
  ].flatMap(({ name, last_error }) => (last_error === null ? [] : { name, last_error }))
}

function retriedForOperators({ is_tried, status = 'processing', still_failing = [], ...answer }: Retried) {
  if (!answer.retried || answer.is_stopped) return 'Nothing was tried.'
  if (is_tried === undefined) return 'What failed is tried within a minute; withdrawal show has the answers.'
  if (!is_tried) return NOT_TRIED
  const failing = still_failing.map(({ name, last_error }) => `${name} (${resultOf(last_error)})`)
  if (failing.length > 0) return `Failed again: ${failing.join('; ')}.`
  return `Nothing of it fails any more. The deletion is ${WORDS[status]?.toLowerCase()}.`
}

interface Receipts {
  withdrawal_id: string
  receipts: { kind: string }[]
  newest: Pick<ReceiptClaims, 'withdrawal' | 'erased' | 'retained' | 'applications'>
}

/** As the pages say it. */
async function receiptsForOperators({ withdrawal_id, receipts, newest }: Receipts) {
  const { withdrawal, erased = [], retained = [], applications } = newest
  const t = createTranslator({ locale: 'en', messages: await loadCatalogue('en'), namespace: 'Deletion.categories' })
  // The words that people read speak to the person who got the mails.
  const countText = ({ category, records }: (typeof erased)[number]) =>
    category === 'messages' ? count(records, 'mail record') : t(category, { count: records })
  const kept = retained.map(
    (one) => `${countText(one)} (${one.reason === 'law' ? 'required by law' : 'as the person asked'})`,
  )
  return {
    withdrawal_id,
    ...withdrawal,
    purge_due_at: receipts.some(({ kind }) => kind === 'purge') ? null : withdrawal.purge_due_at,
    erased: capitalized(erased.map(countText).join(', ')) || null,
    retained: capitalized(kept.join(', ')) || null,
    receipts,
    applications,
  }
}

export const withdrawalCommands = [
  final({
    name: 'withdrawal start',
    summary: 'Withdraws an account for somebody who asked for it.',
    options: {
      ...namedAccount,
      reason: { value: 'REASON', choices: REASONS, means: 'Why the person leaves.' },
      feedback: { value: 'TEXT', means: "The person's words, which the reason other needs." },
    },
    oneOf: ['user', 'email'],
    async asks(ctx, given) {
      toBody(given)
      const userId = idOf(given)
      const person = await personOf(ctx, userId)
      await requireLevelLedger(ctx)
      const held = await findBlockers(ctx, userId)
      const blockers = held.blockers.filter((one) => !holdsPersonAlone(one))
      if (blockers.length > 0) throw await withEnds(ctx, userId, refusalOf(blockers))
      return `Delete the account of ${person}?`
    },
    async run(ctx, given) {
      const body = toBody(given)
      const userId = idOf(given)
      await checkActiveUser(ctx, userId)
      await requireLevelLedger(ctx)
      const started = await withdrawByOperator(ctx, { ...body, userId }).catch(async (error) => {
        throw await withEnds(ctx, userId, error)
      })
      return { user_id: userId, ...started }
    },
    says: startForOperators,
  }),
  reading({
    name: 'withdrawal list',
    summary:
      'Lists fifty withdrawals of a state: those that are processing by their due date, the others newest first.',
    options: {
      state: {
        value: 'STATE',
        otherwise: 'processing',
        choices: WITHDRAWAL_STATES,
        words: { 'in progress': 'processing', 'fully erased': 'purged' },
        means: 'How far they are.',
      },
      after: { value: 'PLACE', means: 'The "next" of the list before.' },
    },
    example: '--state completed',
    async run(ctx, { state, after }) {
      const { withdrawals, next } = await listWithdrawals(ctx, { state, after })
      return { state, withdrawals: withdrawals.map(toListed), next }
    },
    says: ({ state, ...listed }: { state: WithdrawalState; withdrawals: ListedWithdrawal[] }) =>
      listed.withdrawals.length > 0 ? listed : `No deletion is ${(WORDS[state] ?? state).toLowerCase()}.`,
  }),
  reading({
    name: 'withdrawal show',
    summary: 'Shows how far a withdrawal is, and what fails.',
    // A short id of the adopter's may begin as one of ours.
    options: {
      id: {
        ...id,
        value: 'WITHDRAWAL',
        find: async (ctx, given) => (isTooShort(given) ? given : wholeIdOf(ctx, given)),
        means: 'The withdrawal, by its wd_…, the usr_… of its account or your own ID of the person.',
      },
    },
    async run(ctx, { id }) {
      const found = await lookUp(ctx, id)
      if (!found && (id.includes('@') || isTooShort(id))) throw new AppError('USER_001', await whyNothing(ctx, id))
      if (found?.kind === 'user') {
        throw new AppError('REQUEST_001', `The account is not withdrawn: user show ${found.id}`)
      }
      return showWithdrawal(ctx, found?.kind === 'withdrawal' ? found.id : id)
    },
    says: forOperators,
  }),
  revocable({
    name: 'withdrawal retry',
    summary: 'Tries at once what has failed. A terminal waits for the answers, and a pipe does not.',
    options: { id },
    async run(ctx, { id }, readInput): Promise<Retried> {
      const before = await showWithdrawal(ctx, id)
      const answer = await retryWithdrawal(ctx, { withdrawalId: id })
      const disabled = before.tasks.filter((task) => isOpen(task) && task.is_app_disabled)
      for (const { name } of disabled) process.stderr.write(`${name} is disabled: enable it first.\n`)
      if (!answer.retried && disabled.length === 0) {
        const silent = before.tasks.filter((task) => isOpen(task) && task.polls).map(({ name }) => name)
        const next =
          silent.length > 0
            ? `; it waits for ${listOf(silent)}: see that each asks for its tasks`
            : await nextStep(ctx, id)
        process.stderr.write(`Nothing has failed${next}.\n`)
      }
      if (failingIn(before).length === 0 && disabled.length > 0) return { ...answer, is_stopped: true }
      if (!isWatched(readInput) || !answer.retried) return answer
      process.stderr.write(WAITS)
      const isDue = isDueAt(ctx.clock.now())
      const { last, isTried } = await untilTried(
        () => showWithdrawal(ctx, id),
        (withdrawal) => Object.values(retriedParts(withdrawal)).some((parts) => parts.some(isDue)),
      )
      const retried = { ...answer, is_tried: isTried, status: last.status, still_failing: failingIn(last) }
      const isGood = isTried && retried.still_failing.length === 0
      return isGood ? retried : { ...retried, error: retriedForOperators(retried) }
    },
    says: retriedForOperators,
  }),
  reading({
    name: 'receipt show',
    summary: 'Shows the receipts of a withdrawal, and what the newest one says.',
    options: { id },
    run: async (ctx, { id }) => {
      const { receipts } = await listReceipts(ctx, { withdrawalId: id })
      const newest = receipts.at(-1)
      if (!newest) throw new AppError('REQUEST_001', 'There is no receipt of a withdrawal with this ID.')
      const { withdrawal, erased, retained, applications } = decodeJwt<ReceiptClaims>(newest.receipt)
      return { withdrawal_id: id, receipts, newest: { withdrawal, erased, retained, applications } }
    },
    says: receiptsForOperators,
  }),
]
