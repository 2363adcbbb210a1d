import { type Address, parseAddress } from '@/contract/address'
import { canonicalLocale, type putUser } from '@/contract/admin'
import type { Input } from '@/contract/define'
import { AppError, RULES } from '@/contract/errors'
import { type AuditActor, addAudit } from '../audit'
import type { Transaction } from '../context'
import { notifyOfChange } from '../email/email-changed'
import { refuseTakenAddress } from '../email/set-address'
import { HAS_REPLACED, heldSince } from '../limits/held-addresses'
import type { LockedAccount } from '../lock-account'
import {
  closePendingChange,
  endSessions,
  integer,
  isUniqueViolation,
  type Part,
  sql,
  statement,
  text,
  time,
  type ValuesOf,
} from '../sql'

const MAX_TRIES = 3

/** Retries unique violations, because other writers do not take the external-id lock. */
export async function retryConflicts<T>(write: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await write()
    } catch (error) {
      if (tries === MAX_TRIES || !isUniqueViolation(error, 'users_external_id_active')) refuseTakenAddress(error)
    }
  }
}

/**
 * If a former account had the external id, outside tokens of it open nothing of the one that has it now, also those that do not tell
 * when they were issued. Issuers tell it in whole seconds.
 */
export const sinceFormer = (v: { firstVersion: Part; now: Part }) =>
  sql`CASE WHEN ${v.firstVersion}::int > 0 THEN date_trunc('second', ${v.now}::timestamptz) - interval '1 millisecond' END`

export function addressOf(email: string): Address {
  const address = parseAddress(email)
  if (!address) throw new AppError('EMAIL_001', RULES.email)
  return address
}

/** Undefined if the locale does not change. */
export const localeOf = ({ locale }: Pick<Input<typeof putUser>, 'locale'>): string | null | undefined =>
  typeof locale === 'string' ? canonicalLocale(locale) : locale

const raisedVersion = (v: { firstVersion: Part; now: Part }) =>
  sql`version = greatest(version + 1, ${v.firstVersion}::int), credentials_since = greatest(${sinceFormer(v)}, credentials_since)`

// Lock order: account, address.
const updateUser = statement(
  'update-account-of-service',
  {
    userId: text,
    externalId: text.orNull,
    name: text,
    email: text,
    emailKey: text,
    verifiedAt: time.orNull,
    locale: text.orNull,
    firstVersion: integer,
    heldSince: time,
    now: time,
  },
  { version: integer },
  (v) => sql`UPDATE users
   SET external_id = ${v.externalId}, name = ${v.name}, email = ${v.email}, email_key = ${v.emailKey}, locale = ${v.locale},
       email_verified_at = ${v.verifiedAt},
       email_undeliverable_at = CASE WHEN email_key = ${v.emailKey} THEN email_undeliverable_at END, ${raisedVersion(v)}
   WHERE id = ${v.userId}
     AND CASE WHEN email_key = ${v.emailKey} THEN true ELSE address_is_free(${v.emailKey}, ${v.userId}, ${v.heldSince}) END
   RETURNING version`,
)

// A change that nobody had to verify.
const insertChange = statement(
  'record-address-change',
  {
    changeId: text,
    userId: text,
    method: text,
    oldEmail: text,
    /** Null if the old address cannot undo the change. */
    oldEmailKey: text.orNull,
    oldVerifiedAt: time.orNull,
    email: text,
    emailKey: text,
    now: time,
    ip: text,
    version: integer,
  },
  {},
  (v) => sql`INSERT INTO email_change_requests (id, user_id, status, method, old_email, old_email_key, old_verified_at,
                                      new_email, new_email_key, code_mac, requested_at, request_ip, sent_at, expires_at,
                                      closed_at, closed_ip, account_version)
   VALUES (${v.changeId}, ${v.userId}, 'verified', ${v.method}, ${v.oldEmail}, ${v.oldEmailKey}, ${v.oldVerifiedAt}, ${v.email},
           ${v.emailKey}, '', ${v.now}, ${v.ip}, ${v.now}, ${v.now}, ${v.now}, ${v.ip}, ${v.version})`,
)

const endWithAddress = statement(
  'end-with-address',
  { userId: text, now: time },
  {},
  (v) => sql`WITH cancelled AS (${closePendingChange('cancelled', { user: v.userId, at: v.now })})
   ${endSessions({ user: v.userId, at: v.now })}`,
)

// A change to another address goes on.
const endProofOfOwn = statement(
  'end-proof-of-own-address',
  { userId: text, emailKey: text, now: time },
  {},
  (v) => sql`${closePendingChange('cancelled', { user: v.userId, at: v.now })} AND r.new_email_key = ${v.emailKey}`,
)

const endFreshness = statement(
  'end-freshness-of-sign-ins',
  { userId: text },
  {},
  (v) => sql`UPDATE sessions SET authenticated_at = NULL WHERE user_id = ${v.userId} AND revoked_at IS NULL`,
)

