'use client'

import type { ShownStep, ShownWithdrawal } from '@/contract/operator'
import { Badge } from '../ui/badge'
import { Card, CardBody, CardHeader } from '../ui/card'
import { LocalTime } from '../ui/local-time'
import { RelativeTime } from '../ui/relative-time'
import { Attempts } from './attempts'
import { DeliveryRow } from './delivery-list'
import { FactGrid } from './fact-grid'
import { operate } from './operate'
import { Retry } from './retry-button'
import { Row, Section } from './section'
import { StepName } from './step-name'
import { isOpenTask, TaskRow } from './task-row'
import { count, toLabel, WITHDRAWAL_TONES, WITHDRAWAL_WORDS } from './words'

interface WithdrawalDetailProps {
  withdrawal: ShownWithdrawal
}

export function WithdrawalDetail({ withdrawal }: WithdrawalDetailProps) {
  const { deletion_steps, tasks, deliveries, notices, audit, is_cut } = withdrawal
  return (
    <div className="space-y-6">
      <Summary withdrawal={withdrawal} />
      {is_cut && <p className="text-ink-muted">There is more than this page shows.</p>}
      <Section title="Deletion steps" none="It has no steps." rows={deletion_steps}>
        {(step) => <StepRow key={step.step} step={step} />}
      </Section>
      <Section title="Deletion tasks of applications" none="No application has a task." rows={tasks}>
        {(task) => (
          <TaskRow key={task.task_id} task={task}>
            <span className="font-mono text-xs">{task.task_id}</span>, <StepName step={task.phase} />
          </TaskRow>
        )}
      </Section>
      <Section title="Events and deliveries" none="No application gets its events." rows={deliveries}>
        {(delivery) => <DeliveryRow key={delivery.webhook_id} delivery={delivery} />}
      </Section>
      <Section title="Mail notices" none="No notice is kept." rows={notices}>
        {(notice) => (
          <Row key={notice.notice_id} title={toLabel(notice.kind)} badge={<NoticeBadge notice={notice} />}>
            {count(notice.attempts, 'attempt')}
            {notice.sent_at && (
              <>
                , sent <RelativeTime dateTime={notice.sent_at} />
              </>
            )}
          </Row>
        )}
      </Section>
      <Section title="Audit log" none="Its rows are deleted with the last step." rows={audit}>
        {({ audit_id, action, actor, requested_by, at }) => (
          <Row key={audit_id} title={toLabel(action)}>
            <LocalTime dateTime={at} />, by {toLabel(actor).toLowerCase()}
            {requested_by && `, asked for by ${requested_by}`}
          </Row>
        )}
      </Section>
    </div>
  )
}

function Summary({ withdrawal }: Pick<WithdrawalDetailProps, 'withdrawal'>) {
  const { withdrawal_id, status, is_past_due, deletion_steps, tasks, deliveries, receipts } = withdrawal
  const troubles = [...deletion_steps, ...tasks, ...deliveries]
  // Deliveries that were made, and tasks that were waived, have no next try and no error.
  const open = [
    ...deletion_steps.filter((step) => step.completed_at === null),
    ...tasks.filter(isOpenTask),
    ...deliveries.filter((delivery) => delivery.delivered_at === null),
  ]
  const attempts = troubles.reduce((sum, trouble) => sum + trouble.attempts, 0)
  const lastError = open.find((trouble) => trouble.last_error)?.last_error ?? null
  const kinds = [
    ...receipts.map(({ kind }) => toLabel(kind)),
    ...(withdrawal.receipt_due_at ? ['one is being written'] : []),
  ]
  const time = (at: string | null) => at && <LocalTime dateTime={at} />
  return (
    <Card>
      <CardHeader
        title={withdrawal_id}
        aside={
          <div className="flex flex-wrap items-center justify-end gap-2">
            <Badge tone={WITHDRAWAL_TONES[status]}>{WITHDRAWAL_WORDS[status]}</Badge>
            {is_past_due && <Badge tone="danger">Past due date</Badge>}
            {/* What was never tried has nothing to retry. */}
            <Retry
              act={() => operate('retryWithdrawal', { withdrawalId: withdrawal_id })}
              of={withdrawal_id}
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
            'Due by': time(withdrawal.due_by),
            Started: time(withdrawal.started_at),
            'Planned to be complete': time(withdrawal.scheduled_completion),
            Completed: time(withdrawal.completed_at),
            'What is kept is purged': withdrawal.purged_at ? null : time(withdrawal.purge_due_at),
            Purged: time(withdrawal.purged_at),
            Receipts: kinds.length > 0 ? kinds.join(', ') : 'None yet',
          }}
        />
      </CardBody>
    </Card>
  )
}

/** “Deleted: sessions (4), profile (1)” and “Kept (law): legal records (2)” */
function Counts({ step: { erased = [], retained = [] } }: { step: ShownStep }) {
  const outcomes = Map.groupBy(
    [...erased.map((one) => ({ ...one, reason: null })), ...retained],
    ({ reason }) => reason,
  )
  return [...outcomes].map(([reason, all]) => (
    <span key={reason} className="block">
      {reason ? `Kept (${toLabel(reason).toLowerCase()})` : 'Deleted'}:{' '}
      {all
        .map(({ category, records }) => `${category.replaceAll('_', ' ')} (${records.toLocaleString('en')})`)
        .join(', ')}
    </span>
  ))
}

const STEP_TONES = { completed: 'success', processing: 'accent', pending: 'neutral' } as const

function StepRow({ step }: { step: ShownStep }) {
  const { status, last_error, erased_at, completed_at } = step
  return (
    <Row
      title={<StepName step={step.step} />}
      badge={
        <>
          <Badge tone={STEP_TONES[status]}>{toLabel(status)}</Badge>
          {last_error && <Badge tone="danger">Failing</Badge>}
        </>
      }
    >
      {completed_at ? (
        <span className="block">
          Completed <RelativeTime dateTime={completed_at} />
        </span>
      ) : (
        <span className="block">
          {erased_at && 'Its own part is done, and it waits for applications. '}
          <Attempts of={step} />
        </span>
      )}
      <Counts step={step} />
    </Row>
  )
}

function NoticeBadge({ notice: { due_at, sent_at, failed_at } }: { notice: ShownWithdrawal['notices'][number] }) {
  if (sent_at) return <Badge tone="success">Sent</Badge>
  if (failed_at) return <Badge tone="danger">Given up</Badge>
  return <Badge>{due_at ? 'Waiting' : 'Over'}</Badge>
}
