'use client'

import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import type { OpenTask, TaskState } from '@/contract/tasks'
import { WAIVE_REASONS } from '@/contract/vocabulary'
import { ConfirmedButton } from '../forms/confirmed-button'
import { Badge } from '../ui/badge'
import { Card, CardBody, CardHeader } from '../ui/card'
import { cn } from '../ui/class-names'
import { Countdown } from '../ui/countdown'
import { RadioField } from '../ui/field'
import { RelativeTime } from '../ui/relative-time'
import { useServerTime } from '../ui/server-clock'
import { textLink } from '../ui/text-link'
import { press } from './press'
import { Retry } from './retry-button'
import { useAsked } from './use-asked'
import { count, inWords, TASK_TONES } from './words'

interface OpenTasksProps {
  counts: readonly { state: TaskState; count: number }[]
  open: readonly OpenTask[]
  isCut: boolean
  renderedAt: string
}

export function OpenTasks({ counts, open, isCut, renderedAt }: OpenTasksProps) {
  const asked = useAsked(open.map(({ id }) => id))
  return (
    <Card>
      <CardHeader
        title="Deletion tasks of applications"
        description={`${counts.map(({ state, count }) => `${count.toLocaleString('en')} ${state}`).join(', ')}. The oldest withdrawal comes first${isCut ? '; there are more than are shown.' : '.'}`}
      />
      {open.length > 0 && (
        <CardBody>
          <ul className="divide-y divide-line">
            {open.map((task) => (
              <OpenTaskRow
                key={task.id}
                task={task}
                renderedAt={renderedAt}
                onAsked={() => asked.ask(task.id, task.appName)}
              />
            ))}
          </ul>
        </CardBody>
      )}
      <div role="status" className="space-y-1 px-5 text-sm text-success not-empty:pb-5 sm:px-6">
        {asked.done.map(({ id, name }) => (
          <p key={id}>Tried again: the task of {name} is done.</p>
        ))}
      </div>
    </Card>
  )
}

function OpenTaskRow({ task, renderedAt, onAsked }: { task: OpenTask; renderedAt: string; onAsked: () => void }) {
  const { withdrawalId, appName, state, phase, startedAt, progress, isAppDisabled } = task
  return (
    <li className="flex flex-wrap items-start justify-between gap-x-4 gap-y-3 py-4 first:pt-0 last:pb-0">
      <div className="min-w-0 space-y-0.5">
        <p className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
          <span className="wrap-anywhere min-w-0 font-medium">{appName}</span>
          <Badge tone={TASK_TONES[state]}>{inWords(state)}</Badge>
          {isAppDisabled && <Badge tone="danger">Disabled</Badge>}
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
          <Link href={`/admin/withdrawals/${withdrawalId}`} className={cn(textLink, 'font-mono text-xs')}>
            {withdrawalId}
          </Link>
          , {inWords(phase)}, withdrawn <RelativeTime dateTime={startedAt.toISOString()} renderedAt={renderedAt} />
        </p>
      </div>
      <TaskActions task={task} onAsked={onAsked} />
    </li>
  )
}

type Waiting = Pick<OpenTask, 'state' | 'isAppDisabled' | 'polls' | 'attempts' | 'lastError' | 'failureCode' | 'dueAt'>

export function WaitsFor({ task, renderedAt }: { task: Waiting; renderedAt: string }) {
  const { state, isAppDisabled, polls, attempts, lastError, failureCode, dueAt } = task
  const isDue = dueAt.getTime() <= useServerTime(renderedAt)
  const tries = count(attempts, 'attempt')
  if (state === 'calling') return 'Is being asked now.'
  const error = lastError && (
    <>
      , last error{' '}
      <span className="wrap-anywhere font-mono text-ink">
        {failureCode ? `${lastError}: ${failureCode}` : lastError}
      </span>
    </>
  )
  if (isAppDisabled) return <>Waits until the application is enabled; {tries}</>
  if (state === 'accepted')
    return (
      <>
        Waits for a report, is asked again in <Countdown until={dueAt.toISOString()} renderedAt={renderedAt} />
      </>
    )
  if (polls && isDue)
    return (
      <>
        Waits until the application takes it; {tries}
        {error}
      </>
    )
  return (
    <>
      {tries}
      {error}
      {', '}
      {isDue ? (
        'due now'
      ) : (
        <>
          next try in <Countdown until={dueAt.toISOString()} renderedAt={renderedAt} />
        </>
      )}
    </>
  )
}

const reasonTexts = {
  gone: 'The application no longer exists',
  refused: 'It refuses to delete the data',
  unreachable: 'It cannot be reached',
  other: 'Another reason',
} as const

interface TaskActionsProps {
  task: Pick<OpenTask, 'id' | 'appName' | 'attempts' | 'lastError'>
  /** The application has not done it. */
  isOpen?: boolean
  onAsked?: () => void
}

export function TaskActions({ task: { id, appName, attempts, lastError }, isOpen = true, onAsked }: TaskActionsProps) {
  const router = useRouter()
  const [reason, setReason] = useState<string>(WAIVE_REASONS[0])
  const path = `/admin/tasks/${encodeURIComponent(id)}`
  return (
    <div className="flex w-full flex-wrap gap-2 sm:w-auto sm:justify-end">
      {attempts > 0 && (
        <Retry
          path={`${path}/retry`}
          of={`the task of ${appName}`}
          attempts={attempts}
          lastError={lastError}
          isOpen={isOpen}
          {...(onAsked && { onAsked })}
        />
      )}
      {isOpen && (
        <ConfirmedButton
          label={
            <span>
              Waive<span className="sr-only"> the task of {appName}</span>
            </span>
          }
          question={`Stop waiting for ${appName}?`}
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
                onChange={(event) => setReason(event.target.value)}
              />
            </div>
          }
          keep="Keep waiting"
          confirm="Waive the task"
          act={() => press(`${path}/waive?reason=${reason}`)}
          onDone={() => router.refresh()}
        />
      )}
    </div>
  )
}
