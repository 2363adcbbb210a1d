import { AppError, RULES } from '@/contract/errors'
import { beginDueDeliveries } from '../applications/deliveries'
import { type AccountEvent, queueEvent } from '../applications/events'
import type { SystemContext } from '../context'
import { queueNotice } from '../mail/notice-kinds'
import { leaseUntil, sendFirst } from '../mail/notices'
import { endAccess } from '../sessions/end-access'
import {
  auditAs,
  bytes,
  type Described,
  integer,
  NOTHING,
  type Part,
  type Placeholders,
  type Shape,
  type Sql,
  type Statement,
  sql,
  statement,
  text,
  time,
} from '../sql'

interface Replacement {
  /** Each member is a value of the statement. */
  userId: Part
  passwordHash: Part
  now: Part
  /** The id of the event. */
  eventId: Part
  /** Replaces the event `account.password_changed`. */
  event?: { type: AccountEvent; data: Readonly<Record<string, Part>>; addresses: Part }
  /** A further condition on the row of `users`. */
  where?: Part
  /** A further assignment in the same row. */
  set?: Part
  /** The session that does not end. */
  except?: Part
  /** True if no access token and no outside token ends. */
  keepTokens?: Part
}

/**
 * Parts of a statement that replace a password; `account` is the row of `users`, empty if nothing was replaced. Ends all access and
 * the pending change, because an attacker may have created them. Run it after locking the account, so that it sees those of concurrent
 * calls. Call `beginDueDeliveries` after the commit.
 */
export const replacePassword = ({ userId, passwordHash, now, eventId, event, set, ...ending }: Replacement) =>
  sql`${endAccess({
    ...ending,
    user: userId,
    at: now,
    ends: ['sessions', 'tokens'],
    set: sql`password_hash = ${passwordHash}, credential_version = credential_version + 1${set ? sql`, ${set}` : NOTHING}`,
  })}, ${queueEvent(event?.type ?? 'account.password_changed', { ...event, from: sql`account`, user: userId, id: eventId, at: now })}`

/** The hash of a new password. Throws PASSWORD_001 if it is the account's current password. */
export async function hashNewPassword(
  ctx: SystemContext,
  { current, password }: { current: string | null; password: string },
): Promise<string> {
  const signal = ctx.clientGone?.()
  if (current !== null && (await ctx.passwords.verify(current, password, { signal }))) {
    throw new AppError('PASSWORD_001', RULES.currentAsNew)
  }
  return ctx.passwords.hash(password, signal)
}

/** The values that `replaceProvenPassword` gives its statement. */
export const NEW_PASSWORD = {
  userId: text,
  passwordHash: text,
  now: time,
  eventId: text,
  auditId: text,
  ip: text,
  noticeId: text,
  locale: text.orNull,
  sealed: bytes,
  leaseUntil: time,
} satisfies Shape
export type NewPassword = Described<typeof NEW_PASSWORD>

/** A whole statement: replaces the password, queues the notice and writes the audit row, or does nothing. */
export const replaceAndNotify = (
  v: Placeholders<NewPassword>,
  { action, actor, ...replacement }: { action: Part; actor: Part; where: Part; except?: Part },
) => sql`WITH ${replacePassword({ userId: v.userId, passwordHash: v.passwordHash, now: v.now, eventId: v.eventId, ...replacement })},
   notice AS (
     ${queueNotice('password_changed', { from: sql`account`, id: v.noticeId, user: sql`id`, locale: v.locale, sealed: v.sealed, at: v.now, leaseUntil: v.leaseUntil })}
   )
   ${auditAs(action, { from: sql`account`, id: v.auditId, user: sql`id`, actor, ip: v.ip, at: v.now })}
   RETURNING id`

const lockProvenAccount = statement(
  'lock-proven-account',
  { userId: text, credentialVersion: integer },
  { name: text, email: text, locale: text.orNull },
  (v) => sql`SELECT name, email, locale FROM users
   WHERE id = ${v.userId} AND credential_version = ${v.credentialVersion} AND withdrawn_at IS NULL FOR UPDATE`,
)

interface Proven {
  userId: string
  /** The version of the password that was proven; nothing happens if it has changed. */
  credentialVersion: number
  ip: string
  passwordHash: string
}

/**
 * Locks the account, runs the statement and sends its notice. False if the password is no longer the proven one, or the statement
 * found nothing to replace.
 */
export async function replaceProvenPassword<More extends object>(
  ctx: SystemContext,
  { userId, credentialVersion, ip, passwordHash }: Proven,
  replace: Statement<NewPassword & More, { id: string }>,
  more: More,
  keepAnswer?: (sql: Sql) => Promise<void>,
): Promise<boolean> {
  const noticeId = ctx.secrets.randomId('ntc_')
  const replaced = await ctx.transaction(async (sql) => {
    const [account] = await sql(lockProvenAccount, { userId, credentialVersion })
    if (!account) return null
    const { name: userName, email: to, locale } = account
    const now = ctx.clock.now()
    const facts = { to, userName, ipAddress: ip }
    const rows = await sql(replace, {
      ...more,
      userId,
      passwordHash,
      now,
      eventId: ctx.secrets.randomId('evt_'),
      auditId: ctx.secrets.randomId('aud_'),
      ip,
      noticeId,
      locale,
      sealed: ctx.secrets.seal(JSON.stringify(facts)),
      leaseUntil: leaseUntil(now),
    })
    if (rows.length === 0) return null
    await keepAnswer?.(sql)
    return { facts: { ...facts, at: now }, locale }
  })
  if (!replaced) return false
  ctx.background(() => beginDueDeliveries(ctx))
  const { facts, locale } = replaced
  sendFirst(ctx, { id: noticeId, userId, locale, kind: 'password_changed', recipient: 'sealed' }, facts)
  return true
}
