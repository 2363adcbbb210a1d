import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { confirmPasswordReset as contract } from '@/contract/password'
import { addAudit } from '../audit'
import type { LinkContext } from '../context'
import { openLink } from '../mail/linked-account'
import { endSignInLinks } from '../sessions/sign-in-link'
import { sql, statement, text, time } from '../sql'
import { hashNewPassword, lockProven, replaceAndNotify } from './replace-password'
import { requirePasswordSignIn } from './request-password-reset'

const verifyAddress = statement(
  'verify-address-by-link',
  { userId: text, at: time },
  {},
  (v) => sql`UPDATE users SET email_verified_at = ${v.at} WHERE id = ${v.userId}`,
)

/**
 * Ends every session and every access token, and cancels the pending change. The new password ends the link as well. Its use shows that
 * the person reads the address.
 */
export async function confirmPasswordReset(
  ctx: LinkContext,
  { new_password: password }: Input<typeof contract>,
): Promise<Data<typeof contract>> {
  requirePasswordSignIn(ctx)
  const { link, account } = await openLink(ctx, 'password_reset', ctx.linkToken)
  if (password === null) throw new AppError('PASSWORD_001')
  const passwordHash = await hashNewPassword(ctx, { current: account.password_hash, password, person: account })

  const { userId, credentialVersion, emailKey } = link
  await ctx.transaction(async (tx) => {
    const locked = await lockProven(tx, { userId, credentialVersion })
    if (locked?.email_key !== emailKey) throw new AppError('PASSWORD_002')
    const by = { actor: 'reset_link', ip: tx.ip, userAgent: tx.userAgent }
    const at = tx.clock.now()
    await Promise.all([
      replaceAndNotify(tx, { ...locked, email_verified_at: at }, { action: 'password.reset', by, passwordHash }),
      endSignInLinks(tx, userId),
    ])
    if (locked.email_verified_at) return
    await Promise.all([tx.sql(verifyAddress, { userId, at }), addAudit(tx, 'email.verified', { ...by, userId, at })])
  })
  return { password_changed: true }
}
