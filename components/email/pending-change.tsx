'use client'

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import type { Answer } from '@/contract/define'
import type { verifyEmail } from '@/contract/email'
import { ApiError, ERRORS } from '@/contract/errors'
import { fieldText } from '../error-text'
import { call, preloadContract, rulesOf } from '../load-contract'
import { showError } from '../show-error'
import { Alert } from '../ui/alert'
import { LiveRegion } from '../ui/announcement'
import { Badge } from '../ui/badge'
import { Button } from '../ui/button'
import { Card, CardBody, CardFooter, CardHeader } from '../ui/card'
import { Countdown } from '../ui/countdown'
import { ErrorAlert } from '../ui/error-alert'
import { Fact } from '../ui/facts'
import { useFocusOnMount } from '../ui/use-focus-on-mount'
import { CancelChange } from './cancel-change'
import { CodeField } from './code-field'
import { emailStatusKey, METHOD_TEXTS, type Pending } from './email-status'
import { ResendMessage } from './resend-message'

interface PendingChangeProps {
  userId: string
  pending: Pending
  renderedAt: string
  /** True when it appears after a press. */
  takesFocus: boolean
  onVerified: (answer: Answer<typeof verifyEmail>) => void
  onCancelled: () => void
  /** The request can no longer be verified, for the reason in `error`. */
  onEnded: (error: ApiError) => void
}

const resolver = rulesOf((rules) => rules.codeRules)

/** A refusal that ends the request: one that says so, or the wrong code that used the last attempt. */
function endOf(error: unknown, attemptsRemaining: number): ApiError | null {
  if (!(error instanceof ApiError)) return null
  if (error.code === 'EMAIL_003' && attemptsRemaining <= 1)
    return new ApiError('EMAIL_005', ERRORS.EMAIL_005.details, ERRORS.EMAIL_005.status)
  return ['EMAIL_004', 'EMAIL_005', 'EMAIL_006'].includes(error.code) ? error : null
}

/** On a phone the alert may be below the visible part of the page. */
const showWhole = (element: HTMLElement | null) => element?.scrollIntoView({ block: 'nearest' })

export function PendingChange({
  userId,
  pending,
  renderedAt,
  takesFocus,
  onVerified,
  onCancelled,
  onEnded,
}: PendingChangeProps) {
  const queryClient = useQueryClient()
  const heading = useFocusOnMount<HTMLHeadingElement>(takesFocus)
  const [sentAgain, setSentAgain] = useState(false)
  const form = useForm({ resolver })
  const { errors } = form.formState
  const refresh = () => queryClient.invalidateQueries({ queryKey: emailStatusKey(userId) })

  const refused = (error: unknown) => {
    const end = endOf(error, pending.attemptsRemaining)
    if (end) onEnded(end)
    else showError(form, error)
    return refresh()
  }
  const verify = useMutation({
    mutationFn: ({ verification_code }: { verification_code: string }) =>
      call('verifyEmail', { userId }, { change_request_id: pending.changeRequestId, verification_code }),
    onMutate: () => setSentAgain(false),
    onSuccess: async (answer) => {
      onVerified(answer)
      await refresh()
    },
    onError: refused,
  })

  const { attemptsRemaining } = pending
  return (
    <Card>
      <form
        method="post"
        noValidate
        onFocus={preloadContract}
        onSubmit={form.handleSubmit((body) => verify.mutate(body))}
      >
        <CardHeader title="Pending change" headingRef={heading} aside={<Badge tone="warning">Waiting for you</Badge>} />
        <CardBody className="space-y-5 pt-3">
          <div className="space-y-1.5">
            <p className="wrap-anywhere font-medium text-lg leading-7 tracking-[-0.01em]">{pending.newEmail}</p>
            <p className="text-ink-muted">{METHOD_TEXTS[pending.method].pending}</p>
          </div>
          <CodeField
            label="Verification code"
            hint="6 digits. Paste works too."
            error={fieldText(errors.verification_code)}
            action={
              <Button type="submit" pending={verify.isPending} className="h-13 w-full px-6 sm:h-13 sm:w-auto">
                Verify
              </Button>
            }
            {...form.register('verification_code')}
          />
          <ErrorAlert ref={showWhole}>{errors.root?.message}</ErrorAlert>
          <LiveRegion>
            {sentAgain && (
              <Alert tone="success" title="A new message is on its way">
                <p>Use the code or link from it. Earlier ones no longer work.</p>
              </Alert>
            )}
          </LiveRegion>
          <dl className="flex flex-wrap gap-x-8 gap-y-2 text-sm">
            <Fact label="Time left" className="font-medium">
              <Countdown until={pending.expiresAt} renderedAt={renderedAt} />
            </Fact>
            <Fact label="Attempts left" className={attemptsRemaining <= 2 ? 'font-medium text-danger' : 'font-medium'}>
              {attemptsRemaining}
            </Fact>
          </dl>
        </CardBody>
      </form>
      <CardFooter>
        <p className="w-full text-ink-muted text-sm">
          Nothing arrived? Look in the spam folder, or have a new message sent.
        </p>
        <ResendMessage
          userId={userId}
          pending={pending}
          renderedAt={renderedAt}
          // Cleared at the press and not at the answer, because the newest code may be typed before the answer comes.
          onStart={() => {
            setSentAgain(false)
            form.reset({ verification_code: '' })
          }}
          onSent={() => {
            setSentAgain(true)
            return refresh()
          }}
          onError={refused}
        />
        <CancelChange
          userId={userId}
          pending={pending}
          onCancelled={() => {
            onCancelled()
            return refresh()
          }}
          onRefused={refused}
        />
      </CardFooter>
    </Card>
  )
}
