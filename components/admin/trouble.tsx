import { isDisabled, type TroubledApp } from '@/contract/operator'
import { isFailing } from '@/contract/tasks'
import { resultOf } from '@/contract/words'
import { RelativeTime } from '../ui/relative-time'
import { Since, TimeAndAge } from './since'
import { TRIES_ITSELF } from './words'

export interface TroubleProps {
  app: TroubledApp
  /** When one that fetches its tasks last did; null if it never did. */
  lastFetchedAt: string | null
}

export const isFailingNow = ({ deliveries, tasks }: TroubledApp) => deliveries !== null || tasks.some(isFailing)
/** Whether anything of it is called without anybody doing anything. */
export const isTried = (app: TroubledApp) =>
  !isDisabled(app) &&
  ((app.deliveries?.waiting ?? 0) > 0 ||
    app.tasks.some(({ polls, state }) => !polls && (state === 'pending' || state === 'calling')))

export const DisabledSince = ({ time }: { time: string | null | undefined }) => (
  <>
    Disabled
    {time && (
      <>
        {' '}
        <Since time={time} />
      </>
    )}
    . It is told nothing, and deletions wait for it until it is enabled.
  </>
)

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
          No good answer to an open deletion task <Since time={since} />
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
          An operator last stopped waiting for it on <TimeAndAge time={unreliable.waived_at} />; its last result was:{' '}
          {unreliable.waived_error && resultOf(unreliable.waived_error)}.{' '}
          {unreliable.polls
            ? 'Once it has done a deletion, this is gone.'
            : 'Once it is fixed, ping it: after a good answer this is gone.'}{' '}
        </>
      )}
      {app.leaves_tasks &&
        (lastFetchedAt ? (
          <>
            It fetches its deletion tasks itself, and last asked for them on <TimeAndAge time={lastFetchedAt} />: check
            that it runs.{' '}
          </>
        ) : (
          'It fetches its deletion tasks itself, and has never asked for them: check that it runs. '
        ))}
    </>
  )
}
