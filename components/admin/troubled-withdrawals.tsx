'use client'

import { CircleCheck } from 'lucide-react'
import Link from 'next/link'
import { Badge } from '../ui/badge'
import { Card, CardBody, CardHeader } from '../ui/card'
import { Countdown } from '../ui/countdown'
import { LocalTime } from '../ui/local-time'
import { RelativeTime } from '../ui/relative-time'
import { useServerTime } from '../ui/server-clock'
import { textLink } from '../ui/text-link'
import { Retry } from './retry-button'
import { useAsked } from './use-asked'
import { count, inWords } from './words'

interface Trouble {
  id: string
  name: string
  attempts: number
  lastError: string | null
  nextTryAt: Date
}

interface Withdrawal {
  withdrawalId: string
  startedAt: Date
  dueBy: Date
  steps: readonly (Trouble & { isOverdue: boolean })[]
  applications: readonly Trouble[]
}

interface TroubledWithdrawalsProps {
  withdrawals: readonly Withdrawal[]
  isCut: boolean
  renderedAt: string
}

export function TroubledWithdrawals({ withdrawals, isCut, renderedAt }: TroubledWithdrawalsProps) {
  const asked = useAsked(withdrawals.map(({ withdrawalId }) => withdrawalId))
  return (
    <Card>
      <CardHeader
        title="Needs attention"
        description={
          withdrawals.length > 0 &&
          `Steps that failed or that nobody has run in time, by due date${isCut ? '. There are more than are shown.' : '.'}`
        }
      />
      <CardBody>
        {withdrawals.length > 0 ? (
          <ul className="divide-y divide-line">
            {withdrawals.map((withdrawal) => (
              <TroubledWithdrawal
                key={withdrawal.withdrawalId}
                withdrawal={withdrawal}
                renderedAt={renderedAt}
                onAsked={() => asked.ask(withdrawal.withdrawalId, withdrawal.withdrawalId)}
              />
            ))}
          </ul>
        ) : (
          <p className="flex items-center gap-3 text-ink-muted">
            <CircleCheck className="size-5 shrink-0 text-success" aria-hidden /> Nothing is late, and nothing fails.
          </p>
        )}
        <div role="status" className="space-y-1 text-sm not-empty:mt-4">
          {asked.done.map(({ id }) => (
            <p key={id} className="text-success">
              Tried again: nothing of{' '}
              <Link href={`/admin/withdrawals/${id}`} className={textLink}>
                {id}
              </Link>{' '}
              fails any more.
            </p>
          ))}
        </div>
      </CardBody>
    </Card>
  )
}

interface TroubledWithdrawalProps {
  withdrawal: Withdrawal
  renderedAt: string
  onAsked: () => void
}

function TroubledWithdrawal({ withdrawal, renderedAt, onAsked }: TroubledWithdrawalProps) {
  const { withdrawalId, startedAt, dueBy, steps, applications } = withdrawal
  const isPastDue = dueBy.getTime() <= useServerTime(renderedAt)
  const troubles = [...steps, ...applications]
  const attempts = troubles.reduce((sum, trouble) => sum + trouble.attempts, 0)
  const lastError = troubles.find((trouble) => trouble.lastError)?.lastError ?? null
  return (
    <li className="space-y-4 py-5 first:pt-0 last:pb-0">
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-3">
        <div className="min-w-0">
          <h3 className="wrap-anywhere font-medium font-mono text-sm leading-6">
            <Link href={`/admin/withdrawals/${withdrawalId}`} className={textLink}>
              {withdrawalId}
            </Link>
          </h3>
          <p className="text-ink-muted text-sm">
            Started <RelativeTime dateTime={startedAt.toISOString()} renderedAt={renderedAt} />, due by{' '}
            <LocalTime dateTime={dueBy.toISOString()} format="date" />
            {isPastDue && (
              <>
                {' '}
                <Badge tone="danger">Past due date</Badge>
              </>
            )}
          </p>
        </div>
        {/* A withdrawal without a failed attempt has nothing to retry. */}
        {attempts > 0 && (
          <Retry
            path={`/admin/withdrawals/${encodeURIComponent(withdrawalId)}/retry`}
            of={withdrawalId}
            attempts={attempts}
            lastError={lastError}
            onAsked={onAsked}
          />
        )}
      </div>
      <ul className="space-y-3 border-line border-s-2 ps-4">
        {steps.map(({ isOverdue, ...step }) => (
          <TroubleRow
            key={step.id}
            trouble={{ ...step, name: inWords(step.id) }}
            isOverdue={isOverdue}
            renderedAt={renderedAt}
          />
        ))}
        {applications.map((application) => (
          <TroubleRow key={application.id} trouble={application} idShown renderedAt={renderedAt} />
        ))}
      </ul>
    </li>
  )
}

interface TroubleRowProps {
  trouble: Trouble
  isOverdue?: boolean
  idShown?: boolean
  renderedAt: string
}

function TroubleRow({ trouble, isOverdue = false, idShown = false, renderedAt }: TroubleRowProps) {
  const { id, name, attempts, lastError, nextTryAt } = trouble
  const isDue = nextTryAt.getTime() <= useServerTime(renderedAt)
  return (
    <li className="space-y-0.5">
      <p className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <span className="wrap-anywhere min-w-0 font-medium">{name}</span>
        {idShown && <span className="wrap-anywhere font-mono text-ink-muted text-sm">{id}</span>}
        {isOverdue && <Badge tone="warning">Overdue</Badge>}
        {lastError && <Badge tone="danger">Failing</Badge>}
      </p>
      <p className="text-ink-muted text-sm tabular-nums">
        {attempts === 0 ? 'Not tried yet' : count(attempts, 'attempt')}
        {lastError && (
          <>
            , last error <span className="wrap-anywhere font-mono text-ink">{lastError}</span>
          </>
        )}
        {', '}
        {isDue ? (
          'due now'
        ) : (
          <>
            next try in <Countdown until={nextTryAt.toISOString()} renderedAt={renderedAt} />
          </>
        )}
      </p>
    </li>
  )
}
