'use client'

import { useMutation } from '@tanstack/react-query'
import { useTranslations } from 'use-intl/react'
import { useHost } from '../host/host'
import { Button } from '../ui/button'
import { onTheClock } from '../ui/duration'
import { useServerTime } from '../ui/server-clock'
import type { Pending } from './email-status'

interface ResendMessageProps {
  userId: string
  pending: Pending
  renderedAt: string
  onStart: () => void
  onSent: () => Promise<void>
  onError: (error: unknown) => unknown
}

export function ResendMessage({ userId, pending, renderedAt, onStart, onSent, onError }: ResendMessageProps) {
  const t = useTranslations('EmailSettings')
  const { call } = useHost()
  const wait = Math.ceil((Date.parse(pending.resendAvailableAt) - useServerTime(renderedAt)) / 1000)
  const resend = useMutation({
    mutationFn: () => call('resendVerification', { userId }, { change_request_id: pending.changeRequestId }),
    onMutate: onStart,
    onSuccess: onSent,
    onError,
  })

  return (
    <Button
      variant="secondary"
      size="small"
      className="w-full min-w-36 tabular-nums sm:w-auto"
      disabled={wait > 0}
      isPending={resend.isPending}
      onClick={() => resend.mutate()}
    >
      {wait > 0 ? t('resendIn', { time: onTheClock(wait) }) : t('resend')}
    </Button>
  )
}
