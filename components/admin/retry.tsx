'use client'

import { type ComponentProps, Fragment, useEffect, useState } from 'react'
import { count, resultOf } from '@/contract/words'
import { Alert } from '../ui/alert'
import { RefreshEvery } from '../ui/refresh-every'
import { useServerTime } from '../ui/server-clock'
import { OperatorButton } from './operator-button'
import { useOutcome } from './outcomes'
import type { Tried } from './tried'

interface RetryProps<Name extends 'retryTask' | 'retryWithdrawal'> {
  operation: Name
  params: ComponentProps<typeof OperatorButton<Name>>['params']
  of: string
  /** Without an attempt so far there is nothing to retry. */
  tried: readonly Tried[]
  /** With fewer that a retry tries, or of a deletion that fail, there is no button. */
  least?: number
  /** How many tasks nobody waits for any more: these have not ended by a retry. */
  waived?: number
}

/** Has the next sweep try again what has failed, and says what came of it. */
export function Retry<Name extends 'retryTask' | 'retryWithdrawal'>({
  tried: all,
  least = 1,
  waived = 0,
  ...button
}: RetryProps<Name>) {
  const now = useServerTime()
  const tried = all.filter(({ is_disabled }) => !is_disabled)
  const isHeld = tried.length < all.length
  const attempts = tried.reduce((sum, { attempts }) => sum + attempts, 0)
  const [before, setBefore] = useState<number | null>(null)
  const [isOver, setOver] = useState(false)
  const [waivedBefore, setWaivedBefore] = useState(waived)
  if (waived !== waivedBefore) {
    setWaivedBefore(waived)
    setBefore(null)
  }
  // While a call runs it is counted already, and has no answer yet.
  const isRunning = tried.some(({ due_at }) => due_at !== null && Date.parse(due_at) <= now)
  if (before !== null && !isOver && attempts !== before && !isRunning) setOver(true)
  const failing = tried.filter(({ last_error }) => last_error !== null)
  const isForAll = button.operation === 'retryWithdrawal'
  // Of an application that is disabled nothing tells whether it would fail.
  if (before !== null && isOver && isHeld && failing.length === 0) setBefore(null)
  const good = `No longer fails: ${button.of}.`
  const isSpent = before !== null && isOver && attempts === 0
  useOutcome(before === null || isHeld ? '' : good, isSpent)
  useEffect(() => {
    if (isSpent) setBefore(null)
  }, [isSpent])
  if (attempts === 0) return null
  const shown = (isForAll ? failing : tried).length
  if (before === null && shown < least) return null
  return (
    <>
      <OperatorButton
        label={shown > 1 ? 'Retry all' : 'Retry'}
        later={
          isOver && (
            <Alert
              className="text-start text-ink"
              tone={failing.length > 0 ? 'danger' : 'success'}
              title={failing.length > 0 ? <FailAgain of={failing} areTasks={!isForAll} /> : good}
            />
          )
        }
        onDone={({ retried }) => {
          setBefore(retried === false ? null : attempts)
          setOver(false)
        }}
        {...button}
      />
      {isRunning && before !== null && !isOver && <RefreshEvery seconds={2} />}
    </>
  )
}

const resultsOf = (tried: readonly Tried[]) =>
  [...new Set(tried.flatMap(({ last_error }) => last_error ?? []))].map(resultOf).join(', ')

/** The tasks of one application in number; what else has failed each once, by its name. */
const FailAgain = ({ of, areTasks }: { of: readonly Tried[]; areTasks: boolean }) =>
  areTasks ? (
    `${count(of.length, 'task')} failed again: ${resultsOf(of)}.`
  ) : (
    <>
      Failed again:{' '}
      {[...Map.groupBy(of, ({ name }) => name)].map(([name, each], index) => (
        <Fragment key={each[0]?.id}>
          {index > 0 && '; '}
          {name} ({resultsOf(each)})
        </Fragment>
      ))}
      .
    </>
  )
