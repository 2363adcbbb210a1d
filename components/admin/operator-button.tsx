'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { type ComponentProps, type ReactNode, useEffect, useRef, useState } from 'react'
import type { Answer, Body, Place } from '@/contract/define'
import type { OPERATOR_OPERATIONS } from '@/contract/operator-operations'
import { useUntilBack } from '../api/press-error'
import { ConfirmedButton } from '../forms/confirmed-button'
import { Button } from '../ui/button'
import { FieldError } from '../ui/field'
import { useKeptSecret } from './keep-secret'
import { operate, sentenceOf } from './operate'
import { SignInFirst, useNewestAct, useOutcome, useUndone } from './outcomes'
import { RESULTS } from './results'

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
