'use client'

import type { Answer } from '@/contract/define'
import type { changeEmail, getEmailStatus } from '@/contract/email'
import { useRenderedQuery } from '../api/use-rendered-query'
import { useHost } from '../host/host'
import { serverNow } from '../ui/server-clock'

export type EmailStatus = Answer<typeof getEmailStatus>

export interface Pending {
  changeRequestId: string
  newEmail: string
  expiresAt: string
  attemptsRemaining: number
  /** Null until the status has been read. */
  resendAvailableAt: string | null
  /** Whether the newest message came back. */
  isUndeliverable: boolean
}

export const emailStatusKey = (userId: string) => ['email-status', userId] as const

/** The interval while a message can come back at any moment, so that the page shows a bounce within two seconds. */
const WATCH_MS = 1_500
/** Another browser may verify the change at any moment, and this page says so within seconds. */
const POLL_MS = 3_000
/** A change may be asked for elsewhere, or a verified one undone. In a page of an adopter each look would renew the person's session there. */
const IDLE_MS = 20_000

/** Messages come back at once or much later: a mail server that cannot deliver one tries for hours. */
export function pollMs(
  { pending_change: pending }: EmailStatus,
  hasBounceReports: boolean,
  looksIdle: boolean,
): number | false {
  if (!pending.has_pending) return looksIdle ? IDLE_MS : false
  const isNew = Date.parse(pending.resend_available_at ?? '') > serverNow()
  return hasBounceReports && isNew && pending.delivery === 'sent' ? WATCH_MS : POLL_MS
}

interface About {
  changeRequestId?: string | undefined
  hasBounceReports?: boolean
}

/**
 * The query of the status. While a change is pending, the query polls every three seconds, and more often while the message is new and
 * bounces are reported; else every twenty, on our own pages. With `changeRequestId` the answer also has the outcome of that change.
 */
export function useReadStatus(userId: string, { changeRequestId, hasBounceReports = false }: About = {}) {
  const { call, hasSessions } = useHost()
  return {
    queryKey: changeRequestId ? [...emailStatusKey(userId), changeRequestId] : emailStatusKey(userId),
    read: () => call('getEmailStatus', { userId, change_request_id: changeRequestId }),
    // The rendered status is fresh enough, unless a countdown needs the service's clock or the change that is asked for is another.
    staleTime: (query: StatusQuery) => (query.state.data?.pending_change.has_pending || changeRequestId ? 0 : 10_000),
    refetchInterval: ({ state: { data, isInvalidated } }: StatusQuery) => {
      if (!data) return false
      // What could not be read since it changed is read until it is known.
      return isInvalidated ? POLL_MS : pollMs(data, hasBounceReports, hasSessions)
    },
  }
}

interface StatusQuery {
  state: { data: EmailStatus | undefined; isInvalidated: boolean }
}

/** The status that the server rendered, then the newest one. */
export const useEmailStatus = (
  userId: string,
  initialData: EmailStatus,
  renderedAt: string,
  about?: About,
): EmailStatus => useRenderedQuery({ ...useReadStatus(userId, about), initialData, renderedAt })

/** Leads to the sign-in within twenty seconds of the end of the session, on pages that read nothing by themselves. */
export function WatchSession(props: { userId: string; initialStatus: EmailStatus; renderedAt: string }) {
  const { userId, initialStatus: initialData, renderedAt } = props
  useRenderedQuery({ ...useReadStatus(userId), initialData, renderedAt, refetchInterval: IDLE_MS })
  return null
}

/** Whether two addresses, as typed, are one. */
export const isSameAddress = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()

/** What the answer to a change tells of the status. */
export const statusAfterChange = (answer: Answer<typeof changeEmail>): Pick<EmailStatus, 'pending_change'> => ({
  pending_change: {
    has_pending: true,
    new_email: answer.new_email,
    requested_at: null,
    expires_at: answer.verification_expires_at,
    change_request_id: answer.change_request_id,
    verification_method: answer.verification_method,
    attempts_remaining: null,
    resend_available_at: null,
    delivery: null,
  },
})

export function pendingOf({ pending_change: pending }: EmailStatus): Pending | null {
  if (!pending.has_pending || !pending.change_request_id || !pending.new_email || !pending.expires_at) return null
  return {
    changeRequestId: pending.change_request_id,
    newEmail: pending.new_email,
    expiresAt: pending.expires_at,
    attemptsRemaining: pending.attempts_remaining ?? Number.POSITIVE_INFINITY,
    resendAvailableAt: pending.resend_available_at,
    isUndeliverable: pending.delivery === 'undeliverable',
  }
}
