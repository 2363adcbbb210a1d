import { maskAddress } from '@/contract/address'
import { addEvent } from '../applications/events'
import { type AuditActor, addAudit } from '../audit'
import type { AnyContext, Transaction } from '../context'
import { undoWindowEnd } from '../limits/held-addresses'
import { defineNotice } from '../mail/define-notice'
import { addNotice, type FirstTry } from '../mail/notice-queue'
import type { NotMeLink, Origin } from '../ports'
import { type ChangeFacts, readChange } from './change-of-notice'
import { notMeUrl } from './not-me-token'

interface ChangedFacts extends ChangeFacts, Origin {
  hasPassword: boolean
  /** The old address was verified, and nobody has said that its mailbox is lost. Any other learns nothing of the person. */
  isOldProven: boolean
}

/** `lost`: the old address was not proven when the change took effect. Its letter lets nobody undo anything, so nobody hears when it comes back. */
type Recipient = 'old' | 'lost' | 'new'

export const emailChanged = defineNotice<ChangedFacts, Recipient>({
  name: 'email_changed',
  keep: ({ changeId }) => ({ changeId }),
  recipients: {
    old: ({ oldEmail }) => oldEmail,
    lost: ({ oldEmail }) => oldEmail,
    new: ({ newEmail }) => newEmail,
  },
  // A lost mailbox gets the letter that tells nothing of the person.
  reachesLost: ['old', 'lost'],
  message: (
    ctx,
    { changeId, userName, hasPassword, oldEmail, newEmail, at, ipAddress, userAgent, isOldProven },
    recipient,
  ) =>
    recipient === 'lost' || (recipient === 'old' && !isOldProven)
      ? { template: 'email-changed-unproven', oldEmail, newEmailMasked: maskAddress(newEmail), changedAt: at }
      : {
          template: 'email-changed',
          userName,
          hasPassword,
          oldEmail,
          newEmail,
          changedAt: at,
          ipAddress,
          userAgent,
          notMe: recipient === 'old' ? undoLink(ctx, changeId, at) : null,
        },
  read: (ctx, notice) =>
    readChange(
      ctx,
      notice,
      ({ has_password, is_old_proven, requested_at, closed_at, closed_ip, closed_user_agent }) => ({
        hasPassword: has_password,
        isOldProven: is_old_proven,
        at: closed_at ?? requested_at,
        ipAddress: closed_ip ?? '',
        userAgent: closed_user_agent ?? '',
      }),
    ),
})

/** Null if verified changes cannot be undone. */
const undoLink = (ctx: AnyContext, changeId: string, changedAt: Date): NotMeLink | null =>
  ctx.limits.undoWindowMs > 0 ? { url: notMeUrl(ctx, changeId), until: undoWindowEnd(ctx, changedAt) } : null

interface Changed extends Omit<ChangedFacts, keyof Origin> {
  userId: string
  locale: string | null
  by: AuditActor
}

/** Tells applications, the audit and both mailboxes of an address that was replaced. */
export async function notifyOfChange(tx: Transaction, { userId, locale, by, ...change }: Changed): Promise<FirstTry> {
  const { changeId, oldEmail, newEmail, at } = change
  const data = { change_request_id: changeId }
  const facts = { ...change, ipAddress: by.ip ?? '', userAgent: by.userAgent ?? '' }
  const of = { userId, locale, at, isSentBySweep: by.actor === 'operator' }
  const [, , firstTry] = await Promise.all([
    addEvent(tx, 'account.email_changed', { userId, data, addresses: { oldEmail, newEmail }, at }),
    addAudit(tx, 'email.changed', { ...by, userId, subject: changeId, at }),
    addNotice(tx, emailChanged, { ...of, recipients: [change.isOldProven ? 'old' : 'lost', 'new'] }, facts),
  ])
  return firstTry
}
