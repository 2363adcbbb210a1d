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
import { sendCommand } from './send-command'

interface AppActionsProps {
  appId: string
  isDisabled: boolean
  hasEndpoint: boolean
  deadLetters: number
}

/** What an operator can do with an application. What came of it is said beside the buttons. */
export function AppActions({ appId, isDisabled, hasEndpoint, deadLetters }: AppActionsProps) {
  const router = useRouter()
  const [said, setSaid] = useState('')
  const [secret, setSecret] = useState<string | null>(null)
  const act = useMutation({
    mutationFn: async ({ action, say }: Action) => setSaid(say(await ask(appId, action))),
    onMutate: () => setSaid(''),
    onSuccess: () => router.refresh(),
  })
  const isBusy = (action: string) => act.isPending && act.variables.action === action
  return (
    <Card>
      <CardHeader title="Actions" />
      <CardBody className="space-y-4">
        <div className="flex flex-wrap gap-3">
          {hasEndpoint && (
            <Button
              variant="secondary"
              size="small"
              pending={isBusy('ping')}
              onClick={() => act.mutate({ action: 'ping', say: sayPing })}
            >
              Ping
            </Button>
          )}
          {deadLetters > 0 && (
            <Button
              variant="secondary"
              size="small"
              pending={isBusy('resend')}
              onClick={() =>
                act.mutate({ action: 'resend', say: ({ resent }) => `${resent} will be delivered again.` })
              }
            >
              Resend dead letters
            </Button>
          )}
          <ConfirmedButton
            label="Rotate secret"
            question="Rotate the signing secret?"
            consequence="The new secret is shown once. For a day messages are signed with both."
            keep="Keep the secret"
            confirm="Rotate secret"
            act={async () => setSecret(String((await ask(appId, 'rotate-secret')).signing_secret))}
            onDone={() => router.refresh()}
          />
          {isDisabled ? (
            <Button
              variant="secondary"
              size="small"
              pending={isBusy('enable')}
              onClick={() => act.mutate({ action: 'enable', say: () => 'Enabled. Waiting messages will be sent.' })}
            >
              Enable
            </Button>
          ) : (
            <ConfirmedButton
              label="Disable"
              question="Disable this application?"
              consequence="It gets no messages while disabled. Withdrawals wait for its deletion tasks."
              keep="Keep it"
              confirm="Disable"
              act={() => ask(appId, 'disable')}
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
        <p className="text-ink-muted empty:sr-only" role="status">
          {said}
        </p>
        <FieldError id={`${appId}-action-error`}>{act.error?.message}</FieldError>
      </CardBody>
    </Card>
  )
}

type Answered = Record<string, unknown>

interface Action {
  action: string
  say: (answer: Answered) => string
}

const sayPing = ({ status, took_ms, problem }: Answered) =>
  problem === null
    ? `It answered HTTP ${status} in ${took_ms} ms.`
    : `It did not answer: ${problem}, after ${took_ms} ms.`

const ask = (appId: string, action: string) => sendCommand(`/admin/apps/${encodeURIComponent(appId)}/${action}`)
