import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import { type ABSENCES, CHOICES } from '@/contract/vocabulary'
import { type getWithdrawalStatus as contract, STEPS, type Step, type StepStatus } from '@/contract/withdrawal'
import { describeWaiver, isPresent } from '../applications/task-states'
import type { Context } from '../context'
import { countsOf, type DeletionCount, describeCounts } from '../deletion-counts'
import { addPeriod } from '../limits/due-date'
import { boolean, json, type RowOf, sql, statement, text, time } from '../sql'
import { retentionDays } from './schedule'

interface ApplicationRow {
  name: string
  status: StepStatus
  completed_at: string | null
  next_attempt_at: string | null
  accepted_at: string | null
  progress_done: number | null
  progress_total: number | null
  retained: { category: string; reason: string; until?: string }[] | null
  waived_at: string | null
  waived_reason: string | null
  waived_sentence: string | null
  times_present: number
  absent_at: string | null
}

const read = statement(
  'withdrawal-status',
  { withdrawalId: text, userId: text },
  {
    completed_at: time.orNull,
    keep_analytics: boolean,
    keep_audit_logs: boolean,
    keep_transaction_history: boolean,
    scheduled_completion: time,
    started_at: time,
    purge_due_at: time,
    due_by: time.orNull,
    steps:
      json.of<
        {
          step: Step
          status: StepStatus
          completed_at: string | null
          estimated_completion: string
          is_counted: boolean
        }[]
      >(),
    counts: json.of<DeletionCount[]>().orNull,
    applications: json.of<ApplicationRow[]>().orNull,
  },
  (v) => sql`SELECT w.completed_at, w.keep_analytics, w.keep_audit_logs, w.keep_transaction_history,
     w.scheduled_completion, w.started_at, w.purge_due_at, w.due_by,
     (SELECT json_agg(json_build_object('step', s.step, 'status', s.status, 'completed_at', s.completed_at,
                                        'estimated_completion', s.estimated_completion, 'is_counted', s.is_counted))
      FROM deletion_steps s WHERE s.withdrawal_id = w.id) AS steps,
     ${countsOf(sql`w.id`)} AS counts,
     (SELECT json_agg(json_build_object('name', n.app_name, 'status', n.status, 'completed_at', n.completed_at,
                                        'next_attempt_at', CASE WHEN a.disabled_at IS NULL AND NOT ${isPresent(sql`n`)} THEN n.due_at END,
                                        'accepted_at', n.accepted_at, 'progress_done', n.progress_done,
                                        'progress_total', n.progress_total, 'retained', n.retained, 'waived_at', n.waived_at,
                                        'waived_reason', coalesce(n.waived_code, n.waived_reason),
                                        'waived_sentence', n.waived_sentence, 'times_present', n.times_present,
                                        'absent_at', n.absent_at) ORDER BY n.app_name, n.id)
      FROM deletion_tasks n LEFT JOIN connected_apps a ON a.id = n.app_id WHERE n.withdrawal_id = w.id) AS applications
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
    kept_by_choice: CHOICES.filter((choice) => row[`keep_${choice}`]),
    scheduled_completion: row.scheduled_completion.toISOString(),
    due_by: (row.due_by ?? addPeriod(row.started_at, ctx.statutoryPeriod)).toISOString(),
    deletion_steps: STEPS.flatMap((name) => row.steps.find(({ step }) => step === name) ?? []).map(
      ({ step, status, completed_at, estimated_completion, is_counted }) =>
        completed_at
          ? { step, status, completed_at: iso(completed_at), ...(is_counted && countsOfStep(row, step)) }
          : { step, status, estimated_completion: iso(estimated_completion) },
    ),
    applications: (row.applications ?? []).map(describeApplication),
    ...(ctx.authority && { authority: ctx.authority }),
  }
}

const countsOfStep = ({ counts, purge_due_at }: RowOf<typeof read>, step: Step) =>
  describeCounts(
    (counts ?? []).filter((count) => count.step === step),
    purge_due_at.toISOString(),
  )
const describeApplication = (row: ApplicationRow) => ({
  name: row.name,
  status: row.status,
  ...(row.status === 'completed' && row.completed_at && { completed_at: iso(row.completed_at) }),
  ...(row.next_attempt_at && { next_attempt_at: iso(row.next_attempt_at) }),
  ...(row.accepted_at && { accepted_at: iso(row.accepted_at) }),
  ...(row.progress_done !== null &&
    row.progress_total !== null && { progress: { done: row.progress_done, total: row.progress_total } }),
  ...(row.retained?.length && { retained: row.retained }),
  ...(row.waived_at &&
    row.waived_reason && { waived: describeWaiver(row.waived_reason, row.waived_sentence, iso(row.waived_at)) }),
  ...(!row.waived_at && absenceOf(row)),
})

/** Absent where the application is not asked for it, or has not said yet that it is done. */
function absenceOf({ status, completed_at, times_present, absent_at }: ApplicationRow): {
  absence?: (typeof ABSENCES)[number]
} {
  if (absent_at) return { absence: 'absent' }
  if (times_present > 0) return { absence: 'present' }
  return completed_at && status !== 'completed' ? { absence: 'unconfirmed' } : {}
}

const iso = (text: string) => new Date(text).toISOString()
