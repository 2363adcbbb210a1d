'use client'

import { useQuery } from '@tanstack/react-query'
import type { Answer } from '@/contract/define'
import { getEmailStatus, type VerificationMethod } from '@/contract/email'
import { call } from '../api'

export type EmailStatus = Answer<typeof getEmailStatus>

export interface Pending {
  changeRequestId: string
  newEmail: string
  expiresAt: string
  method: VerificationMethod
  attemptsRemaining: number
  resendAvailableAt: string
}

export const emailStatusKey = (userId: string) => ['email-status', userId] as const

/** The status as the server rendered it, then as it is: read again on focus, and now and then while a change is pending. */
export function useEmailStatus(userId: string, initial: EmailStatus): EmailStatus {
  const { data } = useQuery({
    queryKey: emailStatusKey(userId),
    queryFn: () => call(getEmailStatus, { userId }),
    initialData: initial,
    refetchOnWindowFocus: 'always',
    refetchInterval: (query) => (query.state.data?.pending_change.has_pending ? 15_000 : false),
  })
  return data
}

export function pendingOf({ pending_change: pending }: EmailStatus): Pending | null {
  if (!pending.has_pending || !pending.change_request_id || !pending.new_email || !pending.expires_at) return null
  return {
    changeRequestId: pending.change_request_id,
    newEmail: pending.new_email,
    expiresAt: pending.expires_at,
    method: pending.verification_method ?? 'email_code',
    attemptsRemaining: pending.attempts_remaining ?? 0,
    resendAvailableAt: pending.resend_available_at ?? pending.expires_at,
  }
}
