import { isDisabled, troublesOf } from '@/contract/operator'
import { count } from '@/contract/words'
import { cn } from '../ui/class-names'
import { LocalTime } from '../ui/local-time'
import { AppLink, EventCounts, TroubleBadges } from './drawn'
import { Fold } from './fold'
import { Enable, OperatorButton } from './operator-button'
import { RetryTasks, TaskTable } from './task-table'
import { DisabledSince, isFailingNow, isTried, Trouble, type TroubleProps } from './trouble'

/** An application counts no more events than this. */
const MAX_EVENTS = 1_000
/** So many deletion tasks of one application are shown unfolded. */
const MAX_OPEN = 3

/** An application that fails, or that deletions wait for: what is wrong, and what can be done. */
export function TroubledApp({ app, lastFetchedAt }: TroubleProps) {
  const { app_id, name, is_past_due: isPast, deliveries, tasks, unreliable } = app
  const label = `Deletions that wait for ${name}`
  const isOff = isDisabled(app)
  const wasWaived = unreliable !== null && unreliable.waived_at !== null
  const canPing = (isTried(app) && isFailingNow(app)) || (wasWaived && !unreliable.polls)
  return (
    <section className="space-y-1">
      <h3 className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <AppLink id={app_id} name={name} />
        <TroubleBadges of={troublesOf(app)} />
        {deliveries && <EventCounts of={deliveries} max={MAX_EVENTS} />}
      </h3>
      <p className="text-ink-muted text-sm empty:hidden">
        {tasks.length > 0 && (
          <span className={cn(isPast && 'font-medium text-danger')}>
            {count(tasks.length, 'deletion')} {tasks.length === 1 ? 'waits' : 'wait'} for it
            {app.first_due_by && (
              <>
                , {tasks.length > 1 && 'the first '}due by <LocalTime dateTime={app.first_due_by} format="date" />
              </>
            )}
            .{' '}
          </span>
        )}
        <Trouble app={app} lastFetchedAt={lastFetchedAt} />
        {isOff && <DisabledSince time={unreliable?.disabled_at} />}
      </p>
      <div className="flex flex-wrap gap-2 pt-2 empty:hidden">
        {isOff && <Enable app={app} />}
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
