'use client'

import Link from 'next/link'
import type { ReactNode } from 'react'
import type { WatchedTask } from '@/contract/tasks'
import { Badge } from '../ui/badge'
import { Card, CardBody, CardHeader } from '../ui/card'
import { Countdown } from '../ui/countdown'
import { LocalTime } from '../ui/local-time'
import { RelativeTime } from '../ui/relative-time'
import { useServerTime } from '../ui/server-clock'
import { textLink } from '../ui/text-link'
import { FactGrid } from './fact-grid'
import { TaskActions, WaitsFor } from './open-tasks'
import { Retry } from './retry-button'
import { count, inWords, TASK_TONES, WITHDRAWAL_TONES, WITHDRAWAL_WORDS } from './words'

interface Count {
  category: string
  outcome: string
  records: number
}

interface Step {
  step: string
  status: string
  estimatedCompletion: Date
  dueAt: Date | null
  attempts: number
  lastError: string | null
  erasedAt: Date | null
  completedAt: Date | null
  counts: readonly Count[]
}

interface Delivery {
  id: string
  eventId: string
  type: string
  occurredAt: Date
  appId: string
  appName: string
  status: string
  attempts: number
  lastStatus: number | null
  lastError: string | null
  deliveredAt: Date | null
}

interface WithdrawalDetailProps {
  withdrawal: {
    withdrawalId: string
    state: keyof typeof WITHDRAWAL_WORDS
    isPastDue: boolean
    startedAt: Date
    dueBy: Date | null
    scheduledCompletion: Date
    completedAt: Date | null
    purgeDueAt: Date
    purgedAt: Date | null
    receiptDueAt: Date | null
    steps: readonly Step[]
    tasks: readonly WatchedTask[]
    deliveries: readonly Delivery[]
    notices: readonly {
      id: string
      kind: string
      attempts: number
      dueAt: Date | null
      sentAt: Date | null
      failedAt: Date | null
    }[]
    audit: readonly { id: string; action: string; actor: string; requestedBy: string | null; at: Date }[]
    receipts: readonly { kind: string; issuedAt: Date }[]
    isCut: boolean
  }
  renderedAt: string
}

export function WithdrawalDetail({ withdrawal, renderedAt }: WithdrawalDetailProps) {
  const { steps, tasks, deliveries, notices, audit, isCut } = withdrawal
  return (
    <div className="space-y-6">
      <Summary withdrawal={withdrawal} />
      {isCut && <p className="text-ink-muted">There is more than this page shows. The operator command shows all.</p>}
      <Section title="Deletion steps" none="It has no steps." rows={steps}>
        {(step) => <StepRow key={step.step} step={step} renderedAt={renderedAt} />}
      </Section>
      <Section title="Deletion tasks of applications" none="No application has a task." rows={tasks}>
        {(task) => <TaskRow key={task.id} task={task} renderedAt={renderedAt} />}
      </Section>
      <Section title="Events and deliveries" none="No application gets its events." rows={deliveries}>
        {(delivery) => <DeliveryRow key={delivery.id} delivery={delivery} renderedAt={renderedAt} />}
      </Section>
      <Section title="Mail notices" none="No notice is kept." rows={notices}>
        {({ id, kind, attempts, dueAt, sentAt, failedAt }) => (
          <Row key={id} title={inWords(kind)} badge={<NoticeBadge {...{ dueAt, sentAt, failedAt }} />}>
            {count(attempts, 'attempt')}
            {sentAt && (
              <>
                , sent <Ago at={sentAt} renderedAt={renderedAt} />
              </>
            )}
          </Row>
        )}
      </Section>
      <Section title="Audit log" none="Its rows are deleted with the last step." rows={audit}>
        {({ id, action, actor, requestedBy, at }) => (
          <Row key={id} title={inWords(action)}>
            <LocalTime dateTime={at.toISOString()} />, by {inWords(actor).toLowerCase()}
            {requestedBy && `, asked for by ${requestedBy}`}
          </Row>
        )}
      </Section>
    </div>
  )
}

