import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { changePassword as contract } from '@/contract/password'
import type { Context } from '../context'
import { givePlacesBack, takePlaces, userBucket } from '../limits/buckets'
import { beginDueDeliveries } from '../queue/deliveries'
import { queueNotice } from '../queue/notice-kinds'
import { leaseUntil, sendFirst } from '../queue/notices'
import { audit, statement } from '../sql'
import { type CallerValues, callerValues, isCallerLive, refusalOfEnded } from './live-caller'
import { replacePassword } from './replace-password'

interface Password {
  password_hash: string | null
  credential_version: number
}

const findPassword = statement<{ userId: string }, Password>(
  'find-password',
  (v) => `SELECT password_hash, credential_version FROM users WHERE id = ${v.userId} AND withdrawn_at IS NULL`,
)

interface LockedAccount {
  name: string
  email: string
  locale: string | null
}

/** Only while the password is the one that was proven. */
export const lockProvenAccount = statement<{ userId: string; credentialVersion: number }, LockedAccount>(
  'lock-proven-account',
  (v) => `SELECT name, email, locale FROM users
   WHERE id = ${v.userId} AND credential_version = ${v.credentialVersion} AND withdrawn_at IS NULL FOR UPDATE`,
)

interface Replace extends CallerValues {
  userId: string
  passwordHash: string
  now: Date
  eventId: string
  auditId: string
  ip: string
  noticeId: string
  locale: string | null
  sealed: Buffer
  leaseUntil: Date
}

const replaceOwnPassword = statement<Replace, { id: string }>(
  'change-password',
  (
    v,
  ) => `WITH ${replacePassword({ userId: v.userId, passwordHash: v.passwordHash, now: v.now, eventId: v.eventId, where: isCallerLive(v), except: v.callerId })},
   notice AS (
     ${queueNotice('password_changed', { from: 'account', id: v.noticeId, user: 'id', locale: v.locale, sealed: v.sealed, at: v.now, leaseUntil: v.leaseUntil })}
   )
   ${audit('password.changed', { from: 'account', id: v.auditId, user: 'id', actor: v.callerKind, ip: v.ip, at: v.now })}
   RETURNING id`,
)

/** Ends every other session and every access token, and cancels the pending change. */
export async function changePassword(ctx: Context, input: Input<typeof contract>): Promise<Data<typeof contract>> {
  const { actor, ip } = ctx
  const { userId } = actor
  const { current_password: current, new_password: wanted } = input
  // The buckets of the email change: whoever guesses has five guesses, wherever they are tried.
  const guess = await takePlaces(ctx, {
    take: [userBucket(ctx, 'password', userId), userBucket(ctx, 'passwordDay', userId)],
    code: 'EMAIL_008',
  })
  const proven = await prove(ctx, userId, current).catch(async (error) => {
    // Not looked at, and so not wrong.
    if (!(error instanceof AppError && error.code === 'EMAIL_007')) await givePlacesBack(ctx, guess).catch(() => {})
    throw error
  })
  await givePlacesBack(ctx, guess)
  if (wanted === current)
    throw new AppError('PASSWORD_001', 'new_password is the current password. Choose another one.')
  const passwordHash = await ctx.passwords.hash(wanted)

  const noticeId = ctx.secrets.randomId('ntc_')
  const data = { password_changed: true } as const
  const told = await ctx.transaction(async (sql) => {
    const [account] = await sql(lockProvenAccount, { userId, credentialVersion: proven.credential_version })
    if (!account) return null
    const now = ctx.clock.now()
    const facts = { to: account.email, userName: account.name, ipAddress: ip }
    const rows = await sql(replaceOwnPassword, {
      ...callerValues(actor),
      userId,
      passwordHash,
      now,
      eventId: ctx.secrets.randomId('evt_'),
      auditId: ctx.secrets.randomId('aud_'),
      ip,
      noticeId,
      locale: account.locale,
      sealed: ctx.secrets.seal(JSON.stringify(facts)),
      leaseUntil: leaseUntil(now),
    })
    if (rows.length === 0) return null
    await ctx.keepAnswer?.(sql, data)
    return { facts: { ...facts, at: now }, locale: account.locale }
  })
  if (!told) throw await refusalOfEnded(ctx)
  ctx.background(() => beginDueDeliveries(ctx))
  const { facts, locale } = told
  sendFirst(ctx, { id: noticeId, userId, locale, kind: 'password_changed', recipient: 'sealed' }, facts)
  return data
}

async function prove(ctx: Context, userId: string, current: string): Promise<Password> {
  const [found] = await ctx.sql(findPassword, { userId })
  if (!found) throw new AppError('AUTH_001')
  if (!(await ctx.passwords.verify(found.password_hash ?? undefined, current))) {
    throw new AppError('EMAIL_007', found.password_hash === null ? 'This account has no password.' : undefined)
  }
  return found
}
