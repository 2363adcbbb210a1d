import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { requestPasswordReset as contract } from '@/contract/password'
import type { LinkContext, SystemContext } from '../context'
import { defineLinkNotice } from '../mail/link-notice'
import { linkUrl } from '../mail/links'
import { mailLink, requestLink } from '../mail/request-link'

export const passwordReset = defineLinkNotice(
  'password_reset',
  (ctx, { userName, hasPassword, requestedAt, ipAddress, userAgent, ...link }) => {
    const facts = { userName, requestedAt, ipAddress, userAgent }
    return hasPassword
      ? { template: 'password-reset', ...facts, link: linkUrl(ctx, 'password_reset', link), endsAt: link.endsAt }
      : { template: 'no-password-to-reset', ...facts, provider: ctx.identityProvider?.name ?? null }
  },
)

export async function requestPasswordReset(
  ctx: LinkContext,
  { email }: Input<typeof contract>,
): Promise<Data<typeof contract>> {
  requirePasswordSignIn(ctx)
  return requestLink(ctx, passwordReset, email)
}

/** For support: the person chooses the password, and nobody else ever knows it. Returns the address. */
export async function sendPasswordReset(ctx: SystemContext, userId: string): Promise<string> {
  requirePasswordSignIn(ctx)
  return mailLink(ctx, passwordReset, userId)
}

/** Refuses where nobody signs in with a password. */
export function requirePasswordSignIn(ctx: SystemContext): void {
  if (!ctx.hasPasswordSignIn) throw new AppError('REQUEST_005', 'This service has no passwords.')
}
