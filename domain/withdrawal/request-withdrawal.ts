import type { Data, Input } from '@/contract/define'
import type { requestWithdrawal as contract } from '@/contract/withdrawal-request'
import type { LinkContext } from '../context'
import { defineLinkNotice } from '../mail/link-notice'
import { linkUrl } from '../mail/links'
import { requestLink } from '../mail/request-link'

export const withdrawalRequested = defineLinkNotice(
  'withdrawal_requested',
  (ctx, { userName, mayOpen, ipAddress, ...link }, recipient) =>
    mayOpen && recipient === 'sealed'
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
)

/** For people who cannot sign in: a mailed link deletes the account. */
export const requestWithdrawal = (
  ctx: LinkContext,
  { email }: Input<typeof contract>,
): Promise<Data<typeof contract>> => requestLink(ctx, withdrawalRequested, email)
