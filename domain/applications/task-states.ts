import type { TaskState } from '@/contract/tasks'
import { type Described, integer, type Part, sql, text, time } from '../sql'

/** The columns from which the state of a deletion task is derived. */
export const TASK_COLUMNS = {
  status: text,
  accepted_at: time.orNull,
  due_at: time.orNull,
  lease_until: time.orNull,
  waived_at: time.orNull,
  completed_at: time.orNull,
  times_present: integer,
}

/** The names of these columns, for statements. */
export const stateColumns = (n: Part) =>
  sql`${n}.status, ${n}.accepted_at, ${n}.due_at, ${n}.lease_until, ${n}.waived_at, ${n}.completed_at, ${n}.times_present`

/** So often an application that still has the person is told again; after that the operator decides. */
export const MAX_REPEATED_REQUESTS = 3

/** The application still has the person though it was told again that often. Nothing more is sent for such a task. */
export const isPresent = (n: Part) =>
  sql`(${n}.completed_at IS NOT NULL AND ${n}.times_present > ${MAX_REPEATED_REQUESTS})`

/** What a retry by the operator changes of a task `n` that the application is known to have not done: it is told once more. */
export const OPENS_IF_PRESENT = sql`completed_at = CASE WHEN ${isPresent(sql`n`)} THEN NULL ELSE n.completed_at END,
     first_tried_at = CASE WHEN ${isPresent(sql`n`)} THEN NULL ELSE n.first_tried_at END,
     times_present = least(n.times_present, ${MAX_REPEATED_REQUESTS})`

/** As people read it; `at` is ISO 8601. */
export const describeWaiver = (reason: string, sentence: string | null, at: string) => ({
  reason,
  ...(sentence !== null && { sentence }),
  at,
})

/** Why it was waived. */
export const WAIVED = sql`coalesce(n.waived_code, n.waived_reason) AS waived_reason, n.waived_sentence`

/** Not completed. Statements that look for tasks of an application need this condition for the partial index. */
export const isOpenTask = (n: Part) => sql`${n}.status IN ('pending', 'processing')`

/** If a lease has ended or a report is late, the task is pending again. */
export function taskStateOf(row: Described<typeof TASK_COLUMNS>, now: Date): TaskState {
  const { status, accepted_at, due_at, lease_until, waived_at, completed_at, times_present } = row
  if (waived_at) return 'waived'
  if (status === 'completed') return 'completed'
  if (completed_at) return times_present > MAX_REPEATED_REQUESTS ? 'present' : 'unconfirmed'
  if (lease_until && lease_until > now) return 'calling'
  return accepted_at && due_at && due_at > now ? 'accepted' : 'pending'
}

/** As `taskStateOf`, for statements that count open tasks `n`. */
export const openTaskState = (v: { now: Part }) =>
  sql`CASE WHEN ${isPresent(sql`n`)} THEN 'present' WHEN completed_at IS NOT NULL THEN 'unconfirmed'
     WHEN lease_until > ${v.now} THEN 'calling' WHEN accepted_at IS NOT NULL AND due_at > ${v.now} THEN 'accepted' ELSE 'pending' END`
