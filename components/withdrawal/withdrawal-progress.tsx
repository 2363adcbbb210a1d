'use client'

import { Archive, CircleCheck, Hourglass, Link2Off, LoaderCircle } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { StepStatus } from '@/contract/withdrawal'
import { Alert } from '../ui/alert'
import { Badge } from '../ui/badge'
import { Card, CardBody, CardHeader } from '../ui/card'
import { cn } from '../ui/class-names'
import { LocalTime } from '../ui/local-time'
import { useServerTime } from '../ui/server-clock'
import { StatusCard } from '../ui/status-card'
import { Steps } from '../ui/steps'
import { useStatusToken } from './status-token'
import { inOrder, textsOf } from './step-texts'
import { isRefusal, useWithdrawalStatus, type WithdrawalStatus } from './withdrawal-status'

interface WithdrawalProgressProps {
  userId: string
  withdrawalId: string
  renderedAt: string
}

export function WithdrawalProgress(props: WithdrawalProgressProps) {
  const token = useStatusToken()
  if (token === undefined) return <Reading />
  if (token === null) return <NoToken />
  return <Progress key={token} token={token} {...props} />
}

function Progress({ userId, withdrawalId, token, renderedAt }: WithdrawalProgressProps & { token: string }) {
  const { data: status, error } = useWithdrawalStatus({ userId, withdrawalId, token })
  const news = useNews(status)
  if (!status && isRefusal(error)) return <NotThisLink />
  if (!status) return error ? <NoAnswer /> : <Reading />
  const isCompleted = status.status === 'completed'
  const keptUntil = retentionEndOf(status)
  return (
    <div className="space-y-6">
      <p className="sr-only" aria-live="polite">
        {news}
      </p>
      {isCompleted ? <Deleted status={status} /> : <BeingDeleted status={status} renderedAt={renderedAt} />}
      {!isCompleted && error && (
        <Alert tone="warning" role="status" title="This may not be the latest">
          <p>
            {isRefusal(error)
              ? 'This link no longer opens the progress.'
              : 'The service did not answer the last time. The deletion goes on, and this page keeps asking.'}
          </p>
        </Alert>
      )}
      <Card>
        <CardHeader title="Step by step" />
        <CardBody>
          <Steps label="Steps of the deletion" steps={describeSteps(status, renderedAt)} />
        </CardBody>
      </Card>
      <Applications applications={status.applications} renderedAt={renderedAt} />
      <Kept status={status} until={keptUntil} />
      <p className="px-1 text-ink-muted text-sm">
        You can come back to this page with the link in the message that we sent to you
        {keptUntil && (
          <>
            , until <LocalTime dateTime={keptUntil} format="date" />
          </>
        )}
        . No sign-in is needed, so keep the link to yourself.
      </p>
    </div>
  )
}

/** What has been completed since the last answer, for screen readers. */
function useNews(status: WithdrawalStatus | undefined): string {
  const [known, setKnown] = useState(status)
  const [news, setNews] = useState('')
  if (status !== known) {
    setKnown(status)
    if (known && status) setNews(newsBetween(known, status) || news)
  }
  return news
}

function newsBetween(before: WithdrawalStatus, after: WithdrawalStatus): string {
  if (after.status === 'completed') return 'Your account was deleted. All steps are done.'
  const open = new Set(openSteps(before).map(({ step }) => step))
  const done = after.deletion_steps.filter(({ step, status }) => status === 'completed' && open.has(step))
  const titles = inOrder(done).map(({ step }) => textsOf(step).title)
  return titles.length ? `Done: ${titles.join(', ')}. ${countText(after)}.` : ''
}

const openSteps = ({ deletion_steps }: WithdrawalStatus) =>
  deletion_steps.filter(({ status }) => status !== 'completed')

function countText(status: WithdrawalStatus): string {
  const all = status.deletion_steps.length
  return `${all - openSteps(status).length} of ${all} steps done`
}

