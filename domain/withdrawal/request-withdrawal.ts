import type { Data, Input } from '@/contract/define'
import type { requestWithdrawal as contract } from '@/contract/withdrawal-request'
import type { LinkContext, Transaction } from '../context'
import { readChange } from '../email/change-of-notice'
import { notMeUrl } from '../email/not-me-token'
import { findReplaced, heldSince, undoWindowEnd } from '../limits/held-addresses'
import { defineNotice } from '../mail/define-notice'
import { defineLinkNotice, type LinkOrigin } from '../mail/link-notice'
import type { LinkedAccount } from '../mail/linked-account'
import { linkUrl } from '../mail/links'
import { addNotice } from '../mail/notice-queue'
import { requestLink } from '../mail/request-link'
import type { Origin } from '../ports'
import { openSealed } from '../sealed'

interface UndoFacts extends Origin {
  changeId: string
  oldEmail: string
  userName: string
  /** When the link that undoes the change ends. */
  endsAt: Date
  /** Until when the account used the address. */
  changedAt: Date
  requestedAt: Date
}

/** To a replaced address that was asked for with, or beside, the present one: it can undo the change first. */
export const undoBeforeWithdrawal = defineNotice<UndoFacts, 'old'>({
  name: 'undo_before_withdrawal',
  keep: ({ changeId, endsAt: expiresAt, ipAddress, userAgent }) => ({
    changeId,
    expiresAt,
    sealed: { ipAddress, userAgent },
  }),
  recipients: { old: ({ oldEmail }) => oldEmail },
  message: (ctx, { changeId, userName, endsAt, changedAt, requestedAt, ipAddress, userAgent }) => ({
    template: 'undo-before-withdrawal',
    userName,
    changedAt,
    notMe: { url: notMeUrl(ctx, changeId), until: endsAt },
    requestedAt,
    ipAddress,
    userAgent,
  }),
  async read(ctx, notice) {
    const opened = openSealed<Pick<UndoFacts, 'ipAddress'> & Partial<Pick<UndoFacts, 'userAgent'>>>(ctx, notice.sealed)
    const { expires_at: endsAt, created_at: requestedAt } = notice
    return (
      opened &&
      endsAt &&
      readChange(
        ctx,
        notice,
        ({ status, is_old_proven, closed_at: changedAt }) =>
          status === 'verified' &&
          is_old_proven &&
          changedAt !== null && { userAgent: '', ...opened, endsAt, changedAt, requestedAt },
      )
    )
  },
})

export const withdrawalRequested = defineLinkNotice(
  'withdrawal_requested',
  (ctx, { userName, mayOpen, heldUntil, linkFrom, requestedAt, ipAddress, userAgent, ...link }) => {
    const facts = { userName, requestedAt, ipAddress, userAgent }
    return mayOpen
      ? {
          template: 'withdrawal-requested',
          ...facts,
          link: linkUrl(ctx, 'withdrawal_requested', link),
          endsAt: link.endsAt,
        }
      : {
          template: 'withdrawal-by-sign-in',
          ...facts,
          heldUntil,
          linkFrom,
          settingsUrl: ctx.settingsUrl ?? `${ctx.appUrl}/settings/withdraw`,
        }
  },
  { notifyOthers: notifyReplaced },
)

/** While a change can be undone, no mailbox alone deletes the account; each of the person's own earlier ones can undo the change first. */
async function notifyReplaced(
  tx: Transaction,
  { user_id: userId, name: userName, locale }: LinkedAccount,
  { at, ...origin }: LinkOrigin,
): Promise<void> {
  const replaced = await findReplaced(tx, { userId, after: heldSince(tx, at) })
  await Promise.all(
    replaced.map(({ id: changeId, old_email: oldEmail, closed_at: changedAt }) => {
      const endsAt = undoWindowEnd(tx, changedAt)
      const facts = { changeId, oldEmail, userName, endsAt, changedAt, requestedAt: at, ...origin }
      return addNotice(tx, undoBeforeWithdrawal, { userId, locale, recipients: ['old'], at }, facts)
    }),
  )
}

/** For people who cannot sign in: a mailed link deletes the account. */
export const requestWithdrawal = (
  ctx: LinkContext,
  { email }: Input<typeof contract>,
): Promise<Data<typeof contract>> => requestLink(ctx, withdrawalRequested, email)
