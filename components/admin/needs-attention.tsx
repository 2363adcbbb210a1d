'use client'

import { CircleCheck } from 'lucide-react'
import type { ReactNode } from 'react'
import type { FailingApp, TroubledWithdrawal } from '@/contract/operator'
import { Badge } from '../ui/badge'
import { Card, CardBody, CardHeader } from '../ui/card'
import { LocalTime } from '../ui/local-time'
import { RelativeTime } from '../ui/relative-time'
import { Attempts } from './attempts'
import { AppLink, WithdrawalLink } from './links'
import { operate } from './operate'
import { Retry } from './retry-button'
import { Row } from './section'
import { StepName } from './step-name'
import { UnreadLine } from './unread'
import { useRetried } from './use-retried'
import { count } from './words'

interface NeedsAttentionProps {
  /** Null where it could not be read. */
  troubled: { withdrawals: readonly TroubledWithdrawal[]; is_cut: boolean } | null
  failing: { apps: readonly FailingApp[] } | null
}

export function NeedsAttention({ troubled, failing }: NeedsAttentionProps) {
  const { withdrawals, is_cut } = troubled ?? { withdrawals: [], is_cut: false }
  const apps = failing?.apps ?? []
  const retried = useRetried(withdrawals.map(({ withdrawal_id }) => withdrawal_id))
  return (
    <Card>
      <CardHeader
        title="Needs attention"
        description={
          withdrawals.length > 0 &&
          `Steps that failed or that nobody has run in time, by due date${is_cut ? '. There are more than are shown.' : '.'}`
        }
      />
      <CardBody>
        <ul className="divide-y divide-line empty:hidden">
          {apps.map((app) => (
            <Failing key={app.app_id} app={app} />
          ))}
          {withdrawals.map((withdrawal) => (
            <Troubled
              key={withdrawal.withdrawal_id}
              withdrawal={withdrawal}
              onRetried={() => retried.add(withdrawal.withdrawal_id, withdrawal.withdrawal_id)}
            />
          ))}
          {(!troubled || !failing) && (
            <li className="py-4 first:pt-0 last:pb-0">
              <UnreadLine />
            </li>
          )}
        </ul>
        {troubled && failing && withdrawals.length + apps.length === 0 && (
          <p className="flex items-center gap-3 text-ink-muted">
            <CircleCheck className="size-5 shrink-0 text-success" aria-hidden /> Nothing is late, and nothing fails.
          </p>
        )}
        <div role="status" className="space-y-1 text-sm not-empty:mt-4">
          {retried.done.map(({ id }) => (
            <p key={id} className="text-success">
              Tried again: nothing of <WithdrawalLink id={id} /> fails any more.
            </p>
          ))}
        </div>
      </CardBody>
    </Card>
  )
}

const MAX_COUNTED = 1_000
const many = (number: number, noun: string) =>
  number > MAX_COUNTED ? `More than ${count(MAX_COUNTED, noun)}` : count(number, noun)

function Failing({ app }: { app: FailingApp }) {
  const { app_id, name, waiting, dead, attempts, since, last_error } = app
  return (
    <Row
      title={<AppLink id={app_id} name={name} />}
      badge={
        <>
          {waiting > 0 && <Badge tone="warning">{many(waiting, 'event')} not delivered</Badge>}
          {dead > 0 && <Badge tone="danger">{many(dead, 'dead letter')}</Badge>}
        </>
      }
    >
      Since <RelativeTime dateTime={since} />, {count(attempts, 'attempt')}
      {last_error && (
        <>
          , last error <span className="font-mono text-ink">{last_error}</span>
        </>
      )}
      <p>
        {waiting > 0 && 'It is tried again by itself; ping it from its page once it should answer. '}
        {dead > 0 && 'What was given up is sent again from its page.'}
      </p>
    </Row>
  )
}

function Troubled({ withdrawal, onRetried }: { withdrawal: TroubledWithdrawal; onRetried: () => void }) {
  const { withdrawal_id: id, started_at, due_by, is_past_due, deletion_steps, tasks } = withdrawal
  const troubles = [...deletion_steps, ...tasks]
  const attempts = troubles.reduce((sum, trouble) => sum + trouble.attempts, 0)
  const lastError = troubles.find((trouble) => trouble.last_error)?.last_error ?? null
  return (
    <li className="space-y-4 py-4 first:pt-0 last:pb-0">
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-3">
        <div className="min-w-0">
          <h3 className="wrap-anywhere font-medium font-mono text-sm leading-6">
            <WithdrawalLink id={id} />
          </h3>
          <p className="text-ink-muted text-sm">
            Started <RelativeTime dateTime={started_at} />
            {due_by && (
              <>
                , due by <LocalTime dateTime={due_by} format="date" />
              </>
            )}
            {is_past_due && (
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
            act={() => operate('retryWithdrawal', { withdrawalId: id })}
            of={id}
            attempts={attempts}
            lastError={lastError}
            onRetried={onRetried}
          />
        )}
      </div>
      <ul className="space-y-3 border-line border-s-2 ps-4">
        {deletion_steps.map((step) => (
          <TroubleRow key={step.step} name={<StepName step={step.step} />} trouble={step} />
        ))}
        {tasks.map((task) => (
          <TroubleRow key={task.task_id} name={task.name} id={task.app_id} trouble={task} />
        ))}
      </ul>
    </li>
  )
}

interface TroubleRowProps {
  name: ReactNode
  /** Shown beside the name. */
  id?: string
  trouble: { attempts: number; last_error: string | null; due_at: string | null; is_overdue?: boolean }
}

function TroubleRow({ name, id, trouble }: TroubleRowProps) {
  const { last_error, is_overdue = false } = trouble
  return (
    <li className="space-y-0.5">
      <p className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <span className="wrap-anywhere min-w-0 font-medium">{name}</span>
        {id && <span className="wrap-anywhere font-mono text-ink-muted text-sm">{id}</span>}
        {is_overdue && <Badge tone="warning">Overdue</Badge>}
        {last_error && <Badge tone="danger">Failing</Badge>}
      </p>
      <p className="text-ink-muted text-sm tabular-nums">
        <Attempts of={trouble} />
      </p>
    </li>
  )
}
