'use client'

import { CircleCheck } from 'lucide-react'
import { Badge } from '../ui/badge'
import { Card, CardBody, CardHeader } from '../ui/card'
import { Countdown } from '../ui/countdown'
import { RelativeTime } from '../ui/relative-time'
import { useServerTime } from '../ui/server-clock'
import { RetryButton } from './retry-button'

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
  steps: readonly (Trouble & { isOverdue: boolean })[]
  applications: readonly Trouble[]
}

interface TroubledWithdrawalsProps {
  withdrawals: readonly Withdrawal[]
  isCut: boolean
  renderedAt: string
}

export function TroubledWithdrawals({ withdrawals, isCut, renderedAt }: TroubledWithdrawalsProps) {
  return (
    <Card>
      <CardHeader
        title="Needs attention"
        description={
          withdrawals.length > 0 &&
          `Steps that failed or that nobody has run in time, oldest withdrawal first${isCut ? '. There are more than are shown.' : '.'}`
        }
      />
      <CardBody>
        {withdrawals.length > 0 ? (
          <ul className="divide-y divide-line">
            {withdrawals.map((withdrawal) => (
              <TroubledWithdrawal key={withdrawal.withdrawalId} withdrawal={withdrawal} renderedAt={renderedAt} />
            ))}
          </ul>
        ) : (
          <p className="flex items-center gap-3 text-ink-muted">
            <CircleCheck className="size-5 shrink-0 text-success" aria-hidden /> Nothing is late, and nothing fails.
          </p>
        )}
      </CardBody>
    </Card>
  )
}

function TroubledWithdrawal({ withdrawal, renderedAt }: { withdrawal: Withdrawal; renderedAt: string }) {
  const { withdrawalId, startedAt, steps, applications } = withdrawal
  const attempts = steps.reduce((sum, step) => sum + step.attempts, 0)
  return (
    <li className="space-y-4 py-5 first:pt-0 last:pb-0">
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-3">
        <div className="min-w-0">
          <h3 className="wrap-anywhere font-medium font-mono text-sm leading-6">{withdrawalId}</h3>
          <p className="text-ink-muted text-sm">
            Started <RelativeTime dateTime={startedAt.toISOString()} renderedAt={renderedAt} />
          </p>
        </div>
        {/* A withdrawal without a failed attempt has nothing to retry. */}
        {attempts > 0 && <RetryButton withdrawalId={withdrawalId} attempts={attempts} />}
      </div>
      <ul className="space-y-3 border-line border-l-2 pl-4">
        {steps.map(({ isOverdue, ...step }) => (
          <TroubleRow key={step.id} trouble={step} isOverdue={isOverdue} renderedAt={renderedAt} />
        ))}
        {applications.map((application) => (
          <TroubleRow key={application.id} trouble={application} renderedAt={renderedAt} />
        ))}
      </ul>
    </li>
  )
}

interface TroubleRowProps {
  trouble: Trouble
  isOverdue?: boolean
  renderedAt: string
}

function TroubleRow({ trouble, isOverdue = false, renderedAt }: TroubleRowProps) {
  const { id, name, attempts, lastError, nextTryAt } = trouble
  const isDue = nextTryAt.getTime() <= useServerTime(renderedAt)
  return (
    <li className="space-y-0.5">
      <p className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <span className="wrap-anywhere min-w-0 font-medium">{name}</span>
        {id !== name && <span className="wrap-anywhere font-mono text-ink-muted text-sm">{id}</span>}
        {isOverdue && <Badge tone="warning">Overdue</Badge>}
        {lastError && <Badge tone="danger">Failing</Badge>}
      </p>
      <p className="text-ink-muted text-sm tabular-nums">
        {attempts === 0 ? 'Not tried yet' : attempts === 1 ? '1 attempt' : `${attempts} attempts`}
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