function Summary({ withdrawal }: Pick<WithdrawalDetailProps, 'withdrawal'>) {
  const { withdrawalId, state, isPastDue, steps, tasks, receipts, receiptDueAt } = withdrawal
  const troubles = [...steps, ...tasks, ...withdrawal.deliveries]
  // Deliveries that were made, and tasks that were waived, have no next try and no error.
  const open = troubles.filter(isOpen)
  const attempts = troubles.reduce((sum, trouble) => sum + trouble.attempts, 0)
  const lastError = open.find((trouble) => trouble.lastError)?.lastError ?? null
  const kinds = [...receipts.map(({ kind }) => inWords(kind)), ...(receiptDueAt ? ['one is being written'] : [])]
  const time = (at: Date | null) => at && <LocalTime dateTime={at.toISOString()} />
  return (
    <Card>
      <CardHeader
        title={withdrawalId}
        aside={
          <div className="flex flex-wrap items-center justify-end gap-2">
            <Badge tone={WITHDRAWAL_TONES[state]}>{WITHDRAWAL_WORDS[state]}</Badge>
            {isPastDue && <Badge tone="danger">Past due date</Badge>}
            {/* What was never tried has nothing to retry. */}
            <Retry
              path={`/admin/withdrawals/${encodeURIComponent(withdrawalId)}/retry`}
              of={withdrawalId}
              attempts={attempts}
              lastError={lastError}
              isOpen={open.some((trouble) => trouble.attempts > 0)}
              done="nothing fails any more"
            />
          </div>
        }
      />
      <CardBody>
        <FactGrid
          facts={{
            'Due by': time(withdrawal.dueBy),
            Started: time(withdrawal.startedAt),
            'Planned to be complete': time(withdrawal.scheduledCompletion),
            Completed: time(withdrawal.completedAt),
            'What is kept is purged': withdrawal.purgedAt ? null : time(withdrawal.purgeDueAt),
            Purged: time(withdrawal.purgedAt),
            Receipts: kinds.length > 0 ? kinds.join(', ') : 'None yet',
          }}
        />
      </CardBody>
    </Card>
  )
}

const isOpen = (trouble: Step | WatchedTask | Delivery): boolean => {
  if ('deliveredAt' in trouble) return trouble.deliveredAt === null
  return trouble.completedAt === null && !('waived' in trouble && trouble.waived)
}

interface SectionProps<T> {
  title: string
  none: string
  rows: readonly T[]
  children: (row: T) => ReactNode
}

const Section = <T,>({ title, none, rows, children }: SectionProps<T>) => (
  <Card>
    <CardHeader title={title} />
    <CardBody>
      {rows.length > 0 ? (
        <ul className="divide-y divide-line">{rows.map(children)}</ul>
      ) : (
        <p className="text-ink-muted">{none}</p>
      )}
    </CardBody>
  </Card>
)

interface RowProps {
  title: ReactNode
  badge?: ReactNode
  aside?: ReactNode
  children: ReactNode
}

const Row = ({ title, badge, aside, children }: RowProps) => (
  <li className="flex flex-wrap items-start justify-between gap-x-4 gap-y-3 py-4 first:pt-0 last:pb-0">
    <div className="min-w-0 space-y-0.5">
      <p className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <span className="wrap-anywhere min-w-0 font-medium">{title}</span>
        {badge}
      </p>
      <div className="wrap-anywhere text-ink-muted text-sm tabular-nums">{children}</div>
    </div>
    {aside}
  </li>
)

const Ago = ({ at, renderedAt }: { at: Date; renderedAt: string }) => (
  <RelativeTime dateTime={at.toISOString()} renderedAt={renderedAt} />
)

const OUTCOMES: Record<string, string> = { erased: 'Erased' }

/** “Erased: sessions (4), profile (1)” and “Kept (law): legal records (2)” */
function Counts({ counts }: { counts: readonly Count[] }) {
  const outcomes = Map.groupBy(counts, ({ outcome }) => outcome)
  return [...outcomes].map(([outcome, all]) => (
    <span key={outcome} className="block">
      {OUTCOMES[outcome] ?? `Kept (${inWords(outcome).toLowerCase()})`}:{' '}
      {all
        .map(({ category, records }) => `${category.replaceAll('_', ' ')} (${records.toLocaleString('en')})`)
        .join(', ')}
    </span>
  ))
}

const STEP_TONES: Record<string, 'success' | 'accent'> = { completed: 'success', processing: 'accent' }