function describeSteps({ deletion_steps }: WithdrawalStatus, renderedAt: string) {
  return inOrder(deletion_steps).map(({ step, status, completed_at, estimated_completion }) => {
    const time = completed_at ? (
      <>
        Completed <LocalTime dateTime={completed_at} />
      </>
    ) : (
      estimated_completion && <Expected by={estimated_completion} renderedAt={renderedAt} />
    )
    return { id: step, ...textsOf(step), state: stateOf(status), time }
  })
}

/** A status that this page does not know yet counts as in progress. */
const stateOf = (status: string): StepStatus => (status === 'completed' || status === 'pending' ? status : 'processing')

function Expected({ by, renderedAt }: { by: string; renderedAt: string }) {
  const isLate = useServerTime(renderedAt) > Date.parse(by)
  return (
    <>
      {isLate ? 'Was expected by' : 'Expected by'} <LocalTime dateTime={by} />
      {isLate && '; we keep on until it is done'}
    </>
  )
}

function BeingDeleted({ status, renderedAt }: { status: WithdrawalStatus; renderedAt: string }) {
  const isLate = useServerTime(renderedAt) > Date.parse(status.scheduled_completion)
  return (
    <StatusCard
      icon={Hourglass}
      title="Your account is being deleted"
      text={
        isLate ? (
          'Most of it is done. What is left takes longer than planned, and we keep on until it is done. There is nothing left for you to do.'
        ) : (
          <>
            Nobody can sign in any more, and your data is removed step by step. All of it should be done by{' '}
            <LocalTime dateTime={status.scheduled_completion} format="date" />. There is nothing left for you to do.
          </>
        )
      }
    >
      <Meter status={status} />
    </StatusCard>
  )
}

function Meter({ status }: { status: WithdrawalStatus }) {
  return (
    <div className="space-y-2">
      <div className="flex gap-1.5" aria-hidden>
        {inOrder(status.deletion_steps).map(({ step, status }) => {
          const state = stateOf(status)
          return (
            <span
              key={step}
              className={cn(
                'h-1.5 flex-1 rounded-full transition-colors duration-500',
                state === 'completed' && 'bg-success',
                state === 'processing' && 'animate-pulse bg-accent',
                state === 'pending' && 'bg-line',
              )}
            />
          )
        })}
      </div>
      <p className="text-ink-muted text-sm">{countText(status)}</p>
    </div>
  )
}

function Deleted({ status }: { status: WithdrawalStatus }) {
  return (
    <StatusCard
      icon={CircleCheck}
      tone="success"
      title={
        <>
          Your account was deleted
          {status.completed_at && (
            <>
              {' '}
              on <LocalTime dateTime={status.completed_at} format="date" />
            </>
          )}
        </>
      }
      text="Every step is done, and nothing is left for you to do. You can close this page."
    />
  )
}

type Application = WithdrawalStatus['applications'][number]

function Applications({ applications, renderedAt }: { applications: Application[]; renderedAt: string }) {
  return (
    <Card>
      <CardHeader
        title="Applications"
        description={applications.length ? undefined : 'No application was connected to the account.'}
      />
      {applications.length > 0 && (
        <CardBody className="pt-3">
          <ul className="divide-y divide-line">
            {applications.map((application, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two may share a name, and the order never changes.
              <li key={`${application.name} ${index}`} className="space-y-0.5 py-3 last:pb-0">
                <div className="flex items-start justify-between gap-4">
                  <p className="wrap-anywhere min-w-0 font-medium">{application.name}</p>
                  <ApplicationState status={application.status} />
                </div>
                <p className="text-ink-muted text-sm tabular-nums">
                  <ApplicationTime application={application} renderedAt={renderedAt} />
                </p>
              </li>
            ))}
          </ul>
        </CardBody>
      )}
    </Card>
  )
}

const applicationStates = {
  pending: { tone: 'neutral', text: 'Waiting' },
  processing: { tone: 'accent', text: 'In progress' },
  completed: { tone: 'success', text: 'Confirmed' },
} as const

function ApplicationState({ status }: { status: Application['status'] }) {
  const { tone, text } = applicationStates[stateOf(status)]
  return <Badge tone={tone}>{text}</Badge>
}

