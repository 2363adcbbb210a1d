'use client'

import type { ShownTask, TaskState } from '@/contract/tasks'
import { Card, CardBody, CardHeader } from '../ui/card'
import { RelativeTime } from '../ui/relative-time'
import { WithdrawalLink } from './links'
import { RowList } from './section'
import { StepName } from './step-name'
import { TaskRow } from './task-row'
import { useRetried } from './use-retried'

interface OpenTasksProps {
  counts: readonly { state: TaskState; count: number }[]
  tasks: readonly ShownTask[]
  is_cut: boolean
}

export function OpenTasks({ counts, tasks, is_cut }: OpenTasksProps) {
  const retried = useRetried(tasks.map(({ task_id }) => task_id))
  return (
    <Card>
      <CardHeader
        title="Deletion tasks of applications"
        description={`${counts.map(({ state, count }) => `${count.toLocaleString('en')} ${state}`).join(', ')}. The oldest withdrawal comes first${is_cut ? '; there are more than are shown.' : '.'}`}
      />
      <CardBody>
        <RowList rows={tasks} none="No task is due.">
          {(task) => (
            <TaskRow key={task.task_id} task={task} onRetried={() => retried.add(task.task_id, task.name)}>
              <WithdrawalLink id={task.withdrawal_id} />, <StepName step={task.phase} />, withdrawn{' '}
              <RelativeTime dateTime={task.started_at} />
            </TaskRow>
          )}
        </RowList>
        <div role="status" className="space-y-1 text-sm text-success not-empty:mt-4">
          {retried.done.map(({ id, name }) => (
            <p key={id}>Tried again: the task of {name} is done.</p>
          ))}
        </div>
      </CardBody>
    </Card>
  )
}
