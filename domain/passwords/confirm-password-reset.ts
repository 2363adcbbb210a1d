import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { confirmPasswordReset as contract } from '@/contract/password'
import type { LinkContext } from '../context'
import { openLink } from '../mail/linked-account'
import { literal, sql, statement, text } from '../sql'
import { hashNewPassword, NEW_PASSWORD, replaceAndNotify, replaceProvenPassword } from './replace-password'
import { requirePasswordSignIn } from './request-password-reset'

const resetPassword = statement('reset-password', { ...NEW_PASSWORD, emailKey: text }, { id: text }, (v) =>
  replaceAndNotify(v, {
    action: literal('password.reset'),
    actor: sql`'reset_link'`,
    where: sql`email_key = ${v.emailKey}`,
  }),
)

/** Ends every session and every access token, and cancels the pending change. The new password ends the link as well. */
export async function confirmPasswordReset(
  ctx: LinkContext,
  { new_password: password }: Input<typeof contract>,
): Promise<Data<typeof contract>> {
  requirePasswordSignIn(ctx)
  const { link, account } = await openLink(ctx, 'password_reset', ctx.linkToken)
  if (password === null) throw new AppError('PASSWORD_001')
  const passwordHash = await hashNewPassword(ctx, { current: account.password_hash, password })

  const { userId, credentialVersion, emailKey } = link
  const proven = { userId, credentialVersion, ip: ctx.ip, passwordHash }
  if (!(await replaceProvenPassword(ctx, proven, resetPassword, { emailKey }))) throw new AppError('PASSWORD_002')
  return { password_changed: true }
}