function StepRow({ step, renderedAt }: { step: Step; renderedAt: string }) {
  const { status, dueAt, attempts, lastError, erasedAt, completedAt, counts } = step
  const now = useServerTime(renderedAt)
  const isDue = dueAt !== null && dueAt.getTime() <= now
  const { [status]: tone = 'neutral' } = STEP_TONES
  return (
    <Row
      title={inWords(step.step)}
      badge={
        <>
          <Badge tone={tone}>{inWords(status)}</Badge>
          {lastError && <Badge tone="danger">Failing</Badge>}
        </>
      }
    >
      {completedAt ? (
        <span className="block">
          Completed <Ago at={completedAt} renderedAt={renderedAt} />
        </span>
      ) : (
        <span className="block">
          {erasedAt && 'Its own part is done, and it waits for applications. '}
          {attempts > 0 && `${count(attempts, 'attempt')}, `}
          {lastError && (
            <>
              last error <span className="font-mono text-ink">{lastError}</span>,{' '}
            </>
          )}
          {isDue ? 'due now' : dueAt && <NextIn at={dueAt} renderedAt={renderedAt} isFirst={attempts === 0} />}
        </span>
      )}
      <Counts counts={counts} />
    </Row>
  )
}

const NextIn = ({ at, renderedAt, isFirst }: { at: Date; renderedAt: string; isFirst: boolean }) => (
  <>
    {isFirst ? 'runs in ' : 'next try in '}
    <Countdown until={at.toISOString()} renderedAt={renderedAt} />
  </>
)

function TaskRow({ task, renderedAt }: { task: WatchedTask; renderedAt: string }) {
  const { id, appId, appName, phase, state, isAppDisabled, progress, dueAt, completedAt, waived } = task
  return (
    <Row
      title={
        <Link href={`/admin/apps/${appId}`} className={textLink}>
          {appName}
        </Link>
      }
      badge={
        <>
          <Badge tone={TASK_TONES[state]}>{inWords(state)}</Badge>
          {isAppDisabled && <Badge tone="danger">Disabled</Badge>}
          {progress && `${progress.done} of ${progress.total}`}
        </>
      }
      aside={<TaskActions task={task} isOpen={dueAt !== null} />}
    >
      {dueAt && <WaitsFor task={{ ...task, dueAt }} renderedAt={renderedAt} />}
      {waived && `Waived: ${waived.reason}`}
      {completedAt && !waived && (
        <>
          Completed <Ago at={completedAt} renderedAt={renderedAt} />
        </>
      )}
      <span className="block">
        <span className="font-mono text-xs">{id}</span>, {inWords(phase)}
      </span>
    </Row>
  )
}

const DELIVERY_STATES: Record<string, readonly ['success' | 'neutral' | 'danger', string]> = {
  delivered: ['success', 'Delivered'],
  pending: ['neutral', 'Waiting'],
  dead: ['danger', 'Dead letter'],
}

function DeliveryRow({ delivery, renderedAt }: { delivery: Delivery; renderedAt: string }) {
  const { type, status, appId, appName, eventId, occurredAt, attempts, lastStatus, lastError } = delivery
  const { [status]: [tone, label] = ['neutral', inWords(status)] as const } = DELIVERY_STATES
  const answer = lastError ?? (lastStatus ? `HTTP ${lastStatus}` : null)
  return (
    <Row
      title={
        <>
          {type} to{' '}
          <Link href={`/admin/apps/${appId}`} className={textLink}>
            {appName}
          </Link>
        </>
      }
      badge={<Badge tone={tone}>{label}</Badge>}
    >
      <span className="font-mono text-xs">{eventId}</span>, <Ago at={occurredAt} renderedAt={renderedAt} />,{' '}
      {count(attempts, 'attempt')}
      {answer && `, last answer ${answer}`}
    </Row>
  )
}

function NoticeBadge({ dueAt, sentAt, failedAt }: { dueAt: Date | null; sentAt: Date | null; failedAt: Date | null }) {
  if (sentAt) return <Badge tone="success">Sent</Badge>
  if (failedAt) return <Badge tone="danger">Given up</Badge>
  return <Badge>{dueAt ? 'Waiting' : 'Over'}</Badge>
}