const forgetReplaced = statement(
  'forget-replaced-addresses',
  { userId: text },
  { id: text },
  (v) => sql`UPDATE email_change_requests r SET old_email_key = NULL
   WHERE r.user_id = ${v.userId} AND ${HAS_REPLACED} RETURNING r.id`,
)

/** The mailbox of the old address is lost: no address that was replaced before undoes anything. True if that changes something. */
async function forgetOldMailbox(
  tx: Transaction,
  { userId, isOther, by, at }: { userId: string; isOther: boolean; by: AuditActor; at: Date },
): Promise<boolean> {
  const forgotten = await tx.sql(forgetReplaced, { userId })
  if (isOther || forgotten.length > 0) await addAudit(tx, 'email.old_mailbox_lost', { ...by, userId, at })
  return forgotten.length > 0
}

interface Changes
  extends Pick<Input<typeof putUser>, 'email' | 'email_verified' | 'name' | 'locale' | 'if_version' | 'old_mailbox'> {
  externalId: string | null
  /** The lowest version that the account may have from now on. */
  firstVersion?: number
  /** Something of the account was changed in this transaction. */
  hasNewDetails?: boolean
}

/** `account` must be locked. Writes nothing if nothing differs. */
export async function updateAccount(
  tx: Transaction,
  account: LockedAccount,
  input: Changes,
  by: AuditActor,
): Promise<void> {
  const { id: userId } = account
  const now = tx.clock.now()
  const { isOther, isProven, differs, ...wanted } = compare(account, input, now)
  const isLost = input.old_mailbox === 'lost'
  const isForgotten = isLost && (await forgetOldMailbox(tx, { userId, isOther, by, at: now }))
  if (differs || isForgotten) requireVersion(account, input)
  // Every session of an account that the identity provider did not know began with a password.
  const isLinked = account.external_id === null && wanted.externalId !== null
  if (isLinked && tx.freshSignIn.requiredAcr !== null) await tx.sql(endFreshness, { userId })
  if (!differs) return
  const values = { ...wanted, userId, firstVersion: input.firstVersion ?? 0, heldSince: heldSince(tx, now), now }
  const [updated] = await tx.sql(updateUser, values)
  if (!updated) throw new AppError('EMAIL_002')
  if (isOther) return recordReplaced(tx, account, { ...values, ...updated, isLost, by })
  if (isProven) {
    await tx.sql(endProofOfOwn, { userId, emailKey: wanted.emailKey, now })
    await addAudit(tx, 'email.verified', { ...by, userId, at: now })
  }
  await addAudit(tx, 'user.updated', { ...by, userId, at: now })
}

/** What the account is to be, and whether that is anything new. */
function compare(account: LockedAccount, input: Changes, now: Date) {
  const { email_verified_at: wasVerifiedAt } = account
  const address = input.email === undefined ? undefined : addressOf(input.email)
  const isOther = address !== undefined && address.key !== account.email_key
  if (input.email_verified === false && (isOther || wasVerifiedAt)) {
    const what = isOther ? 'An address that replaces another counts as verified' : 'The address is verified already'
    throw new AppError('REQUEST_001', `${what}: email_verified must not be false.`)
  }
  const isProven = !isOther && !wasVerifiedAt && input.email_verified === true
  const locale = localeOf(input)
  const wanted = {
    externalId: input.externalId,
    name: input.name ?? account.name,
    email: address?.typed ?? account.email,
    emailKey: address?.key ?? account.email_key,
    verifiedAt: isOther || isProven ? now : wasVerifiedAt,
    locale: locale === undefined ? account.locale : locale,
  }
  const differs =
    input.hasNewDetails ||
    isOther ||
    isProven ||
    wanted.externalId !== account.external_id ||
    wanted.name !== account.name ||
    wanted.email !== account.email ||
    wanted.locale !== account.locale
  return { ...wanted, isOther, isProven, differs }
}

function requireVersion({ version }: LockedAccount, { if_version: wanted = version }: Changes) {
  if (wanted === version) return
  throw new AppError('USER_003', `The account is at version ${version}. Read it again before you change it.`)
}

/** What follows a replaced address, as a verification does it. */
async function recordReplaced(
  tx: Transaction,
  { email: oldEmail, email_key: oldKey, email_verified_at: oldVerifiedAt, has_password: hasPassword }: LockedAccount,
  {
    isLost,
    by,
    version,
    ...replaced
  }: ValuesOf<typeof updateUser> & { isLost: boolean; by: AuditActor; version: number },
): Promise<void> {
  const { userId, locale, name: userName, email, emailKey, now } = replaced
  const changeId = tx.secrets.randomId('ecr_')
  const oldEmailKey = isLost ? null : oldKey
  const change = { changeId, userId, oldEmail, oldEmailKey, oldVerifiedAt, email, emailKey, now, version }
  const changed = { changeId, userId, userName, locale, hasPassword, oldEmail, newEmail: email, at: now, by }
  await Promise.all([
    tx.sql(insertChange, { ...change, method: by.actor, ip: by.ip ?? '' }),
    tx.sql(endWithAddress, { userId, now }),
    notifyOfChange(tx, { ...changed, isOldProven: !isLost && oldVerifiedAt !== null }),
  ])
}
