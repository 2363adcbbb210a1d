import { CircleCheck } from 'lucide-react'
import Link from 'next/link'
import type { ReactNode } from 'react'
import * as contract from '@/contract/operator'
import { isFailing } from '@/contract/tasks'
import { AWAY, type AwayPart, capped, count, resultOf } from '@/contract/words'
import { Alert } from '../ui/alert'
import { cn } from '../ui/class-names'
import { LocalTime } from '../ui/local-time'
import { RelativeTime } from '../ui/relative-time'
import { textLink } from '../ui/text-link'
import { StepWaitsFor } from './attempts'
import { AppLink, DueBy, EventCounts, type Fields, TroubleBadges, triedStep } from './drawn'
import { Facts } from './facts'
import { Fold } from './fold'
import { Enable, OperatorButton, Retry } from './operator-button'
import { Part, Unread } from './part'
import { StepName } from './step-texts'
import { Table } from './table'
import { RetryTasks, TaskTable, triedTask } from './task-table'
import { TRIES_ITSELF } from './words'

interface NeedsAttentionProps {
  /** The parts that the service misses. */
  away: readonly AwayPart[]
  figures: contract.Figures
  /** When the figures were read. */
  lookedAt: string
  apps: readonly contract.TroubledApp[]
  /** When each application that fetches its tasks last did. */
  lastFetches: ReadonlyMap<string, string | null>
  withdrawals: readonly contract.TroubledWithdrawal[]
  /** A part could not be read. */
  isUnread: boolean
  /** More fails than the page shows. */
  isCut: boolean
}

type Name = (typeof contract.ALARMS)[number]
/** What to do about it. */
const HINTS: Record<Name, ReactNode> = {
  past_due: (
    <Link className={textLink} href="/admin/withdrawals">
      The list of deletions begins with them.
    </Link>
  ),
  still_present: 'Retry each of these deletion tasks, or stop waiting for its app.',
  undeliverable: (
    <Link className={textLink} href="/admin/undeliverable">
      Reach these people another way.
    </Link>
  ),
  unwarned:
    'Nobody read at the old address that the address is to change. The event account.security_notice_undelivered names each account: reach these people another way.',
  failed_notices: 'The mail server took none of the attempts: check that it runs and takes mails of this service.',
}

/** What an operator should look at, each thing once. */
export function NeedsAttention({
  away,
  figures,
  lookedAt,
  apps,
  lastFetches,
  withdrawals,
  isUnread,
  isCut,
}: NeedsAttentionProps) {
  const shown = apps.flatMap(({ tasks }) => tasks).filter(({ state }) => state === 'present').length
  // A row says each of these, unless there are more than the page shows.
  const alarms = contract.alarmsIn(figures).filter((name) => name !== 'still_present' || figures[name] !== shown)
  const isCalm = !isUnread && away.length + alarms.length + apps.length + withdrawals.length === 0
  return (
    <Part id="needs-attention" title="Needs attention" description={isCut && 'There is more than this page shows.'}>
      {isCalm && (
        <p className="flex items-center gap-3 text-ink-muted">
          <CircleCheck className="size-5 shrink-0 text-success" aria-hidden />
          <span>
            Nothing is late, and nothing fails. Last looked at <LocalTime dateTime={lookedAt} format="time" />.
          </span>
        </p>
      )}
      <div className="divide-y divide-line *:py-5 *:first:pt-0 *:last:pb-0 empty:hidden">
        {isUnread && <Unread />}
        {away.length > 0 && (
          <div className="space-y-2">
            {away.map((part) => (
              <Alert key={part} tone="warning" title={AWAY[part]} />
            ))}
          </div>
        )}
        {alarms.length > 0 && (
          <Facts
            of={contract.figures}
            row={figures}
            fields={Object.fromEntries(alarms.map((name) => [name, hinted(name)]))}
          />
        )}
        {withdrawals.length > 0 && (
          <div>
            <Table
              label="Deletions that fail"
              of={contract.troubledWithdrawal}
              rows={withdrawals}
              id="withdrawal_id"
              fields={WITHDRAWAL}
              actions={retryButton}
            />
          </div>
        )}
        {apps.map((app) => (
          <App key={app.app_id} app={app} lastFetchedAt={lastFetches.get(app.app_id) ?? null} />
        ))}
      </div>
    </Part>
  )
}

const hinted = (name: Name) => (figures: contract.Figures) => (
  <>
    <b className="font-semibold text-danger">{capped(figures[name], contract.MAX_COUNTED)}</b>{' '}
    <span className="ms-2">{HINTS[name]}</span>
  </>
)

const WITHDRAWAL: Fields<typeof contract.troubledWithdrawal> = {
  withdrawal_id: true,
  due_by: ({ due_by, is_past_due }) => <DueBy time={due_by} isPast={is_past_due} />,
  deletion_steps: ({ deletion_steps }) =>
    deletion_steps.map((step) => (
      <p key={step.step}>
        <StepName step={step.step} />{' '}
        <span className="text-ink-muted">
          {step.is_overdue && (step.attempts > 0 ? 'Late. ' : 'Nobody has run it in time. ')}
          <StepWaitsFor step={step} />
        </span>
      </p>
    )),
}

