'use client'

import type { ShownStep } from '@/contract/operator'
import type { ShownTask } from '@/contract/tasks'
import { count, resultOf } from '@/contract/words'
import { Countdown } from '../ui/countdown'
import { LocalTime } from '../ui/local-time'
import { useServerTime } from '../ui/server-clock'
import { Since } from './since'

interface Tried {
  attempts: number
  last_error: string | null
  due_at: string | null
  /** When somebody last had it tried again, if that failed. */
  retried_at?: string | null
  tried_at?: string | null
}

/** “Retried by hand on 29 Nov, 14:03. 3 attempts, last result HTTP 503, next try in 4 minutes” */
export function Attempts({ of: { attempts, last_error, due_at, retried_at, tried_at } }: { of: Tried }) {
  const now = useServerTime()
  return (
    <>
      {retried_at && (
        <span className="block">
          Retried by hand on <LocalTime dateTime={retried_at} format="short" mayBreak />.{' '}
        </span>
      )}
      {attempts === 0 ? 'Not tried yet' : count(attempts, 'attempt')}
      {last_error && (
        <>
          , last result <span className="wrap-anywhere text-ink">{resultOf(last_error)}</span>
          {tried_at && !retried_at && (
            <>
              {' '}
              on <LocalTime dateTime={tried_at} format="short" mayBreak />
            </>
          )}
        </>
      )}
      {due_at &&
        (Date.parse(due_at) <= now ? (
          attempts === 0 ? (
            ', runs now'
          ) : (
            ', next try now'
          )
        ) : (
          <>
            {attempts === 0 ? ', runs in ' : ', next try in '}
            <Countdown until={due_at} />
          </>
        ))}
    </>
  )
}

/** What an open deletion step waits for. Once its own part is done, its tasks are tried, and it tells of them only what failed. */
export function StepWaitsFor({ step }: { step: ShownStep }) {
  if (!step.erased_at)
    return (
      <>
        <Attempts of={step} />.
      </>
    )
  return (
    <>
      Its own part is done, and it waits for apps.
      {step.last_error && (
        <>
          {' '}
          <Attempts of={step} />.
        </>
      )}
    </>
  )
}

/** What an open deletion task waits for. */
export function WaitsFor({ task }: { task: ShownTask }) {
  const { state, polls, last_error, failure_code, due_at } = task
  const now = useServerTime()
  const tried = {
    ...task,
    last_error: last_error && failure_code ? `${resultOf(last_error)}: ${failure_code}` : last_error,
  }
  if (state === 'calling') return tried.attempts > 0 && <Attempts of={{ ...tried, due_at: null }} />
  if (state === 'present') return 'Still has the person after every request: retry it, or stop waiting.'
  if (state === 'unconfirmed') return <WaitsForAbsence task={tried} />
  if (due_at === null) return <>Waits until the app is enabled. {tried.attempts > 0 && <Attempts of={tried} />}</>
  if (state === 'accepted')
    return (
      <>
        Waits for a report, is asked again in <Countdown until={due_at} />
      </>
    )
  if (polls && Date.parse(due_at) <= now)
    return (
      <>
        Has waited <Since time={due_at} /> for the app to fetch it.{' '}
        {tried.attempts > 0 && <Attempts of={{ ...tried, due_at: null }} />}
      </>
    )
  if (polls && tried.attempts === 0)
    return (
      <>
        The app can fetch it in <Countdown until={due_at} />
      </>
    )
  return <Attempts of={tried} />
}

/** The application says that it is done, and is asked once more. */
function WaitsForAbsence({ task }: { task: ShownTask }) {
  const { due_at, attempts, polls } = task
  if (due_at === null) return polls ? 'Waits until the app has an endpoint.' : 'Waits until the app is enabled.'
  if (attempts > 0) return <Attempts of={task} />
  return (
    <>
      Says that it is done. In <Countdown until={due_at} /> it is asked whether the person is absent.
    </>
  )
}

/** When an application is asked for the first time. */
export function FirstRequest({ task: { due_at } }: { task: ShownTask }) {
  const now = useServerTime()
  if (due_at === null) return 'that waits until it is enabled'
  if (Date.parse(due_at) <= now) return 'that is due now'
  return (
    <>
      that is due in <Countdown until={due_at} />
    </>
  )
}
