'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { type ComponentProps, Fragment, type ReactNode, useEffect, useRef, useState } from 'react'
import type { Answer, Body, Place } from '@/contract/define'
import type { OPERATOR_OPERATIONS } from '@/contract/operator-operations'
import { isGoodPing } from '@/contract/ping'
import { count, resultOf, resultOfPing } from '@/contract/words'
import { useUntilBack } from '../api/press-error'
import { ConfirmedButton } from '../forms/confirmed-button'
import { Alert } from '../ui/alert'
import { Button } from '../ui/button'
import { FieldError } from '../ui/field'
import { RefreshEvery } from '../ui/refresh-every'
import { useServerTime } from '../ui/server-clock'
import { Copyable } from './copyable'
import { useKeptSecret } from './keep-secret'
import { operate, sentenceOf } from './operate'
import { SignInFirst, useNewestAct, useOutcome, useUndone } from './outcomes'
import { attemptsOf } from './words'

type Operations = typeof OPERATOR_OPERATIONS

interface OperatorButtonProps<Name extends keyof Operations> {
  operation: Name
  /** One place, or several that are called one after the other. */
  params: Place<Operations[Name]> | Place<Operations[Name]>[]
  body?: Body<Operations[Name]>
  label: string
  /** What it acts on, as screen readers say it after the label. */
  of?: string
  /** Given if the button asks first. */
  ask?: Pick<ComponentProps<typeof ConfirmedButton>, 'question' | 'consequence' | 'keep' | 'confirm' | 'confirmVariant'>
  /** Said once the act has made its entry, or the button, leave the page; `true` for the sentence of its result. */
  outcome?: string | true
  /** Said in place of the answer once what the act began has come to an end. */
  later?: ReactNode
  onDone?: (answer: Answer<Operations[Name]>) => void
}

const triedAgain = ({ retried }: { retried?: boolean | undefined }) =>
  retried === false
    ? 'Nothing has failed. What was never tried keeps its time.'
    : 'What failed is tried again within a minute.'
/** What the page itself does not show after the act. */
const RESULTS: {
  [Name in keyof Operations]?: (answer: Answer<Operations[Name]>, of: string, hide: () => void) => ReactNode
} = {
  endAccountSessions: ({ sessions_ended: sessions, tokens_ended: tokens }) =>
    `Signed out everywhere: ${count(sessions, 'session')} and ${count(tokens, 'access token')} ended.`,
  pingApp: (answer, host) => (
    <Alert className="text-ink" tone={isGoodPing(answer) ? 'success' : 'danger'} title={resultOfPing(answer, host)} />
  ),
  resendDeadLetters: ({ resent }) => `${resent} will be sent again.`,
  retryTask: triedAgain,
  retryWithdrawal: triedAgain,
  rotateAppSecret: ({ signing_secret: secret }, _app, hide) => (
    <Alert
      className="text-ink"
      title={<b className="font-semibold">Copy the new signing secret now. It is shown only once.</b>}
    >
      <Copyable text={secret} label="the signing secret" />
      <Button variant="secondary" size="small" onClick={hide}>
        I have copied it
      </Button>
    </Alert>
  ),
}

/** Calls an operation as the operator. What came of it stands below the buttons. */
export function OperatorButton<Name extends keyof Operations>(props: OperatorButtonProps<Name>) {
  const { operation, params, body, label, of = '', ask, outcome, later, onDone } = props
  const router = useRouter()
  const [result, setResult] = useState<ReactNode>(null)
  const opensItself = useUndone(operation, params, body) !== null
  const { isNewest, begin, note } = useNewestAct()
  const status = useRef<HTMLDivElement>(null)
  const hide = () => {
    setResult(null)
    status.current?.focus()
  }
  const act = useMutation({
    mutationFn: async () => {
      const [first, ...others] = [params].flat() as [Place<Operations[Name]>, ...Place<Operations[Name]>[]]
      const answer = await operate(operation, first, body)
      for (const other of others) await operate(operation, other, body)
      return answer
    },
    onMutate: () => {
      begin()
      setResult(null)
    },
    onSuccess: (answer) => {
      setResult(RESULTS[operation]?.(answer, of, hide))
      onDone?.(answer)
      router.refresh()
    },
    onSettled: note,
  })
  const error = useUntilBack(act.error)
  useEffect(() => {
    if (result) status.current?.scrollIntoView({ block: 'nearest' })
  }, [result])
  // A secret is shown this once.
  const isSecret = operation === 'rotateAppSecret'
  const isShown = isNewest || isSecret
  useKeptSecret(isSecret && result !== null)
  useOutcome((act.isSuccess && (outcome === true ? String(result) : outcome)) || '')
  const name = (
    <span>
      {label}
      {of && <span className="sr-only"> {of}</span>}
    </span>
  )
  return (
    <>
      {ask ? (
        <ConfirmedButton
          label={name}
          act={act.mutateAsync}
          errorText={sentenceOf}
          onDone={() => RESULTS[operation] && status.current?.focus()}
          {...ask}
          opensItself={opensItself}
          consequence={
            <>
              {ask.consequence} <SignInFirst act={[operation, params, body]} />
            </>
          }
        />
      ) : (
        <Button variant="secondary" size="small" isPending={act.isPending} onClick={() => act.mutate()}>
          {name}
        </Button>
      )}
      <div
        ref={status}
        tabIndex={-1}
        className="order-last w-full scroll-my-16 outline-none empty:sr-only"
        role="status"
      >
        {isShown && ((act.isSuccess && later) || result)}
      </div>
      {!ask && (
        <div className="order-last has-[>:empty]:sr-only">
          <FieldError>{isShown && error ? sentenceOf(error) : undefined}</FieldError>
        </div>
      )}
    </>
  )
}

/** What a retry has tried again. */
export interface Tried {
  id: string
  /** Who does it. */
  name: ReactNode
  attempts: number
  last_error: string | null
  due_at: string | null
  /** Its application is disabled, and is not called. */
  is_disabled?: boolean
}

interface RetryProps<Name extends 'retryTask' | 'retryWithdrawal'> {
  operation: Name
  params: OperatorButtonProps<Name>['params']
  of: string
  /** Without an attempt so far there is nothing to retry. */
  tried: readonly Tried[]
  /** With fewer there is no button. */
  least?: number
}

/** Has the next sweep try again what has failed, and says what came of it. */
export function Retry<Name extends 'retryTask' | 'retryWithdrawal'>({
  tried: all,
  least = 1,
  ...button
}: RetryProps<Name>) {
  const now = useServerTime()
  const tried = all.filter(({ is_disabled }) => !is_disabled)
  const isHeld = tried.length < all.length
  const attempts = attemptsOf(tried)
  const [before, setBefore] = useState<number | null>(null)
  const [isOver, setOver] = useState(false)
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
  if (before === null && (tried.length < least || (isForAll && failing.length === 0))) return null
  return (
    <>
      <OperatorButton
        label={button.operation === 'retryTask' && tried.length === 1 ? 'Retry' : 'Retry all'}
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

/** Has an application told again what waits for it. */
export const Enable = ({ app: { app_id: appId, name } }: { app: { app_id: string; name: string } }) => (
  <OperatorButton
    operation="setApp"
    params={{ appId }}
    body={{ disabled: false }}
    label="Enable"
    of={name}
    outcome={`Enabled: ${name}. It gets what waits for it.`}
  />
)
