'use client'

import { useQuery } from '@tanstack/react-query'
import type { Answer } from '@/contract/define'
import type { getEmailStatus, VerificationMethod } from '@/contract/email'
import { loadCalls } from './load-calls'

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
export function useEmailStatus(userId: string, initial: EmailStatus, renderedAt: string): EmailStatus {
  const { data } = useQuery({
    queryKey: emailStatusKey(userId),
    queryFn: async () => (await loadCalls()).readStatus(userId),
    initialData: initial,
    initialDataUpdatedAt: Date.parse(renderedAt),
    // What the server has just rendered is not asked for again, unless a countdown needs the service's clock.
    staleTime: (query) => (query.state.data?.pending_change.has_pending ? 0 : 10_000),
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
