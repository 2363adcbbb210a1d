'use client'

import { Countdown } from '../ui/countdown'
import { useServerTime } from '../ui/server-clock'
import { count } from './words'

interface AttemptsProps {
  of: { attempts: number; last_error: string | null; due_at: string | null }
}

/** “3 attempts, last error ECONNREFUSED, next try in 4 minutes” */
export function Attempts({ of: { attempts, last_error, due_at } }: AttemptsProps) {
  const now = useServerTime()
  return (
    <>
      {attempts === 0 ? 'Not tried yet' : count(attempts, 'attempt')}
      {last_error && (
        <>
          , last error <span className="wrap-anywhere font-mono text-ink">{last_error}</span>
        </>
      )}
      {due_at &&
        (Date.parse(due_at) <= now ? (
          ', due now'
        ) : (
          <>
            {attempts === 0 ? ', runs in ' : ', next try in '}
            <Countdown until={due_at} />
          </>
        ))}
    </>
  )
}