const retryButton = ({ withdrawal_id: id, deletion_steps, tasks }: contract.TroubledWithdrawal) => (
  <Retry
    operation="retryWithdrawal"
    params={{ withdrawalId: id }}
    of={id}
    tried={[...deletion_steps.map(triedStep), ...tasks.map(triedTask)]}
  />
)

/** An application counts no more events than this. */
const MAX_EVENTS = 1_000
/** So many deletion tasks of one application are shown unfolded. */
const MAX_OPEN = 3

function App({ app, lastFetchedAt }: TroubleProps) {
  const { app_id, name, is_past_due: isPast, deliveries, tasks, unreliable } = app
  const label = `Deletions that wait for ${name}`
  const isDisabled = contract.isDisabled(app)
  const wasWaived = unreliable !== null && unreliable.waived_at !== null
  const canPing = (isTried(app) && isFailingNow(app)) || (wasWaived && !unreliable.polls)
  return (
    <section className="space-y-1">
      <h3 className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <AppLink id={app_id} name={name} />
        <TroubleBadges of={contract.troublesOf(app)} />
        {tasks.length > 0 && (
          <span className={cn('text-sm', isPast ? 'font-medium text-danger' : 'text-ink-muted')}>
            {count(tasks.length, 'deletion')} {tasks.length === 1 ? 'waits' : 'wait'} for it
            {app.first_due_by && (
              <>
                , {tasks.length > 1 && 'the first '}due by <LocalTime dateTime={app.first_due_by} format="date" />
              </>
            )}
            .
          </span>
        )}
        {deliveries && <EventCounts of={deliveries} max={MAX_EVENTS} />}
      </h3>
      <p className="text-ink-muted text-sm empty:hidden">
        <Trouble app={app} lastFetchedAt={lastFetchedAt} />
        {isDisabled && (
          <>
            Disabled
            {unreliable?.disabled_at && (
              <>
                {' '}
                since <LocalTime dateTime={unreliable.disabled_at} />
              </>
            )}
            . It is told nothing, and deletions wait for it until it is enabled.
          </>
        )}
      </p>
      <div className="flex flex-wrap gap-2 pt-2 empty:hidden">
        {isDisabled && <Enable app={app} />}
        <RetryTasks tasks={tasks} of={name} />
        {canPing && (
          <OperatorButton
            operation="pingApp"
            params={{ appId: app_id }}
            label="Ping"
            of={name}
            outcome={`Pinged: ${name}.`}
          />
        )}
      </div>
      {tasks.length > 0 && (
        <Fold summary={label} isLong={tasks.length > MAX_OPEN}>
          <div className="mt-2 border-line border-s-2 ps-4">
            <TaskTable label={label} tasks={tasks} fields={{ withdrawal_id: true }} />
          </div>
        </Fold>
      )}
    </section>
  )
}

interface TroubleProps {
  app: contract.TroubledApp
  /** When one that fetches its tasks last did; null if it never did. */
  lastFetchedAt: string | null
}

const isFailingNow = ({ deliveries, tasks }: contract.TroubledApp) => deliveries !== null || tasks.some(isFailing)
/** Whether anything of it is called without anybody doing anything. */
const isTried = (app: contract.TroubledApp) =>
  !contract.isDisabled(app) &&
  ((app.deliveries?.waiting ?? 0) > 0 ||
    app.tasks.some(({ polls, state }) => !polls && (state === 'pending' || state === 'calling')))

/** What is wrong with an application, since when, and what to do. */
export function Trouble({ app, lastFetchedAt }: TroubleProps) {
  const { deliveries, tasks, unreliable } = app
  const failing = tasks.filter(isFailing)
  const lastAnswer = failing[0]?.last_error
  const since = failing.flatMap(({ failing_since }) => failing_since ?? []).toSorted()[0]
  return (
    <>
      {since && (
        <>
          No good answer to a deletion task since <LocalTime dateTime={since} />
          {lastAnswer && `: ${resultOf(lastAnswer)}`}.{' '}
        </>
      )}
      {deliveries && (
        <>
          Its events fail, the first one <RelativeTime dateTime={deliveries.since} isOver />
          {deliveries.last_error && deliveries.last_error !== lastAnswer && `: ${resultOf(deliveries.last_error)}`}.{' '}
          {deliveries.dead > 0 &&
            'Events that were given up are sent again only by “Send again what was given up” on the page of the app. '}
        </>
      )}
      {isTried(app) && (isFailingNow(app) ? `${TRIES_ITSELF} ` : 'It is being asked now. ')}
      {!app.problem &&
        tasks.some(({ state }) => state === 'accepted') &&
        'It has accepted the task and is still to report that the deletion is done. Without a report in time it is asked again by itself. '}
      {unreliable?.waived_at && !lastAnswer && (
        <>
          An operator last stopped waiting for it on <LocalTime dateTime={unreliable.waived_at} />; its last result was:{' '}
          {unreliable.waived_error && resultOf(unreliable.waived_error)}.{' '}
          {unreliable.polls
            ? 'Once it has done a deletion, this is gone.'
            : 'Once it is fixed, ping it: after a good answer this is gone.'}{' '}
        </>
      )}
      {app.leaves_tasks &&
        (lastFetchedAt ? (
          <>
            It fetches its deletion tasks itself, and last asked for them on <LocalTime dateTime={lastFetchedAt} />:
            check that it runs.{' '}
          </>
        ) : (
          'It fetches its deletion tasks itself, and has never asked for them: check that it runs. '
        ))}
    </>
  )
}
