import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { requestPasswordReset as contract } from '@/contract/password'
import type { LinkContext, SystemContext } from '../context'
import { requestLink } from '../mail/request-link'

export async function requestPasswordReset(
  ctx: LinkContext,
  { email }: Input<typeof contract>,
): Promise<Data<typeof contract>> {
  requirePasswordSignIn(ctx)
  return requestLink(ctx, 'password_reset', email)
}

/** Refuses where nobody signs in with a password. */
export function requirePasswordSignIn(ctx: SystemContext): void {
  if (!ctx.hasPasswordSignIn) throw new AppError('REQUEST_005', 'This service has no passwords.')
}