function ApplicationTime({ application, renderedAt }: { application: Application; renderedAt: string }) {
  const { status, completed_at, next_attempt_at } = application
  const now = useServerTime(renderedAt)
  if (completed_at)
    return (
      <>
        Confirmed <LocalTime dateTime={completed_at} />
      </>
    )
  if (!next_attempt_at || Date.parse(next_attempt_at) <= now) return 'Is being asked to remove you now.'
  return (
    <>
      {status === 'pending' ? 'Will be asked to remove you' : 'Has not confirmed yet. Next attempt'}{' '}
      <LocalTime dateTime={next_attempt_at} />
    </>
  )
}

function Kept({ status, until }: { status: WithdrawalStatus; until: string | null }) {
  const { audit_logs: keepsAuditLogs, retention_period: days } = status.data_retention
  const end = until ? (
    <>
      until <LocalTime dateTime={until} format="date" />
    </>
  ) : (
    `for ${days} days`
  )
  return (
    <Card>
      <CardHeader
        title={`What is kept for ${days} days`}
        description="The logs stay under a pseudonym, without name, address or IP address; then all of it is deleted too."
      />
      <CardBody>
        <dl className="divide-y divide-line">
          <KeptRow what="Transaction audit logs, security incident logs, legal compliance data">
            Kept {end}, as for every account
          </KeptRow>
          <KeptRow what="The record of this deletion: account number, feedback, fingerprints of ended sessions and tokens">
            Kept {end}, so that you can follow it here
          </KeptRow>
          <KeptRow what="Audit logs">
            {keepsAuditLogs ? <>Kept {end}, as you asked</> : 'Not kept: deleted with the last step'}
          </KeptRow>
          <KeptRow what="Analytics data, transaction history">Kept as long only if you asked for it</KeptRow>
        </dl>
      </CardBody>
    </Card>
  )
}

function KeptRow({ what, children }: { what: string; children: ReactNode }) {
  return (
    <div className="gap-x-6 py-3 first:pt-0 last:pb-0 sm:grid sm:grid-cols-2">
      <dt className="font-medium">{what}</dt>
      <dd className="text-ink-muted">{children}</dd>
    </div>
  )
}

const DAY_MS = 24 * 60 * 60 * 1000

/** The end of the retention, which counts from the start of the withdrawal. The start itself completes `session_revocation`. */
function retentionEndOf({ deletion_steps, data_retention }: WithdrawalStatus): string | null {
  const startedAt = deletion_steps.find(({ step }) => step === 'session_revocation')?.completed_at
  return startedAt ? new Date(Date.parse(startedAt) + data_retention.retention_period * DAY_MS).toISOString() : null
}

function Reading() {
  return (
    <StatusCard icon={LoaderCircle} title="Reading how far it is…" text="This takes a moment.">
      <noscript>
        <p>This page needs JavaScript, because the link carries a secret that only the browser reads.</p>
      </noscript>
    </StatusCard>
  )
}

function NoToken() {
  return (
    <StatusCard
      icon={Link2Off}
      tone="warning"
      title="This link is not complete"
      text="The part after the # is missing or damaged. Open the link in the message that confirmed the withdrawal, or copy it whole into the address bar."
    />
  )
}

function NotThisLink() {
  return (
    <StatusCard
      icon={Link2Off}
      tone="warning"
      title="This link does not open the progress"
      text="It was changed on its way, or it belongs to another withdrawal. Open the link in the message that confirmed the withdrawal, or copy it whole into the address bar."
    />
  )
}

export function NothingToRead() {
  return (
    <StatusCard
      icon={Archive}
      tone="neutral"
      title="There is nothing to read here"
      text="Either the address is mistyped, or the time in which the progress can be read is over, as it is some weeks after the start."
    />
  )
}

function NoAnswer() {
  return (
    <Alert tone="danger" role="alert" title="The progress could not be read">
      <p>Check your connection. The deletion goes on meanwhile, and this page keeps asking.</p>
    </Alert>
  )
}
