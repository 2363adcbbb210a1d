import { listTasks } from '@/domain/applications/list-tasks'
import { getApp } from '@/domain/applications/manage'
import { retryTask, waiveTask } from '@/domain/applications/operate-tasks'
import { showWithdrawal } from '@/domain/withdrawal/show-withdrawal'
import { command } from './command.ts'
import { namedApp, waiveReason } from './values.ts'

const id = { value: 'msg_…', positional: true, required: true, means: 'The task.' } as const

export const taskCommands = [
  command({
    name: 'task list',
    summary: 'Lists the open deletion tasks, or all of one withdrawal.',
    options: {
      withdrawal: { value: 'wd_…', means: 'The withdrawal.' },
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
  }),
  command({
    name: 'task retry',
    summary: 'Makes a task that was tried due at once. An application that is disabled is asked once it is enabled.',
    options: { id },
    async run(ctx, { id: taskId }) {
      const answer = await retryTask(ctx, { taskId })
      process.stderr.write(
        answer.retried
          ? 'It is asked within a minute; task list shows what it answers.\n'
          : 'Nothing was tried yet; the task keeps its time.\n',
      )
      return answer
    },
  }),
  command({
    name: 'task waive',
    summary: "Closes a deletion task without the application's confirmation; the person reads why. This is final.",
    options: {
      id,
      reason: { ...waiveReason, required: true },
    },
    isFinal: true,
    run: (ctx, { id: taskId, reason }) => waiveTask(ctx, { taskId, reason }),
  }),
]
