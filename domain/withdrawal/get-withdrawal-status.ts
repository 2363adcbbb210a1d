import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import { type getWithdrawalStatus as contract, STEPS, type Step, type StepStatus } from '@/contract/withdrawal'
import type { Context } from '../context'
import { statement } from '../sql'
import { retentionDays } from './schedule'

interface StatusRow {
  completed_at: Date | null
  keep_audit_logs: boolean
  scheduled_completion: Date
  steps: { step: Step; status: StepStatus; completed_at: string | null; estimated_completion: string }[]
  applications:
    | { name: string; status: StepStatus; completed_at: string | null; next_attempt_at: string | null }[]
    | null
}

const read = statement<{ withdrawalId: string; userId: string }, StatusRow>(
  'withdrawal-status',
  (v) => `SELECT w.completed_at, w.keep_audit_logs, w.scheduled_completion,
     (SELECT json_agg(json_build_object('step', s.step, 'status', s.status, 'completed_at', s.completed_at,
                                        'estimated_completion', s.estimated_completion))
      FROM deletion_steps s WHERE s.withdrawal_id = w.id) AS steps,
     (SELECT json_agg(json_build_object('name', n.app_name, 'status', n.status, 'completed_at', n.completed_at,
                                        'next_attempt_at', n.due_at) ORDER BY n.app_name, n.id)
      FROM app_notifications n WHERE n.withdrawal_id = w.id) AS applications
   FROM withdrawals w WHERE w.id = ${v.withdrawalId} AND w.user_id = ${v.userId}`,
)

export async function getWithdrawalStatus(ctx: Context, input: Input<typeof contract>): Promise<Data<typeof contract>> {
  const { userId, withdrawal } = ctx.actor
  const { withdrawalId } = input
  const [row] = withdrawal?.id === withdrawalId ? await ctx.sql(read, { withdrawalId, userId }) : []
  if (!row) throw new AppError('WITHDRAWAL_004')
  return {
    withdrawal_id: withdrawalId,
    status: row.completed_at ? 'completed' : 'processing',
    ...(row.completed_at && { completed_at: row.completed_at.toISOString() }),
    data_retention: {
      audit_logs: row.keep_audit_logs,
      retention_period: retentionDays(ctx.limits.withdrawalRetentionMs),
    },
    scheduled_completion: row.scheduled_completion.toISOString(),
    deletion_steps: STEPS.flatMap((name) => row.steps.find(({ step }) => step === name) ?? []).map(
      ({ step, status, completed_at, estimated_completion }) =>
        completed_at
          ? { step, status, completed_at: iso(completed_at) }
          : { step, status, estimated_completion: iso(estimated_completion) },
    ),
    applications: (row.applications ?? []).map(({ name, status, completed_at, next_attempt_at }) => ({
      name,
      status,
      ...(completed_at && { completed_at: iso(completed_at) }),
      ...(next_attempt_at && { next_attempt_at: iso(next_attempt_at) }),
    })),
  }
}

const iso = (text: string) => new Date(text).toISOString()
