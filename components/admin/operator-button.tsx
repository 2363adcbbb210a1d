'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { type ComponentProps, type ReactNode, useState } from 'react'
import type { Answer, Body, Place } from '@/contract/define'
import type { OPERATOR_OPERATIONS } from '@/contract/operator-operations'
import { ConfirmedButton } from '../forms/confirmed-button'
import { Alert } from '../ui/alert'
import { Button } from '../ui/button'
import { CopyButton } from '../ui/copy-button'
import { FieldError } from '../ui/field'
import { operate, sentenceOf } from './operate'
import { SignInFirst, useNewestAct, useOutcome } from './outcomes'
import { noAnswer } from './words'

type Operations = typeof OPERATOR_OPERATIONS

interface OperatorButtonProps<Name extends keyof Operations> {
  operation: Name
  params: Place<Operations[Name]>
  body?: Body<Operations[Name]>
  label: string
  /** What it acts on, as screen readers say it after the label. */
  of?: string
  /** Given if the button asks first. */
  ask?: Pick<ComponentProps<typeof ConfirmedButton>, 'question' | 'consequence' | 'keep' | 'confirm' | 'confirmVariant'>
  /** Said once the act has made its entry leave the page. */
  outcome?: string
}

const triedAgain = ({ retried }: { retried?: boolean | undefined }) =>
  retried === false ? 'Nothing has failed. What was never tried keeps its time.' : 'Will be tried within a minute.'
/** What the page itself does not show after the act. */
const RESULTS: { [Name in keyof Operations]?: (answer: Answer<Operations[Name]>, of: string) => ReactNode } = {
  pingApp: ({ status, took_ms, problem }, host) => (
    <Alert
      className="text-ink"
      tone={status >= 200 && status < 300 ? 'success' : 'danger'}
      title={
        problem === null
          ? `It answered HTTP ${status} in ${took_ms} ms.`
          : `${noAnswer(problem, host)}, after ${took_ms} ms.`
      }
    />
  ),
  resendDeadLetters: ({ resent }) => `${resent} will be sent again.`,
  retryTask: triedAgain,
  retryWithdrawal: triedAgain,
  rotateAppSecret: ({ signing_secret: secret }) => (
    <Alert className="text-ink" title={<b className="font-semibold">The new signing secret. It is shown this once.</b>}>
      <span className="flex flex-wrap items-center gap-3">
        <code className="wrap-anywhere font-mono text-ink text-sm">{secret}</code>
        <CopyButton text={secret} label="the signing secret" />
      </span>
    </Alert>
  ),
}

/** Calls an operation as the operator. What came of it stands below the buttons. */
export function OperatorButton<Name extends keyof Operations>(props: OperatorButtonProps<Name>) {
  const { operation, params, body, label, of = '', ask, outcome } = props
  const router = useRouter()
  const [result, setResult] = useState<ReactNode>(null)
  const { isNewest, begin, note } = useNewestAct()
  const act = useMutation({
    mutationFn: () => operate(operation, params, body),
    onMutate: () => {
      begin()
      setResult(null)
    },
    onSuccess: (answer) => {
      setResult(RESULTS[operation]?.(answer, of))
      router.refresh()
    },
    onSettled: note,
  })
  // A secret is shown this once.
  const isShown = isNewest || operation === 'rotateAppSecret'
  useOutcome((act.isSuccess && outcome) || '')
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
          {...ask}
          consequence={
            <>
              {ask.consequence} <SignInFirst />
            </>
          }
        />
      ) : (
        <Button variant="secondary" size="small" isPending={act.isPending} onClick={() => act.mutate()}>
          {name}
        </Button>
      )}
      <div className="order-last w-full text-ink-muted empty:sr-only" role="status">
        {isShown && result}
      </div>
      {!ask && (
        <div className="order-last has-[>:empty]:sr-only">
          <FieldError>{isShown && act.error ? sentenceOf(act.error) : undefined}</FieldError>
        </div>
      )}
    </>
  )
}

interface RetryProps<Name extends 'retryTask' | 'retryWithdrawal'> {
  operation: Name
  params: Place<Operations[Name]>
  of: string
  /** The attempts so far; without one there is nothing to retry. */
  attempts: number
}

/** Has the next sweep try again what has failed. Another number of attempts shows that it did. */
export const Retry = <Name extends 'retryTask' | 'retryWithdrawal'>({ attempts, ...button }: RetryProps<Name>) =>
  attempts > 0 && (
    <OperatorButton
      key={attempts}
      label={button.operation === 'retryTask' ? 'Retry' : 'Retry all'}
      outcome={`Tried again: ${button.of}. What still fails stands below, with its new answer.`}
      {...button}
    />
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
