import type { Data } from '@/contract/define'
import { AppError } from '@/contract/errors'
import { isOpen, type ShownTask, troubleOf, type waiveTask as waiveContract } from '@/contract/tasks'
import { lookUp } from '@/domain/accounts/look-up'
import { listTasks } from '@/domain/applications/list-tasks'
import { getApp } from '@/domain/applications/manage'
import { retryTask, unknownTask, waiveTask } from '@/domain/applications/operate-tasks'
import { showWithdrawal } from '@/domain/withdrawal/show-withdrawal'
import { final, reading, revocable } from './command.ts'
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
    async run(ctx, { id: taskId }) {
      const answer = await retryTask(ctx, { taskId })
      process.stderr.write(
        answer.retried
          ? 'It is asked within a minute; task list shows what it answers.\n'
          : 'Nothing was tried yet, or the application is disabled; the task keeps its time.\n',
      )
      return answer
    },
  }),
  final({
    name: 'task waive',
    summary: "Closes a deletion task without the application's confirmation; the person reads why.",
    options: {
      id,
      reason: { ...waiveReason, required: true },
    },
    async asks(ctx, { id: taskId, reason }) {
      const found = await lookUp(ctx, taskId)
      const { tasks } = await listTasks(ctx, { withdrawalId: found?.id ?? '' })
      const task = tasks.find(({ task_id }) => task_id === taskId)
      if (!task) throw unknownTask()
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
