'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { ConfirmedButton } from '../forms/confirmed-button'
import { Alert } from '../ui/alert'
import { Button } from '../ui/button'
import { Card, CardBody, CardHeader } from '../ui/card'
import { CopyButton } from '../ui/copy-button'
import { FieldError } from '../ui/field'
import { operate, sentenceOf } from './operate'

interface AppActionsProps {
  appId: string
  isDisabled: boolean
  hasEndpoint: boolean
  givenUp: number
}

/** The operator's buttons for an application. The result stands beside them. */
export function AppActions({ appId, isDisabled, hasEndpoint, givenUp }: AppActionsProps) {
  const router = useRouter()
  const [said, setSaid] = useState('')
  const [secret, setSecret] = useState<string | null>(null)
  const act = useMutation({
    mutationFn: async (name: keyof typeof acts) => setSaid(await acts[name]()),
    onMutate: () => setSaid(''),
    onSuccess: () => router.refresh(),
  })
  const acts = {
    ping: async () => {
      const { status, took_ms, problem } = await operate('pingApp', { appId })
      return problem === null
        ? `It answered HTTP ${status} in ${took_ms} ms.`
        : `It did not answer: ${problem}, after ${took_ms} ms.`
    },
    resend: async () => `${(await operate('resendDeadLetters', { appId })).resent} will be sent again.`,
    enable: async () => {
      await operate('setApp', { appId }, { disabled: false })
      return 'Enabled. Waiting messages will be sent.'
    },
  }
  const button = (name: keyof typeof acts, label: string) => (
    <Button
      variant="secondary"
      size="small"
      isPending={act.isPending && act.variables === name}
      onClick={() => act.mutate(name)}
    >
      {label}
    </Button>
  )
  return (
    <Card>
      <CardHeader title="Actions" />
      <CardBody className="*:not-first:not-empty:mt-4">
        <div className="flex flex-wrap gap-3">
          {hasEndpoint && button('ping', 'Ping')}
          {givenUp > 0 && button('resend', 'Send again what was given up')}
          <ConfirmedButton
            label="Rotate secret"
            question="Rotate the signing secret?"
            consequence="The new secret is shown once. For a day messages are signed with both."
            keep="Keep the secret"
            confirm="Rotate secret"
            act={async () => setSecret((await operate('rotateAppSecret', { appId })).signing_secret)}
            errorText={sentenceOf}
            onDone={() => router.refresh()}
          />
          {isDisabled ? (
            button('enable', 'Enable')
          ) : (
            <ConfirmedButton
              label="Disable"
              question="Disable this application?"
              consequence="It gets no messages while disabled. Withdrawals wait for its deletion tasks."
              keep="Keep it"
              confirm="Disable"
              act={() => operate('setApp', { appId }, { disabled: true })}
              errorText={sentenceOf}
              onDone={() => router.refresh()}
            />
          )}
        </div>
        {secret && (
          <Alert title="The new signing secret, shown this once">
            <span className="flex flex-wrap items-center gap-3">
              <code className="wrap-anywhere font-mono text-sm">{secret}</code>
              <CopyButton text={secret} label="the signing secret" />
            </span>
          </Alert>
        )}
        <p className="text-ink-muted" role="status">
          {said}
        </p>
        <FieldError>{act.error ? sentenceOf(act.error) : undefined}</FieldError>
      </CardBody>
    </Card>
  )
}
