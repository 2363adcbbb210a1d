import { maskAddress } from '@/contract/address'
import { addEvent } from '../applications/events'
import { type AuditActor, addAudit } from '../audit'
import type { AnyContext, Transaction } from '../context'
import { defineNotice } from '../mail/define-notice'
import { addNotice, type FirstTry } from '../mail/notice-queue'
import type { NotMeLink } from '../ports'
import { type ChangeFacts, readChange } from './change-of-notice'
import { notMeUrl } from './not-me-token'

interface ChangedFacts extends ChangeFacts {
  hasPassword: boolean
  ipAddress: string
  /** True if somebody has said, since the first try, that the mailbox of the old address is lost. */
  isOldLost?: boolean
}

/** `lost`: somebody else reads the mailbox of the old address. It gets no link, and the new address masked. */
type OldRecipient = 'old' | 'lost'

export const emailChanged = defineNotice<ChangedFacts, OldRecipient | 'new'>({
  name: 'email_changed',
  keep: ({ changeId }) => ({ changeId }),
  recipients: {
    old: ({ oldEmail }) => oldEmail,
    lost: ({ oldEmail }) => oldEmail,
    new: ({ newEmail }) => newEmail,
  },
  message: (ctx, { changeId, userName, hasPassword, oldEmail, newEmail, at, ipAddress, isOldLost }, recipient) => {
    const isLost = recipient === 'lost' || (recipient === 'old' && isOldLost)
    return {
      template: 'email-changed',
      userName,
      hasPassword,
      oldEmail,
      newEmail: isLost ? maskAddress(newEmail) : newEmail,
      changedAt: at,
      ipAddress,
      notMe: recipient === 'old' && !isLost ? undoLink(ctx, changeId, at) : null,
    }
  },
  read: (ctx, notice) =>
    readChange(ctx, notice, ({ has_password, old_email_key, requested_at, closed_at, closed_ip }) => ({
      hasPassword: has_password,
      isOldLost: old_email_key === null,
      at: closed_at ?? requested_at,
      ipAddress: closed_ip ?? '',
    })),
})

/** Null if verified changes cannot be undone. */
const undoLink = (ctx: AnyContext, changeId: string, changedAt: Date): NotMeLink | null =>
  ctx.limits.undoWindowMs > 0
    ? { url: notMeUrl(ctx, changeId), until: new Date(changedAt.getTime() + ctx.limits.undoWindowMs) }
    : null

interface Changed extends Omit<ChangedFacts, 'ipAddress' | 'isOldLost'> {
  userId: string
  locale: string | null
  by: AuditActor
  oldRecipient?: OldRecipient
}

/** Tells applications, the audit and both mailboxes of an address that was replaced. */
export async function tellEmailChanged(
  tx: Transaction,
  { userId, locale, by, oldRecipient = 'old', ...change }: Changed,
): Promise<FirstTry> {
  const { changeId, oldEmail, newEmail, at } = change
  const data = { change_request_id: changeId }
  const facts = { ...change, ipAddress: by.ip ?? '' }
  const of = { userId, locale, at, isSentBySweep: by.actor === 'operator' }
  const [, , firstTry] = await Promise.all([
    addEvent(tx, 'account.email_changed', { userId, data, addresses: { oldEmail, newEmail }, at }),
    addAudit(tx, 'email.changed', { ...by, userId, subject: changeId, at }),
    addNotice(tx, emailChanged, { ...of, recipients: [oldRecipient, 'new'] }, facts),
  ])
  return firstTry
}
