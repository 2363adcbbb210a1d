'use client'

import { useLocale, useTranslations } from 'use-intl/react'
import { Button } from '../ui/button'
import { formatDuration } from '../ui/duration'
import { useServerTime } from '../ui/server-clock'
import { useResendVerification } from './email-calls'
import type { Pending } from './email-status'

interface ResendMessageProps {
  userId: string
  pending: Pending
  onStart: () => void
  onSent: () => void
  onError: (error: unknown) => unknown
}

export function ResendMessage({ userId, pending, onStart, onSent, onError }: ResendMessageProps) {
  const t = useTranslations('EmailSettings')
  const language = useLocale()
  const now = useServerTime()
  const from = pending.resendAvailableAt
  const wait = from ? Math.ceil((Date.parse(from) - now) / 1000) : 0
  const resend = useResendVerification(userId, { onMutate: onStart, onSuccess: onSent, onError })

  return (
    <Button
      variant="secondary"
      size="small"
      className="w-full tabular-nums sm:w-auto sm:min-w-36"
      disabled={!from || wait > 0}
      isPending={resend.isPending}
      onClick={() => resend.mutate({ change_request_id: pending.changeRequestId })}
    >
      {wait > 0 ? t('resendIn', { time: formatDuration(wait, language) }) : t('resend')}
    </Button>
  )
}
