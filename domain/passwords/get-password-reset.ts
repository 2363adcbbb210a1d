import type { Data } from '@/contract/define'
import type { getPasswordReset as contract } from '@/contract/password'
import type { LinkContext } from '../context'
import { takeReadPlaceOf } from '../limits/reads'
import { openLink } from '../mail/linked-account'
import { requirePasswordSignIn } from './request-password-reset'

/** So that a person whose link is used up or too old learns it before they choose a password. */
export async function getPasswordReset(ctx: LinkContext): Promise<Data<typeof contract>> {
  requirePasswordSignIn(ctx)
  const { link, account } = await openLink(ctx, 'password_reset', ctx.linkToken)
  // After the check, so that a link that does not work is answered without limit headers, like a wrong one.
  takeReadPlaceOf(ctx, link.noticeId)
  return { works_until: link.endsAt.toISOString(), email: account.email }
}
