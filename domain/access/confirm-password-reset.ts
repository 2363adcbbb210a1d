import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { confirmPasswordReset as contract } from '@/contract/password'
import type { LinkContext } from '../context'
import { beginDueDeliveries } from '../queue/deliveries'
import { queueNotice } from '../queue/notice-kinds'
import { leaseUntil, sendFirst } from '../queue/notices'
import { audit, statement } from '../sql'
import { lockProvenAccount } from './change-password'
import { hashNewPassword, replacePassword } from './replace-password'
import { requirePasswordSignIn } from './request-password-reset'
import { isResetTokenOf, readResetToken } from './reset-token'

interface LinkRow {
  user_id: string
  ends_at: Date
  email_key: string
  password_hash: string | null
  credential_version: number
}

const findLink = statement<{ noticeId: string; now: Date }, LinkRow>(
  'find-reset-link',
  (v) => `SELECT n.user_id, n.expires_at AS ends_at, u.email_key, u.password_hash, u.credential_version
   FROM notices n JOIN users u ON u.id = n.user_id
   WHERE n.id = ${v.noticeId} AND n.kind = 'password_reset' AND n.expires_at > ${v.now} AND u.withdrawn_at IS NULL`,
)

interface Replace {
  userId: string
  passwordHash: string
  emailKey: string
  now: Date
  eventId: string
  auditId: string
  ip: string
  noticeId: string
  locale: string | null
  sealed: Buffer
  leaseUntil: Date
}

const resetPassword = statement<Replace, { id: string }>(
  'reset-password',
  (
    v,
  ) => `WITH ${replacePassword({ userId: v.userId, passwordHash: v.passwordHash, now: v.now, eventId: v.eventId, where: `email_key = ${v.emailKey}` })},
   notice AS (
     ${queueNotice('password_changed', { from: 'account', id: v.noticeId, user: 'id', locale: v.locale, sealed: v.sealed, at: v.now, leaseUntil: v.leaseUntil })}
   )
   ${audit('password.reset', { from: 'account', id: v.auditId, user: 'id', actor: `'reset_link'`, ip: v.ip, at: v.now })}
   RETURNING id`,
)

/** Ends every session and every access token, and cancels the pending change. The new password ends the link as well. */
export async function confirmPasswordReset(
  ctx: LinkContext,
  { new_password: password }: Input<typeof contract>,
): Promise<Data<typeof contract>> {
  requirePasswordSignIn(ctx)
  const token = readResetToken(ctx.linkToken)
  const [found] = token ? await ctx.sql(findLink, { noticeId: token.noticeId, now: ctx.clock.now() }) : []
  if (!token || !found) throw new AppError('PASSWORD_002')
  const { user_id: userId, email_key: emailKey, credential_version: credentialVersion, ends_at: endsAt } = found
  const { noticeId: linkId, mac } = token
  if (!isResetTokenOf(ctx, mac, { noticeId: linkId, userId, emailKey, credentialVersion, endsAt })) {
    throw new AppError('PASSWORD_002')
  }
  if (password === null) throw new AppError('PASSWORD_001')
  const passwordHash = await hashNewPassword(ctx, { current: found.password_hash, password })

  const { ip } = ctx
  const noticeId = ctx.secrets.randomId('ntc_')
  const told = await ctx.transaction(async (sql) => {
    const [account] = await sql(lockProvenAccount, { userId, credentialVersion })
    if (!account) return null
    const now = ctx.clock.now()
    const facts = { to: account.email, userName: account.name, ipAddress: ip }
    const rows = await sql(resetPassword, {
      userId,
      passwordHash,
      emailKey,
      now,
      eventId: ctx.secrets.randomId('evt_'),
      auditId: ctx.secrets.randomId('aud_'),
      ip,
      noticeId,
      locale: account.locale,
      sealed: ctx.secrets.seal(JSON.stringify(facts)),
      leaseUntil: leaseUntil(now),
    })
    return rows.length > 0 ? { facts: { ...facts, at: now }, locale: account.locale } : null
  })
  if (!told) throw new AppError('PASSWORD_002')
  ctx.background(() => beginDueDeliveries(ctx))
  const { facts, locale } = told
  sendFirst(ctx, { id: noticeId, userId, locale, kind: 'password_changed', recipient: 'sealed' }, facts)
  return { password_changed: true }
}
