import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { withdrawAccount as contract } from '@/contract/withdrawal'
import { requireFreshSignIn } from '../access/fresh-sign-in'
import type { Context, SystemContext } from '../context'
import { takePlaces, userBucket } from '../limits/buckets'
import type { LedgerEntry } from '../ports'
import { beginDueDeliveries } from '../queue/events'
import { sendFirst, toWithdrawalLetter } from '../queue/notices'
import { sendOutboxEvents } from '../queue/outbox'
import { writeErasureLedger } from './erasure-ledger'
import { type PlannedStep, planWithdrawal, retentionDays } from './schedule'
import {
  lockForWithdrawal,
  recipientOf,
  refusePendingTransactions,
  startWithdrawal,
  type Withdrawal,
} from './start-withdrawal'
import { createStatusToken } from './status-token'
import { DELETION_STEPS } from './steps/deletion-steps'

export async function withdrawAccount(ctx: Context, input: Input<typeof contract>): Promise<Data<typeof contract>> {
  const { actor, ip } = ctx
  if (!actor.withdrawal) requireFreshSignIn(ctx, 'withdraw')
  await takePlaces(ctx, { take: [userBucket(ctx, 'withdraw', actor.userId)], code: 'RATE_001' })
  if (actor.withdrawal) throw new AppError('WITHDRAWAL_002')
  const withdrawal = toWithdrawal(ctx, input)
  const { id, userId, plan, startedAt } = withdrawal
  const noticeId = ctx.secrets.randomId('ntc_')
  const data: Data<typeof contract> = {
    withdrawal_id: id,
    status: 'processing',
    scheduled_completion: plan.scheduledCompletion.toISOString(),
    data_retention_period: retentionDays(ctx.limits.withdrawalRetentionMs),
    deletion_steps: plan.steps.map((step) => describeFirst(step, startedAt)),
    status_token: createStatusToken(ctx, id),
  }
  const account = await ctx.transaction(async (sql) => {
    const locked = await lockForWithdrawal(sql, userId)
    if (!locked) throw new AppError('WITHDRAWAL_002')
    await refusePendingTransactions(sql, userId)
    await startWithdrawal(ctx, sql, locked, { ...withdrawal, caller: { actor, ip, noticeId } })
    await ctx.keepAnswer?.(sql, data)
    return locked
  })
  const letter = toWithdrawalLetter(ctx, recipientOf(account), { id, scheduledCompletion: plan.scheduledCompletion })
  sendFirst(ctx, { id: noticeId, userId }, letter)
  if (ctx.emit) ctx.background(() => sendOutboxEvents(ctx))
  ctx.background(() => writeErasureLedger(ctx))
  ctx.background(() => beginDueDeliveries(ctx))
  return data
}

function toWithdrawal(ctx: Context, input: Input<typeof contract>): Withdrawal {
  const startedAt = ctx.clock.now()
  const keeps = input.data_retention ?? {}
  return {
    id: ctx.secrets.randomId('wd_'),
    userId: ctx.actor.userId,
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
