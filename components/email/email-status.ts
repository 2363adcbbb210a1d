'use client'

import type { Answer } from '@/contract/define'
import type { getEmailStatus, VerificationMethod } from '@/contract/email'
import { DEFAULT_VERIFICATION_METHOD, VERIFICATION_METHODS } from '@/contract/vocabulary'
import { call } from '../load-contract'
import { useRenderedQuery } from '../use-rendered-query'

export type EmailStatus = Answer<typeof getEmailStatus>

export interface Pending {
  changeRequestId: string
  newEmail: string
  expiresAt: string
  method: VerificationMethod
  attemptsRemaining: number
  resendAvailableAt: string
}

interface MethodTexts {
  label: string
  description: string
  /** What to do while a change is pending. */
  pending: string
  /** The choice for the next message. */
  first: string
}

export const METHOD_TEXTS: Record<VerificationMethod, MethodTexts> = {
  email_code: {
    label: 'Code',
    description: 'Type six digits on this page',
    pending: 'We sent a message to this address. Enter the code from it, or open its link.',
    first: 'Code first',
  },
  email_link: {
    label: 'Link',
    description: 'Open it and press one button',
    pending: 'We sent a message to this address. Open its link, or enter its code here.',
    first: 'Link first',
  },
}

export const emailStatusKey = (userId: string) => ['email-status', userId] as const

/** The status that the server rendered. While a change is pending it is also read every 15 seconds. */
export const useEmailStatus = (userId: string, initialData: EmailStatus, renderedAt: string): EmailStatus =>
  useRenderedQuery({
    queryKey: emailStatusKey(userId),
    read: () => call('getEmailStatus', { userId }),
    initialData,
    renderedAt,
    // The rendered status is fresh enough, unless a countdown needs the service's clock.
    staleTime: (query) => (query.state.data?.pending_change.has_pending ? 0 : 10_000),
    refetchInterval: (query) => (query.state.data?.pending_change.has_pending ? 15_000 : false),
  })

export function pendingOf({ pending_change: pending }: EmailStatus): Pending | null {
  if (!pending.has_pending || !pending.change_request_id || !pending.new_email || !pending.expires_at) return null
  return {
    changeRequestId: pending.change_request_id,
    newEmail: pending.new_email,
    expiresAt: pending.expires_at,
    method:
      VERIFICATION_METHODS.find((method) => method === pending.verification_method) ?? DEFAULT_VERIFICATION_METHOD,
    attemptsRemaining: pending.attempts_remaining ?? 0,
    resendAvailableAt: pending.resend_available_at ?? pending.expires_at,
  }
}
