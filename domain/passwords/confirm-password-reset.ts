import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { confirmPasswordReset as contract } from '@/contract/password'
import type { LinkContext } from '../context'
import { integer, literal, sql, statement, text, time } from '../sql'
import { hashNewPassword, NEW_PASSWORD, replaceAndNotify, replaceProvenPassword } from './replace-password'
import { requirePasswordSignIn } from './request-password-reset'
import { isResetTokenOf, readResetToken } from './reset-token'

const findLink = statement(
  'find-reset-link',
  { noticeId: text, now: time },
  { user_id: text, ends_at: time, email_key: text, password_hash: text.orNull, credential_version: integer },
  (v) => sql`SELECT n.user_id, n.expires_at AS ends_at, u.email_key, u.password_hash, u.credential_version
   FROM notices n JOIN users u ON u.id = n.user_id
   WHERE n.id = ${v.noticeId} AND n.kind = 'password_reset' AND n.expires_at > ${v.now} AND u.withdrawn_at IS NULL`,
)

const resetPassword = statement('reset-password', { ...NEW_PASSWORD, emailKey: text }, { id: text }, (v) =>
  replaceAndNotify(v, {
    action: literal('password.reset'),
    actor: sql`'reset_link'`,
    where: sql`email_key = ${v.emailKey}`,
  }),
)

/** What the link of this call opens. Refuses one that was used, is too old, or is not that of the account's present address. */
export async function requireResetLink(ctx: LinkContext) {
  requirePasswordSignIn(ctx)
  const token = readResetToken(ctx.linkToken)
  const [found] = token ? await ctx.sql(findLink, { noticeId: token.noticeId, now: ctx.clock.now() }) : []
  if (!token || !found) throw new AppError('PASSWORD_002')
  const { user_id: userId, email_key: emailKey, credential_version: credentialVersion, ends_at: endsAt } = found
  const { noticeId: linkId, mac } = token
  if (!isResetTokenOf(ctx, mac, { noticeId: linkId, userId, emailKey, credentialVersion, endsAt })) {
    throw new AppError('PASSWORD_002')
  }
  return { linkId, userId, emailKey, credentialVersion, endsAt, passwordHash: found.password_hash }
}

/** Ends every session and every access token, and cancels the pending change. The new password ends the link as well. */
export async function confirmPasswordReset(
  ctx: LinkContext,
  { new_password: password }: Input<typeof contract>,
): Promise<Data<typeof contract>> {
  const { userId, emailKey, credentialVersion, passwordHash: current } = await requireResetLink(ctx)
  if (password === null) throw new AppError('PASSWORD_001')
  const passwordHash = await hashNewPassword(ctx, { current, password })

  const proven = { userId, credentialVersion, ip: ctx.ip, passwordHash }
  if (!(await replaceProvenPassword(ctx, proven, resetPassword, { emailKey }))) throw new AppError('PASSWORD_002')
  return { password_changed: true }
}
