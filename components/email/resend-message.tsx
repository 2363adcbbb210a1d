'use client'

import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { VerificationMethod } from '@/contract/email'
import { VERIFICATION_METHODS } from '@/contract/vocabulary'
import { call } from '../load-contract'
import { Button } from '../ui/button'
import { onTheClock } from '../ui/duration'
import { RadioField } from '../ui/field'
import { useServerTime } from '../ui/server-clock'
import { METHOD_TEXTS, type Pending } from './email-status'

interface ResendMessageProps {
  userId: string
  pending: Pending
  renderedAt: string
  onStart: () => void
  onSent: () => Promise<void>
  onError: (error: unknown) => Promise<void>
}

const options = VERIFICATION_METHODS.map((value) => ({ value, label: METHOD_TEXTS[value].first }))

export function ResendMessage({ userId, pending, renderedAt, onStart, onSent, onError }: ResendMessageProps) {
  const [chosen, setChosen] = useState<VerificationMethod>()
  const method = chosen ?? pending.method
  const wait = Math.ceil((Date.parse(pending.resendAvailableAt) - useServerTime(renderedAt)) / 1000)
  const resend = useMutation({
    mutationFn: () =>
      call(
        'resendVerification',
        { userId },
        { change_request_id: pending.changeRequestId, verification_method: method },
      ),
    onMutate: onStart,
    onSuccess: onSent,
    onError,
  })

  return (
    <div className="flex w-full flex-wrap items-center gap-2.5 sm:w-auto">
      <RadioField
        legend="Put first in the next message"
        appearance="segments"
        name="resend_method"
        options={options}
        value={method}
        onChange={(event) => setChosen(event.currentTarget.value as VerificationMethod)}
      />
      <Button
        variant="secondary"
        size="small"
        className="min-w-36 flex-1 tabular-nums sm:flex-none"
        disabled={wait > 0}
        pending={resend.isPending}
        onClick={() => resend.mutate()}
      >
        {wait > 0 ? `Resend in ${onTheClock(wait)}` : 'Resend message'}
      </Button>
    </div>
  )
}
