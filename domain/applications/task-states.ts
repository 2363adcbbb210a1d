import type { TaskState } from '@/contract/tasks'
import { type Described, type Part, type Shape, sql, text, time } from '../sql'

/** The columns from which the state of a deletion task is derived. */
export const TASK_COLUMNS = {
  status: text,
  accepted_at: time.orNull,
  due_at: time.orNull,
  lease_until: time.orNull,
  waived_at: time.orNull,
} satisfies Shape

/** The names of these columns, for statements. */
export const stateColumns = (n: Part) =>
  sql`${n}.status, ${n}.accepted_at, ${n}.due_at, ${n}.lease_until, ${n}.waived_at`

/** Why it was waived. */
export const WAIVED = sql`coalesce(n.waived_code, n.waived_reason) AS waived_reason, n.waived_sentence`

/** Not completed. Statements that look for tasks of an application need this condition for the partial index. */
export const isOpenTask = (n: Part) => sql`${n}.status IN ('pending', 'processing')`

/** If a lease has ended or a report is late, the task is pending again. */
export function taskStateOf(
  { status, accepted_at, due_at, lease_until, waived_at }: Described<typeof TASK_COLUMNS>,
  now: Date,
): TaskState {
  if (waived_at) return 'waived'
  if (status === 'completed') return 'completed'
  if (lease_until && lease_until > now) return 'calling'
  return accepted_at && due_at && due_at > now ? 'accepted' : 'pending'
}

/** As `taskStateOf`, for statements that count open tasks. */
export const openTaskState = (v: { now: Part }) =>
  sql`CASE WHEN lease_until > ${v.now} THEN 'calling' WHEN accepted_at IS NOT NULL AND due_at > ${v.now} THEN 'accepted' ELSE 'pending' END`
