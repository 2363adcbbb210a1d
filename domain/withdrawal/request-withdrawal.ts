import type { Data, Input } from '@/contract/define'
import type { requestWithdrawal as contract } from '@/contract/withdrawal-request'
import type { LinkContext, Transaction } from '../context'
import { readChange } from '../email/change-of-notice'
import { notMeUrl } from '../email/not-me-token'
import { findReplaced, heldSince } from '../limits/held-addresses'
import { defineNotice } from '../mail/define-notice'
import { defineLinkNotice, type LinkAsked } from '../mail/link-notice'
import type { LinkedAccount } from '../mail/linked-account'
import { linkUrl } from '../mail/links'
import { addNotice } from '../mail/notice-queue'
import { requestLink } from '../mail/request-link'
import { openSealed } from '../sealed'

interface UndoFacts {
  changeId: string
  oldEmail: string
  userName: string
  /** When the link that undoes the change ends. */
  endsAt: Date
  ipAddress: string
}

/** To a replaced address that was asked for with, or beside, the present one: it can undo the change first. */
export const undoBeforeWithdrawal = defineNotice<UndoFacts, 'old'>({
  name: 'undo_before_withdrawal',
  keep: ({ changeId, endsAt: expiresAt, ipAddress }) => ({ changeId, expiresAt, sealed: { ipAddress } }),
  recipients: { old: ({ oldEmail }) => oldEmail },
  message: (ctx, { changeId, userName, endsAt, ipAddress }) => ({
    template: 'undo-before-withdrawal',
    userName,
    notMe: { url: notMeUrl(ctx, changeId), until: endsAt },
    ipAddress,
  }),
  async read(ctx, notice) {
    const opened = openSealed<Pick<UndoFacts, 'ipAddress'>>(ctx, notice.sealed)
    const { expires_at: endsAt } = notice
    return (
      opened &&
      endsAt &&
      readChange(
        ctx,
        notice,
        ({ status, is_old_proven }) => status === 'verified' && is_old_proven && { ...opened, endsAt },
      )
    )
  },
})

export const withdrawalRequested = defineLinkNotice(
  'withdrawal_requested',
  (ctx, { userName, mayOpen, ipAddress, ...link }) =>
    mayOpen
      ? {
          template: 'withdrawal-requested',
          userName,
          link: linkUrl(ctx, 'withdrawal_requested', link),
          endsAt: link.endsAt,
          ipAddress,
        }
      : {
          template: 'withdrawal-by-sign-in',
          userName,
          settingsUrl: ctx.settingsUrl ?? `${ctx.appUrl}/settings/withdraw`,
          ipAddress,
        },
  { tellOthers: tellReplaced },
)

/** While a change can be undone, no mailbox alone deletes the account; each of the person's own earlier ones can undo the change first. */
async function tellReplaced(
  tx: Transaction,
  { user_id: userId, name: userName, locale }: LinkedAccount,
  { ipAddress, at }: LinkAsked,
): Promise<void> {
  const replaced = await findReplaced(tx, { userId, after: heldSince(tx, at) })
  await Promise.all(
    replaced.map(({ id: changeId, old_email: oldEmail, closed_at: closedAt }) => {
      const endsAt = new Date(closedAt.getTime() + tx.limits.undoWindowMs)
      const facts = { changeId, oldEmail, userName, endsAt, ipAddress }
      return addNotice(tx, undoBeforeWithdrawal, { userId, locale, recipients: ['old'], at }, facts)
    }),
  )
}

/** For people who cannot sign in: a mailed link deletes the account. */
export const requestWithdrawal = (
  ctx: LinkContext,
  { email }: Input<typeof contract>,
): Promise<Data<typeof contract>> => requestLink(ctx, withdrawalRequested, email)
