import { AppError, RULES } from '@/contract/errors'
import { addEvent } from '../applications/events'
import { type AuditActor, addAudit } from '../audit'
import type { AuditAction } from '../audit-actions'
import type { SystemContext, Transaction } from '../context'
import { ACCOUNT_COLUMNS, LOCKED_ACCOUNT, type LockedAccount } from '../lock-account'
import { defineNotice, sealedFacts } from '../mail/define-notice'
import { addNotice } from '../mail/notice-queue'
import { endAccess } from '../sessions/end-access'
import { integer, sql, statement, text } from '../sql'
import { requireGoodPassword } from './new-password'

interface PasswordFacts {
  /** The account's address at that time, encrypted in the row, because whoever took the account over may change it. */
  to: string
  /** Empty if the address was never verified, because a stranger may read it. */
  userName: string
  /** Missing in rows of an older release. */
  isVerified?: boolean
  at: Date
  ipAddress: string
  /** Missing in rows of an older release. */
  userAgent?: string
  /** Whether the browser that changed it stays signed in. Missing in rows of an older release. */
  keepsBrowser?: boolean
}

export const passwordChanged = defineNotice<PasswordFacts, 'sealed'>({
  name: 'password_changed',
  ...sealedFacts<PasswordFacts>(),
  message: (_ctx, { userName, isVerified = true, at, ipAddress, userAgent = '', keepsBrowser = true }) => ({
    template: 'password-changed',
    userName,
    isVerified,
    changedAt: at,
    ipAddress,
    userAgent,
    keepsBrowser,
  }),
})

interface NewPassword {
  /** The hash of the present password. */
  current: string | null
  password: string
  person: { name: string; email: string }
}

/** The hash of a new password. Throws PASSWORD_001 if it is the account's current password, or easy to guess. */
export async function hashNewPassword(ctx: SystemContext, { current, password, person }: NewPassword): Promise<string> {
  const signal = ctx.clientGone?.()
  if (current !== null && (await ctx.passwords.verify(current, password, { signal }))) {
    throw new AppError('PASSWORD_001', RULES.currentAsNew)
  }
  await requireGoodPassword(ctx, password, person)
  return ctx.passwords.hash(password, signal)
}

/** For what a mailbox takes back: the hash of the new password; null if the account has no password and gets none. */
export async function hashRequired(
  ctx: SystemContext,
  { current, password, person }: Omit<NewPassword, 'password'> & { password: string | undefined },
): Promise<string | null> {
  if (current === null && password === undefined) return null
  if (current === null) throw new AppError('PASSWORD_001', 'This account has no password. Leave new_password out.')
  if (password === undefined) throw newPasswordMissing()
  return hashNewPassword(ctx, { current, password, person })
}

const newPasswordMissing = () => new AppError('PASSWORD_001', 'This account has a password. Send new_password.')

/** Called under the account's lock: a password that was set since `hashRequired` must not be lost. */
export function refuseLostPassword(account: { has_password: boolean }, passwordHash: string | null): void {
  if (account.has_password && passwordHash === null) throw newPasswordMissing()
}

const lockProvenAccount = statement(
  'lock-proven-account',
  { userId: text, credentialVersion: integer },
  LOCKED_ACCOUNT,
  (v) => sql`SELECT ${ACCOUNT_COLUMNS} FROM users
   WHERE id = ${v.userId} AND credential_version = ${v.credentialVersion} AND withdrawn_at IS NULL FOR UPDATE`,
)

/** Undefined if the password is no longer the one that was proven. */
export async function lockProven(
  tx: Transaction,
  proven: { userId: string; credentialVersion: number },
): Promise<LockedAccount | undefined> {
  const [account] = await tx.sql(lockProvenAccount, proven)
  return account
}

const setPassword = statement(
  'set-password',
  { userId: text, passwordHash: text.orNull },
  {},
  (v) => sql`UPDATE users SET password_hash = ${v.passwordHash}, credential_version = credential_version + 1
   WHERE id = ${v.userId}`,
)

interface Replacement {
  userId: string
  /** Null if the account has no password and gets none. */
  passwordHash: string | null
  at: Date
  /** The session that does not end. */
  except?: string
  /** True if no access token and no outside token ends. */
  keepTokens?: boolean
}

/**
 * Replaces a password. Ends all access and the pending change, because an attacker may have created them. `tx` must hold the account's
 * lock, and its clock be read under it, so that a session that started meanwhile ends too.
 */
export async function replacePassword(
  tx: Transaction,
  { userId, passwordHash, at, keepTokens = false, except = '' }: Replacement,
): Promise<void> {
  await Promise.all([
    tx.sql(setPassword, { userId, passwordHash }),
    endAccess(tx, {
      userId,
      at,
      except,
      ends: keepTokens ? ['sessions'] : ['sessions', 'access_tokens', 'outside_tokens'],
    }),
  ])
}

/** Replaces the password of an account that is locked, and tells applications, the audit and the person. */
export async function replaceAndNotify(
  tx: Transaction,
  { id: userId, name, email: to, email_verified_at: verifiedAt, locale }: LockedAccount,
  { action, by, ...replacement }: { action: AuditAction; by: AuditActor; passwordHash: string; except?: string },
): Promise<void> {
  const at = tx.clock.now()
  const isVerified = verifiedAt !== null
  await Promise.all([
    replacePassword(tx, { ...replacement, userId, at }),
    addEvent(tx, 'account.password_changed', { userId, at }),
    addAudit(tx, action, { ...by, userId, at }),
    addNotice(
      tx,
      passwordChanged,
      { userId, locale, recipients: ['sealed'], at },
      {
        ...{ to, userName: isVerified ? name : '', isVerified, at },
        ...{ ipAddress: by.ip ?? '', userAgent: by.userAgent, keepsBrowser: by.actor === 'session' },
      },
    ),
  ])
}
