'use client'

import { useRouter } from 'next/navigation'
import { type ReactNode, useState } from 'react'
import type { ShownTask } from '@/contract/tasks'
import { partsOfReason, WAIVE_REASONS } from '@/contract/vocabulary'
import { ConfirmedButton } from '../forms/confirmed-button'
import { Badge } from '../ui/badge'
import { Countdown } from '../ui/countdown'
import { RadioField } from '../ui/field'
import { RelativeTime } from '../ui/relative-time'
import { useServerTime } from '../ui/server-clock'
import { Attempts } from './attempts'
import { AppLink } from './links'
import { operate, sentenceOf } from './operate'
import { Retry } from './retry-button'
import { Row } from './section'
import { TASK_TONES, toLabel } from './words'

interface TaskRowProps {
  task: ShownTask
  onRetried?: (() => void) | undefined
  /** The application or the withdrawal of the task. */
  children: ReactNode
}

export function TaskRow({ task, onRetried, children }: TaskRowProps) {
  const { app_id, name, state, is_app_disabled, progress, completed_at, waived } = task
  return (
    <Row
      title={<AppLink id={app_id} name={name} />}
      badge={
        <>
          <Badge tone={TASK_TONES[state]}>{toLabel(state)}</Badge>
          {is_app_disabled && <Badge tone="danger">Disabled</Badge>}
          {progress && `${progress.done} of ${progress.total}`}
        </>
      }
      aside={<TaskActions task={task} onRetried={onRetried} />}
    >
      {isOpenTask(task) && <WaitsFor task={task} />}
      {waived && `Waived: ${waived.sentence ?? waived.reason}`}
      {completed_at && state === 'completed' && (
        <>
          Completed <RelativeTime dateTime={completed_at} />
        </>
      )}
      <p>{children}</p>
    </Row>
  )
}

/** The state of an open task. */
function WaitsFor({ task }: { task: ShownTask }) {
  const { state, polls, last_error, failure_code, due_at } = task
  const now = useServerTime()
  const isDue = due_at !== null && Date.parse(due_at) <= now
  const told = { ...task, last_error: last_error && failure_code ? `${last_error}: ${failure_code}` : last_error }
  if (state === 'calling') return 'Is being asked now.'
  if (state === 'present') return 'Still has the person after every request: retry it or waive it.'
  if (state === 'unconfirmed') return <WaitsForAbsence task={told} />
  if (due_at === null)
    return (
      <>
        Waits until the application is enabled. <Attempts of={told} />
      </>
    )
  if (state === 'accepted')
    return (
      <>
        Waits for a report, is asked again in <Countdown until={due_at} />
      </>
    )
  if (polls && isDue)
    return (
      <>
        Waits until the application takes it. <Attempts of={{ ...told, due_at: null }} />
      </>
    )
  return <Attempts of={told} />
}

/** The application says that it is done, and is asked once more. */
function WaitsForAbsence({ task }: { task: ShownTask }) {
  const { due_at, attempts, polls } = task
  if (due_at === null)
    return polls ? 'Waits until the application has an endpoint.' : 'Waits until the application is enabled.'
  if (attempts > 0) return <Attempts of={task} />
  return (
    <>
      Is done as it says, is asked whether the person is absent in <Countdown until={due_at} />
    </>
  )
}

/** Whether the task is neither completed nor waived. */
export const isOpenTask = ({ state }: ShownTask) => state !== 'completed' && state !== 'waived'

const reasonTexts = {
  gone: 'The application no longer exists',
  refused: 'It refuses to delete the data',
  unreachable: 'It cannot be reached',
} as const

function TaskActions({ task, onRetried }: { task: ShownTask; onRetried?: (() => void) | undefined }) {
  const { task_id: id, name, attempts, last_error } = task
  const isOpen = isOpenTask(task)
  const router = useRouter()
  const [reason, setReason] = useState<string>(WAIVE_REASONS[0])
  return (
    <div className="flex w-full flex-wrap gap-2 sm:w-auto sm:justify-end">
      {attempts > 0 && (
        <Retry
          act={() => operate('retryTask', { taskId: id })}
          of={`the task of ${name}`}
          attempts={attempts}
          lastError={last_error}
          isOpen={isOpen}
          onRetried={onRetried}
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
                The person reads that it has not confirmed, and why. Any other reason is registered with the application
                first, as a sentence for the person: <code>app set --waive-reason</code>. This cannot be taken back, and
                is written into the audit log.
              </p>
              <RadioField
                legend="Why?"
                appearance="list"
                name={`reason-${id}`}
                options={[
                  ...WAIVE_REASONS.map((value) => ({ value: value as string, label: reasonTexts[value] })),
                  ...task.waive_reasons
                    .map(partsOfReason)
                    .map(({ code, sentence }) => ({ value: code, label: sentence })),
                ]}
                defaultValue={reason}
                onChange={(event) => setReason(event.target.value)}
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
