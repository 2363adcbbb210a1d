'use client'

import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import type { ShownTask, TaskState } from '@/contract/tasks'
import { WAIVE_REASONS, type WaiveReason } from '@/contract/vocabulary'
import { ConfirmedButton } from '../forms/confirmed-button'
import { Badge } from '../ui/badge'
import { Card, CardBody, CardHeader } from '../ui/card'
import { cn } from '../ui/class-names'
import { Countdown } from '../ui/countdown'
import { RadioField } from '../ui/field'
import { RelativeTime } from '../ui/relative-time'
import { useServerTime } from '../ui/server-clock'
import { textLink } from '../ui/text-link'
import { Attempts } from './attempts'
import { operate, sentenceOf } from './operate'
import { Retry } from './retry-button'
import { StepName } from './step-name'
import { useAsked } from './use-asked'
import { inWords, TASK_TONES } from './words'

interface OpenTasksProps {
  counts: readonly { state: TaskState; count: number }[]
  tasks: readonly ShownTask[]
  is_cut: boolean
  renderedAt: string
}

export function OpenTasks({ counts, tasks, is_cut, renderedAt }: OpenTasksProps) {
  const asked = useAsked(tasks.map(({ task_id }) => task_id))
  return (
    <Card>
      <CardHeader
        title="Deletion tasks of applications"
        description={`${counts.map(({ state, count }) => `${count.toLocaleString('en')} ${state}`).join(', ')}. The oldest withdrawal comes first${is_cut ? '; there are more than are shown.' : '.'}`}
      />
      <CardBody>
        {tasks.length > 0 ? (
          <ul className="divide-y divide-line">
            {tasks.map((task) => (
              <OpenTaskRow
                key={task.task_id}
                task={task}
                renderedAt={renderedAt}
                onAsked={() => asked.ask(task.task_id, task.name)}
              />
            ))}
          </ul>
        ) : (
          <p className="text-ink-muted">No task is due.</p>
        )}
        <div role="status" className="space-y-1 text-sm text-success not-empty:mt-4">
          {asked.done.map(({ id, name }) => (
            <p key={id}>Tried again: the task of {name} is done.</p>
          ))}
        </div>
      </CardBody>
    </Card>
  )
}

function OpenTaskRow({ task, renderedAt, onAsked }: { task: ShownTask; renderedAt: string; onAsked: () => void }) {
  const { withdrawal_id, name, state, phase, started_at, progress, is_app_disabled } = task
  return (
    <li className="flex flex-wrap items-start justify-between gap-x-4 gap-y-3 py-4 first:pt-0 last:pb-0">
      <div className="min-w-0 space-y-0.5">
        <p className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
          <span className="wrap-anywhere min-w-0 font-medium">{name}</span>
          <Badge tone={TASK_TONES[state]}>{inWords(state)}</Badge>
          {is_app_disabled && <Badge tone="danger">Disabled</Badge>}
          {progress && (
            <span className="text-sm tabular-nums">
              {progress.done} of {progress.total}
            </span>
          )}
        </p>
        <p className="text-ink-muted text-sm tabular-nums">
          <WaitsFor task={task} renderedAt={renderedAt} />
        </p>
        <p className="wrap-anywhere text-ink-muted text-sm">
          <Link href={`/admin/withdrawals/${withdrawal_id}`} className={cn(textLink, 'font-mono text-xs')}>
            {withdrawal_id}
          </Link>
          , <StepName step={phase} />, withdrawn <RelativeTime dateTime={started_at} renderedAt={renderedAt} />
        </p>
      </div>
      <TaskActions task={task} onAsked={onAsked} />
    </li>
  )
}

/** Of a task that is open. */
export function WaitsFor({ task, renderedAt }: { task: ShownTask; renderedAt: string }) {
  const { state, polls, last_error, failure_code, due_at } = task
  const now = useServerTime(renderedAt)
  const isDue = due_at !== null && Date.parse(due_at) <= now
  const told = { ...task, last_error: last_error && failure_code ? `${last_error}: ${failure_code}` : last_error }
  if (state === 'calling') return 'Is being asked now.'
  if (due_at === null)
    return (
      <>
        Waits until the application is enabled. <Attempts of={told} renderedAt={renderedAt} />
      </>
    )
  if (state === 'accepted')
    return (
      <>
        Waits for a report, is asked again in <Countdown until={due_at} renderedAt={renderedAt} />
      </>
    )
  if (polls && isDue)
    return (
      <>
        Waits until the application takes it. <Attempts of={{ ...told, due_at: null }} renderedAt={renderedAt} />
      </>
    )
  return <Attempts of={told} renderedAt={renderedAt} />
}

/** Nobody has finished or waived it. */
export const isOpenTask = ({ state }: ShownTask) => state !== 'completed' && state !== 'waived'

const reasonTexts = {
  gone: 'The application no longer exists',
  refused: 'It refuses to delete the data',
  unreachable: 'It cannot be reached',
  other: 'Another reason',
} as const

export function TaskActions({ task, onAsked }: { task: ShownTask; onAsked?: () => void }) {
  const { task_id: id, name, attempts, last_error } = task
  const isOpen = isOpenTask(task)
  const router = useRouter()
  const [reason, setReason] = useState<WaiveReason>(WAIVE_REASONS[0])
  return (
    <div className="flex w-full flex-wrap gap-2 sm:w-auto sm:justify-end">
      {attempts > 0 && (
        <Retry
          act={() => operate('retryTask', { taskId: id })}
          of={`the task of ${name}`}
          attempts={attempts}
          lastError={last_error}
          isOpen={isOpen}
          {...(onAsked && { onAsked })}
        />
      )}
      {isOpen && (
        <ConfirmedButton
          label={
            <span>
              Waive<span className="sr-only"> the task of {name}</span>
            </span>
          }
          question={`Stop waiting for ${name}?`}
          consequence={
            <div className="space-y-4">
              <p>
                The person reads that it has not confirmed, and why. This cannot be taken back, and is written into the
                audit log.
              </p>
              <RadioField
                legend="Why?"
                appearance="list"
                name={`reason-${id}`}
                options={WAIVE_REASONS.map((value) => ({ value, label: reasonTexts[value] }))}
                defaultValue={reason}
                onChange={(event) => setReason(event.target.value as WaiveReason)}
              />
            </div>
          }
          keep="Keep waiting"
          confirm="Waive the task"
          act={() => operate('waiveTask', { taskId: id }, { reason })}
          errorText={sentenceOf}
          onDone={() => router.refresh()}
        />
      )}
    </div>
  )
}
