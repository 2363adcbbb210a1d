import type { withdrawUser as adminContract } from '@/contract/admin'
import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import { withdrawAccount as contract } from '@/contract/withdrawal'
import { confirmRequestedWithdrawal as confirmContract } from '@/contract/withdrawal-request'
import { findAccountByExternalId } from '../accounts/find-user'
import { askApplications } from '../applications/ask'
import type { Actor, Context, SystemContext } from '../context'
import { bucketOf, givePlacesBack, type TakenPlaces, takePlacesInside, type WantedPlaces } from '../limits/buckets'
import { REPLACED_ADDRESS_MS } from '../limits/durations'
import { findReplaced } from '../limits/held-addresses'
import { lockAccountOfId, refusalOfRole } from '../lock-account'
import type { LedgerEntry } from '../ports'
import { requireFreshSignIn } from '../sessions/fresh-sign-in'
import { isStillLive } from '../sessions/live-caller'
import { integer, sql, statement, text, time } from '../sql'
import { findBlockers, holdsPersonAlone, refusalOf } from './blockers'
import { awaitAcceptance, requireLedgerStore } from './ledger/ledger-before-answer'
import { planWithdrawal, retentionDays, type WithdrawalPlan } from './schedule'
import { startWithdrawal, type Withdrawal, type WithdrawalCaller } from './start-withdrawal'
import { createStatusToken } from './status-token'
import { DELETION_STEPS } from './steps/deletion-steps'

export async function withdrawAccount(ctx: Context, input: Input<typeof contract>): Promise<Data<typeof contract>> {
  const { actor } = ctx
  if (!actor.withdrawal) requireFreshSignIn(ctx, 'withdraw')
  const places: WantedPlaces = { take: [bucketOf(contract, ctx, actor.userId)] }
  return withdraw(ctx, { ...input, userId: actor.userId }, { actor, ip: ctx.ip, requestedBy: null, places })
}

/** With the token of a mailed link. Its use is the withdrawal itself, and whatever ends it first gets one answer. */
export async function confirmRequestedWithdrawal(
  ctx: Context,
  input: Input<typeof confirmContract>,
): Promise<Data<typeof confirmContract>> {
  const { actor, ip } = ctx
  const { userId } = actor
  const places: WantedPlaces = { take: [bucketOf(confirmContract, ctx, userId)] }
  const by = { actor, ip, requestedBy: null, places }
  return withdraw(ctx, { ...input, userId }, by, { user_id: userId }).catch((error) => {
    const isEnded = error instanceof AppError && ['AUTH_001', 'WITHDRAWAL_002'].includes(error.code)
    throw isEnded ? new AppError('WITHDRAWAL_006') : error
  })
}

/** For a service, on behalf of the person. */
export async function withdrawUser(
  ctx: Context,
  input: Input<typeof adminContract>,
): Promise<Data<typeof adminContract>> {
  const account = await findAccountByExternalId(ctx, input.externalId)
  if (!account) throw new AppError('USER_001')
  const by = { actor: ctx.actor, ip: ctx.ip, requestedBy: input.requested_by }
  return withdraw(ctx, { ...input, userId: account.id }, by, { user_id: account.id })
}

/** For the operator, on behalf of somebody who wrote to support. The sweep of a running service sends the message. */
export const withdrawByOperator = (ctx: SystemContext, input: WithdrawalInput): Promise<Data<typeof contract>> =>
  withdraw(ctx, input, { actor: null, ip: null, requestedBy: null })

type WithdrawalInput = Input<typeof contract>

interface WithdrawalRequester extends WithdrawalCaller {
  /** The limit that counts the call. */
  places?: WantedPlaces
}

type Caller = SystemContext & Partial<Pick<Context, 'keepAnswer' | 'buckets'>>

/**
 * Applications are asked between two tries, so that no lock and no connection waits for them. The first try takes the call's place
 * and finds out whether they must be asked; the second finds what has changed meanwhile.
 */
async function withdraw<More extends object>(
  ctx: Caller,
  input: WithdrawalInput,
  { places, ...by }: WithdrawalRequester,
  more?: More,
): Promise<Data<typeof contract> & More> {
  if (!by.actor?.withdrawal) await requireLedgerStore(ctx, places?.take)
  const first = await tryToWithdraw(ctx, input, { ...by, places, haveAnswered: false }, more)
  if (first.data) return withAcceptance(ctx, first.data)
  const asking = askApplications(ctx, input.userId).then(async (blockers) => {
    if (blockers.length === 0) await requireLedgerStore(ctx)
    return blockers
  })
  const blockers = await asking.catch(async (error) => {
    if (first.takenPlaces) await givePlacesBack(ctx, first.takenPlaces)
    throw error
  })
  if (blockers.length > 0) throw refusalOf(blockers)
  const { data } = await tryToWithdraw(ctx, input, { ...by, haveAnswered: true }, more)
  return withAcceptance(ctx, data as Data<typeof contract> & More)
}

const withAcceptance = async <Answer extends Data<typeof contract>>(ctx: Caller, data: Answer): Promise<Answer> => ({
  ...data,
  receipt: await awaitAcceptance(ctx, data.withdrawal_id),
})

