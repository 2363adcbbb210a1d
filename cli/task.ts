import type { Data } from '@/contract/define'
import { AppError } from '@/contract/errors'
import {
  isOpen,
  type retryTask as retryContract,
  type ShownTask,
  troubleOf,
  type waiveTask as waiveContract,
} from '@/contract/tasks'
import { resultOf, WORDS } from '@/contract/words'
import { lookUp } from '@/domain/accounts/look-up'
import { listTasks } from '@/domain/applications/list-tasks'
import { getApp } from '@/domain/applications/manage'
import { retryTask, unknownTask, waiveTask } from '@/domain/applications/operate-tasks'
import type { SystemContext } from '@/domain/context'
import { showWithdrawal } from '@/domain/withdrawal/show-withdrawal'
import { final, reading, revocable } from './command.ts'
import { isDueAt, isWatched, NOT_TRIED, untilTried, WAITS } from './until-tried.ts'
import { namedApp, sentenceOfReason, waiveReason, withdrawal } from './values.ts'

const id = {
  value: 'msg_…',
  positional: true,
  required: true,
  means: 'The task, as task list shows it.',
} as const

/** Each part keeps its order, which is by the next try. */
const worstFirst = (tasks: readonly ShownTask[], now: Date) =>
  tasks.toSorted((one, other) => Number(needsHelp(other, now)) - Number(needsHelp(one, now)))
const needsHelp = (task: ShownTask, now: Date) => task.state === 'present' || troubleOf(task, now) !== null

async function taskOf(ctx: SystemContext, taskId: string): Promise<ShownTask> {
  const found = await lookUp(ctx, taskId)
  const { tasks } = await listTasks(ctx, { withdrawalId: found?.id ?? '' })
  const task = tasks.find(({ task_id }) => task_id === taskId)
  if (!task) throw unknownTask()
  return task
}

/** `is_tried` is there where the command has waited for the answer, as on a terminal. */
type Retried = Data<typeof retryContract> & { is_tried?: boolean; task: ShownTask; error?: string }

const hasFailed = ({ last_error, state }: ShownTask) => last_error !== null && isOpen({ state })

function outcomeOf({ retried, is_tried: isTried, task }: Retried): string {
  const { name, state, last_error } = task
  if (task.is_app_disabled) return `${name} is disabled: enable it first.`
  if (!retried) return 'Nothing was tried yet; the task keeps its time.'
  if (task.polls) return `${name} fetches its tasks itself, and can fetch this one now.`
  if (isTried === undefined) return 'It is tried within a minute; task list shows what came of it.'
  if (!isTried) return NOT_TRIED
  if (hasFailed(task)) return `${name} failed again: ${resultOf(last_error ?? '')}.`
  return `${name}: ${(WORDS[state] ?? state).toLowerCase()}.`
}

type Waived = Data<typeof waiveContract> & { already?: true }

export const taskCommands = [
  reading({
    name: 'task list',
    summary: 'Lists the open deletion tasks, or all of one withdrawal.',
    options: {
      withdrawal,
      app: namedApp,
    },
    example: '--app Billing',
    async run(ctx, { withdrawal: withdrawalId, app: appId }) {
      const listed = await listTasks(ctx, { withdrawalId, appId })
      // Nothing open would look like good news of an id that was mistyped.
      if (listed.tasks.length === 0 && withdrawalId) await showWithdrawal(ctx, withdrawalId)
      if (listed.tasks.length === 0 && appId) await getApp(ctx, { appId })
      return listed
    },
    says: (listed: { tasks: ShownTask[] }) => ({ ...listed, tasks: worstFirst(listed.tasks, new Date()) }),
  }),
  revocable({
    name: 'task retry',
    summary: 'Makes a task that was tried due at once. An application that is disabled is asked once it is enabled.',
    options: { id },
    async run(ctx, { id: taskId }, readInput): Promise<Retried> {
      const answer = await retryTask(ctx, { taskId })
      const before = await taskOf(ctx, taskId)
      if (!isWatched(readInput) || !answer.retried || before.is_app_disabled || before.polls)
        return { ...answer, task: before }
      process.stderr.write(WAITS)
      const isDue = isDueAt(ctx.clock.now())
      const { last, isTried } = await untilTried(() => taskOf(ctx, taskId), isDue)
      const retried = { ...answer, is_tried: isTried, task: last }
      return isTried && !hasFailed(last) ? retried : { ...retried, error: outcomeOf(retried) }
    },
    says: outcomeOf,
  }),
  final({
    name: 'task waive',
    summary: "Closes a deletion task without the application's confirmation; the person reads why.",
    options: {
      id,
      reason: { ...waiveReason, required: true },
    },
    async asks(ctx, { id: taskId, reason }) {
      const task = await taskOf(ctx, taskId)
      if (!isOpen(task)) throw new AppError('TASK_002')
      const sentence = sentenceOfReason(task.waive_reasons, reason)
      return `Stop waiting for ${task.name} in the deletion ${task.withdrawal_id}? The person reads: “${sentence}”`
    },
    async run(ctx, { id: taskId, reason }): Promise<Waived> {
      const now = ctx.clock.now().toISOString()
      const answer = await waiveTask(ctx, { taskId, reason })
      return answer.waived.at < now ? { ...answer, already: true } : answer
    },
    says: ({ already, waived: { reason, sentence = sentenceOfReason([], reason) } }: Waived) =>
      `${already ? 'The task was waived already' : 'Nobody waits for this task any more'}. The person reads: “${sentence}”`,
  }),
]
