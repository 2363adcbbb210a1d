import type { ShownTask } from '@/contract/tasks'

/** The values that are states, and their colors. */
export const TONES = {
  accepted: 'accent',
  calling: 'accent',
  completed: 'success',
  dead: 'danger',
  delivered: 'success',
  pending: 'neutral',
  present: 'danger',
  processing: 'accent',
  purged: 'neutral',
  unconfirmed: 'accent',
  waived: 'neutral',
} as const

export const TROUBLE_TONES = {
  past_due: 'danger',
  failing: 'danger',
  late: 'warning',
  disabled: 'warning',
  not_fetched: 'warning',
  app_disabled: 'warning',
} as const

/** What to do where an application, or a step, fails. */
export const TRIES_ITSELF = 'What fails is tried again by itself; once the cause is fixed, a retry tries it at once.'

/** Whether the application has heard of the task, or was tried. */
export const isRequested = ({ state, attempts }: ShownTask) => state !== 'pending' || attempts > 0

/** Whether it is asked for the first time without anybody doing anything: not where it is disabled, or has to ask for its tasks itself. */
export const willBeCalled = (task: ShownTask) => !isRequested(task) && task.due_at !== null && !task.polls
