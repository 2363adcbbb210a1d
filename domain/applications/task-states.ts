import type { TaskState } from '@/contract/tasks'

/** The columns from which the state of a deletion task is derived. */
export interface TaskColumns {
  status: string
  accepted_at: Date | null
  due_at: Date | null
  lease_until: Date | null
  waived_at: Date | null
}

/** The names of these columns, for statements. */
export const STATE_COLUMNS = (n: string) =>
  ['status', 'accepted_at', 'due_at', 'lease_until', 'waived_at'].map((column) => `${n}.${column}`).join(', ')

/** Not completed. Statements that look for tasks of an application need this condition for the partial index. */
export const IS_OPEN = (n: string) => `${n}.status IN ('pending', 'processing')`

/** If a lease has ended or a report is late, the task is pending again. */
export function taskStateOf(
  { status, accepted_at, due_at, lease_until, waived_at }: TaskColumns,
  now: Date,
): TaskState {
  if (waived_at) return 'waived'
  if (status === 'completed') return 'completed'
  if (lease_until && lease_until > now) return 'calling'
  return accepted_at && due_at && due_at > now ? 'accepted' : 'pending'
}
