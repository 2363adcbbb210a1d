import type { TaskState } from '@/contract/tasks'

/** The columns of a deletion task that tell how far it is. */
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

/** Not done. For statements that look for tasks of an application: the condition of the partial index. */
export const IS_OPEN = (n: string) => `${n}.status IN ('pending', 'processing')`

/** A lease that is over and a report that did not come leave a task pending: it is asked for again. */
export function taskStateOf(
  { status, accepted_at, due_at, lease_until, waived_at }: TaskColumns,
  now: Date,
): TaskState {
  if (waived_at) return 'waived'
  if (status === 'completed') return 'completed'
  if (lease_until && lease_until > now) return 'calling'
  return accepted_at && due_at && due_at > now ? 'accepted' : 'pending'
}
