import { CircleCheck } from 'lucide-react'
import Link from 'next/link'
import type { ReactNode } from 'react'
import type { Figures, TroubledApp, TroubledWithdrawal } from '@/contract/operator'
import { Badge } from '../ui/badge'
import { Disclosure } from '../ui/disclosure'
import { LocalTime } from '../ui/local-time'
import { RelativeTime } from '../ui/relative-time'
import { textLink } from '../ui/text-link'
import { Attempts } from './attempts'
import { AppLink, idLink } from './drawn'
import { Part, Unread } from './part'
import { Retried } from './retried'
import { Retry } from './retry-button'
import { StepName } from './step-texts'
import { TaskTable } from './task-table'
import { count } from './words'

interface NeedsAttentionProps {
  figures: Figures
  apps: readonly TroubledApp[]
  withdrawals: readonly TroubledWithdrawal[]
  /** How many accounts get no mail, such as “20+”; null for none. */
  undeliverable: string | null
  /** A part could not be read. */
  isUnread: boolean
  /** More fails than the page shows. */
  isCut: boolean
}

/** What an operator should look at, each thing once. */
export function NeedsAttention({ figures, apps, withdrawals, undeliverable, isUnread, isCut }: NeedsAttentionProps) {
  const { past_due, unwarned, failed_notices } = figures
  const entries = [
    ...withdrawals.map((withdrawal) => <Withdrawal key={withdrawal.withdrawal_id} withdrawal={withdrawal} />),
    ...apps.map((app) => <App key={app.app_id} app={app} />),
    past_due ? (
      <Entry key="past_due" title={`Past their due date: ${count(past_due, 'withdrawal')}`}>
        The{' '}
        <Link href="/admin/withdrawals" className={textLink}>
          list of withdrawals
        </Link>{' '}
        begins with them.
      </Entry>
    ) : null,
    unwarned ? (
      <Entry key="unwarned" title={`Came back: ${count(unwarned, 'security mail')}`}>
        In the last 30 days. At the old address nobody read that the address was changed.
      </Entry>
    ) : null,
    failed_notices ? (
      <Entry key="failed_notices" title={`Given up: ${count(failed_notices, 'mail')}`}>
        In the last 30 days. The mail server took none of the attempts.
      </Entry>
    ) : null,
    undeliverable && (
      <Entry key="undeliverable" title={`Addresses that take no mail: ${undeliverable}`}>
        <Link href="/admin/undeliverable" className={textLink}>
          Reach these people
        </Link>{' '}
        another way.
      </Entry>
    ),
  ].filter(Boolean)
  const retriable = [
    ...withdrawals.map(({ withdrawal_id }) => withdrawal_id),
    ...apps.flatMap(({ tasks }) => tasks.map(({ task_id }) => task_id)),
  ]
  return (
    <Part title="Needs attention" description={isCut && 'There is more than this page shows.'}>
      <Retried listed={retriable}>
        {isUnread && <Unread />}
        {entries.length > 0 ? (
          <ul className="divide-y divide-line">{entries}</ul>
        ) : (
          !isUnread && (
            <p className="flex items-center gap-3 text-ink-muted">
              <CircleCheck className="size-5 shrink-0 text-success" aria-hidden /> Nothing is late, and nothing fails.
            </p>
          )
        )}
      </Retried>
    </Part>
  )
}

interface EntryProps {
  title: ReactNode
  badges?: ReactNode
  aside?: ReactNode
  children: ReactNode
}

const Entry = ({ title, badges, aside, children }: EntryProps) => (
  <li className="flex flex-wrap items-start justify-between gap-x-4 gap-y-3 py-4 first:pt-0 last:pb-0">
    <div className="min-w-0 grow basis-64 space-y-0.5">
      <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <h3 className="wrap-anywhere font-medium">{title}</h3>
        {badges}
      </div>
      <div className="wrap-anywhere text-ink-muted text-sm tabular-nums">{children}</div>
    </div>
    {aside}
  </li>
)

function Withdrawal({ withdrawal }: { withdrawal: TroubledWithdrawal }) {
  const { withdrawal_id: id, started_at, due_by, is_past_due, deletion_steps, tasks } = withdrawal
  const troubles = [...deletion_steps, ...tasks]
  const attempts = troubles.reduce((sum, trouble) => sum + trouble.attempts, 0)
  return (
    <Entry
      title={idLink('withdrawals')(id)}
      badges={is_past_due && <Badge tone="danger">Past its due date</Badge>}
      // A withdrawal without a failed attempt has nothing to retry.
      aside={
        attempts > 0 && (
          <Retry
            id={id}
            kind="withdrawal"
            of={id}
            attempts={attempts}
            lastError={troubles.find((trouble) => trouble.last_error)?.last_error ?? null}
          />
        )
      }
    >
      Started <RelativeTime dateTime={started_at} />
      {due_by && (
        <>
          , due by <LocalTime dateTime={due_by} format="date" />
        </>
      )}
      {deletion_steps.map((step) => (
        <p key={step.step}>
          <StepName step={step.step} />: {step.is_overdue && 'nobody has run it in time. '}
          <Attempts of={step} />
        </p>
      ))}
    </Entry>
  )
}

const MAX_COUNTED = 1_000
const many = (number: number, noun: string) =>
  number > MAX_COUNTED ? `More than ${count(MAX_COUNTED, noun)}` : count(number, noun)
/** So many deletion tasks are shown without a click. */
const MAX_OPEN = 3

function App({ app: { app_id, name, deliveries, tasks } }: { app: TroubledApp }) {
  return (
    <Entry
      title={<AppLink id={app_id} name={name} />}
      badges={
        <>
          {tasks.length > 0 && <Badge tone="danger">{count(tasks.length, 'deletion')} waiting</Badge>}
          {deliveries && deliveries.waiting > 0 && (
            <Badge tone="warning">{many(deliveries.waiting, 'event')} not delivered</Badge>
          )}
          {deliveries && deliveries.dead > 0 && <Badge tone="danger">{many(deliveries.dead, 'event')} given up</Badge>}
        </>
      }
    >
      {deliveries && (
        <p>
          Its events fail since <RelativeTime dateTime={deliveries.since} />, {count(deliveries.attempts, 'attempt')}
          {deliveries.last_error && (
            <>
              , last answer <span className="font-mono text-ink">{deliveries.last_error}</span>
            </>
          )}
          .
        </p>
      )}
      <p>
        It is tried again by itself; ping it from its page once it should answer.
        {deliveries && deliveries.dead > 0 && ' What was given up is sent again from its page.'}
      </p>
      {tasks.length > 0 && (
        <Disclosure summary={`Deletions that wait for ${name}`} open={tasks.length <= MAX_OPEN}>
          <div className="mt-1 border-line border-s-2 ps-4">
            <TaskTable
              label={`Deletions that wait for ${name}`}
              tasks={tasks}
              fields={{ withdrawal_id: true }}
              none=""
            />
          </div>
        </Disclosure>
      )}
    </Entry>
  )
}