/** Services and the operator withdraw for the person; nothing of the account ends them. */
const isOwner = (actor: Actor | null): actor is Actor => actor !== null && actor.userId !== ''

interface Try extends WithdrawalRequester {
  /** Whether applications have said that nothing holds the withdrawal back. */
  haveAnswered: boolean
}

/** Without `data` nothing has begun, because applications must be asked first. */
async function tryToWithdraw<More extends object>(
  ctx: Caller,
  input: WithdrawalInput,
  { places, haveAnswered, ...by }: Try,
  more?: More,
): Promise<{ data?: Data<typeof contract> & More; takenPlaces?: TakenPlaces | undefined }> {
  const withdrawal = toWithdrawal(ctx, input)
  const { userId, startedAt } = withdrawal
  const data = { ...describeStart(ctx, withdrawal), ...(more as More) }
  const { refusal, ...tried } = await ctx.transaction(async (tx) => {
    const [account, isLive, found, replaced, takenPlaces] = await Promise.all([
      lockAccountOfId(tx, userId),
      isOwner(by.actor) ? isStillLive(tx, by.actor) : true,
      findBlockers(tx, userId),
      findReplaced(tx, { userId, after: new Date(startedAt.getTime() - REPLACED_ADDRESS_MS) }),
      places && takePlacesInside(tx, places),
    ])
    // Returned and not thrown, so that the place that the call took is committed.
    if (!account) return { refusal: new AppError('WITHDRAWAL_002') }
    if (account.role && by.actor?.kind === 'service_token') return { refusal: refusalOfRole() }
    if (!isLive) return { refusal: new AppError('AUTH_001') }
    const blockers = found.blockers.filter((one) => isOwner(by.actor) || !holdsPersonAlone(one))
    if (blockers.length > 0) return { refusal: refusalOf(blockers) }
    if (found.asks && !haveAnswered) return { takenPlaces }
    await startWithdrawal(tx, account, {
      ...withdrawal,
      caller: by,
      replaced: replaced.map(({ old_email }) => old_email),
    })
    await tx.keepAnswer?.(data)
    return { data }
  })
  if (refusal) throw refusal
  return tried
}

function toWithdrawal(ctx: SystemContext, input: WithdrawalInput): Withdrawal {
  const id = ctx.secrets.randomId('wd_')
  const startedAt = ctx.clock.now()
  const plan = planWithdrawal(ctx, startedAt)
  const keeps = input.data_retention ?? {}
  return {
    id,
    userId: input.userId,
    startedAt,
    reason: input.reason ?? null,
    feedback: input.feedback ?? null,
    keeps: {
      analytics: keeps.analytics ?? false,
      auditLogs: keeps.audit_logs ?? false,
      transactionHistory: keeps.transaction_history ?? false,
    },
    plan,
    caller: null,
    replaced: [],
  }
}

/** The acceptance has a place in it, and is signed once the line stands. */
const describeStart = (ctx: SystemContext, { id, startedAt, plan }: Withdrawal): Data<typeof contract> => ({
  withdrawal_id: id,
  status: 'processing',
  scheduled_completion: plan.scheduledCompletion.toISOString(),
  due_by: plan.dueBy.toISOString(),
  data_retention_period: retentionDays(ctx.limits.withdrawalRetentionMs),
  deletion_steps: plan.steps.map((step) => describeFirst(step, startedAt)),
  ...(ctx.waitsForLedger && { receipt: '' }),
  status_token: createStatusToken(ctx, id),
})

function describeFirst({ step, estimatedCompletion }: WithdrawalPlan['steps'][number], now: Date) {
  const status = DELETION_STEPS[step].firstStatus
  return status === 'completed'
    ? { step, status, completed_at: now.toISOString() }
    : { step, status, estimated_completion: estimatedCompletion.toISOString() }
}

const markLedgered = statement(
  'mark-ledgered',
  { id: text, seq: integer, hash: text, now: time },
  {},
  (v) =>
    sql`UPDATE withdrawals SET ledgered_at = ${v.now}, ledger_seq = ${v.seq}, ledger_hash = ${v.hash} WHERE id = ${v.id}`,
)

/** Repeats the withdrawal of a person whom a restored backup brought back; its steps are overdue. False if they are already gone. */
export async function withdrawAgain(
  ctx: SystemContext,
  userId: string,
  { seq, hash, ...entry }: LedgerEntry & { seq?: number; hash?: string },
): Promise<boolean> {
  const startedAt = new Date(entry.startedAt)
  const plan = planWithdrawal(ctx, startedAt)
  return ctx.transaction(async (tx) => {
    const account = await lockAccountOfId(tx, userId)
    if (!account) return false
    await startWithdrawal(tx, account, {
      id: entry.withdrawalId,
      userId,
      startedAt,
      reason: null,
      feedback: null,
      keeps: entry.keeps,
      plan,
      caller: null,
      replaced: [],
    })
    // Its line is in the ledger already.
    if (seq && hash) await tx.sql(markLedgered, { id: entry.withdrawalId, seq, hash, now: tx.clock.now() })
    return true
  })
}
