'use client'

import type { Answer } from '@/contract/define'
import type { getEmailStatus, VerificationMethod } from '@/contract/email'
import { DEFAULT_VERIFICATION_METHOD, VERIFICATION_METHODS } from '@/contract/vocabulary'
import { call } from '../api/load-contract'
import { useRenderedQuery } from '../api/use-rendered-query'

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

/**
 * The status that the server rendered. While a change is pending it is also read every 15 seconds. With `changeRequestId` it also tells
 * what became of that change, once it was read.
 */
export const useEmailStatus = (
  userId: string,
  initialData: EmailStatus,
  renderedAt: string,
  changeRequestId?: string,
): EmailStatus =>
  useRenderedQuery({
    queryKey: changeRequestId ? [...emailStatusKey(userId), changeRequestId] : emailStatusKey(userId),
    read: () => call('getEmailStatus', { userId, change_request_id: changeRequestId }),
    initialData,
    renderedAt,
    // The rendered status is fresh enough, unless a countdown needs the service's clock or the change that is asked for is another.
    staleTime: (query) => (query.state.data?.pending_change.has_pending || changeRequestId ? 0 : 10_000),
    refetchInterval: (query) => (query.state.data?.pending_change.has_pending ? 15_000 : false),
  })

/** Whether two addresses, as typed, are one. */
export const isSameAddress = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()

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
