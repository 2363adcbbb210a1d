import type { withdrawUser as adminContract } from '@/contract/admin'
import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { withdrawAccount as contract } from '@/contract/withdrawal'
import { findAccountByExternalId } from '../access/find-user'
import { requireFreshSignIn } from '../access/fresh-sign-in'
import type { Context, SystemContext } from '../context'
import { takePlaces, userBucket } from '../limits/buckets'
import type { LedgerEntry } from '../ports'
import { beginDueDeliveries } from '../queue/events'
import { leaseUntil, sendFirst } from '../queue/notices'
import { sendOutboxEvents } from '../queue/outbox'
import { writeErasureLedger } from './erasure-ledger'
import { type PlannedStep, planWithdrawal, retentionDays } from './schedule'
import {
  lockForWithdrawal,
  recipientOf,
  refusePendingTransactions,
  startWithdrawal,
  type Withdrawal,
  type WithdrawalCaller,
} from './start-withdrawal'
import { createStatusToken } from './status-token'
import { DELETION_STEPS } from './steps/deletion-steps'

export async function withdrawAccount(ctx: Context, input: Input<typeof contract>): Promise<Data<typeof contract>> {
  const { actor } = ctx
  if (!actor.withdrawal) requireFreshSignIn(ctx, 'withdraw')
  await takePlaces(ctx, { take: [userBucket(ctx, 'withdraw', actor.userId)], code: 'RATE_001' })
  if (actor.withdrawal) throw new AppError('WITHDRAWAL_002')
  return withdraw(ctx, { ...input, userId: actor.userId }, { actor, ip: ctx.ip, requestedBy: null })
}

/** By a service on behalf of the person. */
export async function withdrawUser(
  ctx: Context,
  input: Input<typeof adminContract>,
): Promise<Data<typeof adminContract>> {
  const account = await findAccountByExternalId(ctx, input.externalId)
  if (!account) throw new AppError('USER_001')
  const by = { actor: ctx.actor, ip: ctx.ip, requestedBy: input.requested_by }
  return withdraw(ctx, { ...input, userId: account.id }, by, { user_id: account.id })
}

/** By the operator, for somebody who wrote to support. The sweep of a running service sends the message. */
export const withdrawByOperator = (ctx: SystemContext, asked: Asked): Promise<Data<typeof contract>> =>
  withdraw(ctx, asked, { actor: null, ip: null, requestedBy: null })

type Asked = Input<typeof contract>

async function withdraw<More extends object>(
  ctx: SystemContext & Pick<Context, 'keepAnswer'>,
  asked: Asked,
  by: Pick<WithdrawalCaller, 'actor' | 'ip' | 'requestedBy'>,
  more?: More,
): Promise<Data<typeof contract> & More> {
  const withdrawal = toWithdrawal(ctx, asked)
  const { id, userId, plan, startedAt } = withdrawal
  const noticeId = ctx.secrets.randomId('ntc_')
  const isSentHere = by.actor !== null
  const data = {
    withdrawal_id: id,
    status: 'processing' as const,
    scheduled_completion: plan.scheduledCompletion.toISOString(),
    data_retention_period: retentionDays(ctx.limits.withdrawalRetentionMs),
    deletion_steps: plan.steps.map((step) => describeFirst(step, startedAt)),
    status_token: createStatusToken(ctx, id),
    ...(more as More),
  }
  const caller = { ...by, noticeId, noticeLeaseUntil: isSentHere ? leaseUntil(startedAt) : startedAt }
  const account = await ctx.transaction(async (sql) => {
    const locked = await lockForWithdrawal(sql, userId)
    if (!locked) throw new AppError('WITHDRAWAL_002')
    await refusePendingTransactions(sql, userId)
    await startWithdrawal(ctx, sql, locked, { ...withdrawal, caller })
    await ctx.keepAnswer?.(sql, data)
    return locked
  })
  if (!isSentHere) return data
  const notice = { id: noticeId, userId, kind: 'account_withdrawal_started', recipient: 'sealed' } as const
  const told = { withdrawalId: id, scheduledCompletion: plan.scheduledCompletion, recipient: recipientOf(account) }
  sendFirst(ctx, notice, told)
  if (ctx.emit) ctx.background(() => sendOutboxEvents(ctx))
  ctx.background(() => writeErasureLedger(ctx))
  ctx.background(() => beginDueDeliveries(ctx))
  return data
}

function toWithdrawal(ctx: SystemContext, input: Asked): Withdrawal {
  const startedAt = ctx.clock.now()
  const keeps = input.data_retention ?? {}
  return {
    id: ctx.secrets.randomId('wd_'),
    userId: input.userId,
    startedAt,
    reason: input.reason ?? null,
    feedback: input.feedback ?? null,
    keeps: {
      analytics: keeps.analytics ?? false,
      auditLogs: keeps.audit_logs ?? false,
      transactionHistory: keeps.transaction_history ?? false,
    },
    plan: planOf(ctx, startedAt),
    caller: null,
  }
}

/** After a restored backup brought a person back: the same withdrawal once more, its steps overdue. False if they are gone already. */
export function withdrawAgain(ctx: SystemContext, userId: string, entry: LedgerEntry): Promise<boolean> {
  return ctx.transaction(async (sql) => {
    const account = await lockForWithdrawal(sql, userId)
    if (!account) return false
    const startedAt = new Date(entry.startedAt)
    await startWithdrawal(ctx, sql, account, {
      id: entry.withdrawalId,
      userId,
      startedAt,
      reason: null,
      feedback: null,
      keeps: entry.keeps,
      plan: planOf(ctx, startedAt),
      caller: null,
    })
    return true
  })
}

const planOf = (ctx: SystemContext, startedAt: Date) =>
  planWithdrawal(startedAt, { timeScale: ctx.timeScale, retentionMs: ctx.limits.withdrawalRetentionMs })

function describeFirst({ step, estimatedCompletion }: PlannedStep, now: Date) {
  const status = DELETION_STEPS[step].firstStatus
  return status === 'completed'
    ? { step, status, completed_at: now.toISOString() }
    : { step, status, estimated_completion: estimatedCompletion.toISOString() }
}
