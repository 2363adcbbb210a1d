'use client'

import { Alert } from '../ui/alert'
import { Announcement } from '../ui/announcement'
import { serverNow } from '../ui/server-clock'
import { type EmailStatus, pendingOf } from './email-status'

/** The end of a change request. The page shows it until the next change is sent. */
export type Notice = { changeRequestId: string; newEmail: string; byPress: boolean } & (
  | { outcome: 'changed'; oldEmail: string; notified: boolean }
  | { outcome: 'cancelled' | 'expired' | 'gone' | 'replaced' }
  | { outcome: 'ended'; text: string }
)

/** What a newer status says about the change that was pending. Another browser may have verified or cancelled it. */
export function noticeBetween(before: EmailStatus, after: EmailStatus): Notice | null {
  const was = pendingOf(before)
  if (!was || pendingOf(after)?.changeRequestId === was.changeRequestId) return null
  const about = { changeRequestId: was.changeRequestId, newEmail: was.newEmail, byPress: false }
  if (after.current_email !== before.current_email)
    return {
      ...about,
      outcome: 'changed',
      newEmail: after.current_email,
      oldEmail: before.current_email,
      notified: true,
    }
  if (pendingOf(after)) return null
  return { ...about, outcome: Date.parse(was.expiresAt) <= serverNow() + 1000 ? 'expired' : 'gone' }
}

export const NoticeAlert = ({ notice }: { notice: Notice }) => (
  <Announcement takesFocus={notice.byPress || 'if-lost'}>
    <NoticeText notice={notice} />
  </Announcement>
)

function NoticeText({ notice }: { notice: Notice }) {
  switch (notice.outcome) {
    case 'changed':
      return (
        <Alert tone="success" title={`Your email address is now ${notice.newEmail}`}>
          <p>
            Sign in with it from now on.{' '}
            {notice.notified ? 'Your old address was told' : 'Your old address will be told'}, and other browsers were
            signed out.
          </p>
        </Alert>
      )
    case 'cancelled':
      return (
        <Alert tone="info" title="The change was cancelled">
          <p>Your current address stays. The code and link sent to {notice.newEmail} no longer work.</p>
        </Alert>
      )
    case 'expired':
      return (
        <Alert tone="warning" title={`The message to ${notice.newEmail} has expired`}>
          <p>Your current address stays. To try again, send a new verification below.</p>
        </Alert>
      )
    case 'gone':
      return (
        <Alert tone="info" title={`The change to ${notice.newEmail} is no longer pending`}>
          <p>It was ended in another place, or its attempts are used up. To change your address, start again below.</p>
        </Alert>
      )
    case 'replaced':
      return (
        <Alert tone="warning" title="This change was replaced or cancelled">
          <p>The code and link sent to {notice.newEmail} no longer work.</p>
        </Alert>
      )
    case 'ended':
      return (
        <Alert tone="warning" title={notice.text}>
          <p>Your current address stays. We kept {notice.newEmail} in the form below.</p>
        </Alert>
      )
  }
}
