import { type Address, parseAddress } from '@/contract/address'
import { canonicalLocale, type putUser as contract } from '@/contract/admin'
import type { Data, Input } from '@/contract/define'
import { AppError, RULES } from '@/contract/errors'
import { type AuditActor, addAudit } from '../audit'
import type { Context, SystemContext } from '../context'
import { tellEmailChanged } from '../email/email-changed'
import { refuseTakenAddress } from '../email/set-address'
import { heldSince } from '../limits/held-addresses'
import { type LockedAccount, lockForService } from '../lock-account'
import { acceptPassword } from '../passwords/password-formats'
import {
  closePendingChange,
  endSessions,
  equalsAsText,
  integer,
  isUniqueViolation,
  literal,
  type Part,
  type Sql,
  sql,
  statement,
  type Transaction,
  text,
  time,
  type ValuesOf,
} from '../sql'
import { firstVersionOf } from './ended-external-ids'
import { describeAccount, findAccount } from './find-user'
import { putDetails } from './put-details'

const MAX_TRIES = 3

type Wanted = Input<typeof contract>

// One of 65,536 locks, so that the number of the lock does not reveal the external id. It is taken before all other locks.
const lockExternalId = statement(
  'lock-external-id',
  { externalId: text },
  {},
  (v) => sql`SELECT pg_advisory_xact_lock(20261124, hashtext(${v.externalId}) & 65535)`,
)
export async function putUser(ctx: Context, input: Wanted): Promise<Data<typeof contract>> {
  if (input.old_mailbox && input.email === undefined) {
    throw new AppError('REQUEST_001', 'old_mailbox needs email, the address that replaces the one of the lost mailbox.')
  }
  const passwordHash = input.password ? acceptPassword(input.password) : null
  const by: AuditActor = { actor: 'service', actorId: ctx.actor.id, ip: ctx.ip }
  return retryConflicts(() =>
    ctx.transaction(async (tx) => {
      await tx(lockExternalId, { externalId: input.externalId })
      const { account, firstVersion } = await findToUpdate(ctx, tx, input)
      const userId = account?.id ?? (await create(ctx, tx, { ...input, firstVersion }, { passwordHash, by }))
      const hasNewDetails = await putDetails(tx, userId, input)
      if (account) await updateAccount(ctx, tx, account, { ...input, firstVersion, hasNewDetails }, by)
      const written = await findAccount(ctx, userId, tx)
      if (!written) throw new Error('the account that was written is there')
      return { ...describeAccount(ctx, written), created: !account }
    }),
  )
}

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

interface Target {
  /** Undefined if there is none yet and one may be created. */
  account: LockedAccount | undefined
  /** The lowest version that the account may have from now on. */
  firstVersion: number
}

async function findToUpdate(ctx: Context, sql: Sql, input: Wanted): Promise<Target> {
  const { externalId, user_id: userId, recreate = false } = input
  const account = await lockForService(sql, { externalId })
  if (account) {
    if (userId !== undefined && userId !== account.id) {
      throw new AppError('REQUEST_001', 'user_id names another account than the one that has this external id.')
    }
    return { account, firstVersion: 0 }
  }
  const firstVersion = await firstVersionOf(ctx, sql, { externalId, recreate })
  if (userId === undefined) return { account, firstVersion }
  const named = await lockForService(sql, { userId })
  if (!named) throw new AppError('USER_001', 'There is no account with this user_id.')
  if (named.external_id !== null) {
    throw new AppError('REQUEST_001', 'user_id names an account that has another external id.')
  }
  return { account: named, firstVersion }
}

/**
 * If a former account had the external id, outside tokens of it open nothing of the one that has it now, also those that do not tell
 * when they were issued. Issuers tell it in whole seconds.
 */
const sinceFormer = (v: { firstVersion: Part; now: Part }) =>
  sql`CASE WHEN ${v.firstVersion}::int > 0 THEN date_trunc('second', ${v.now}::timestamptz) - interval '1 millisecond' END`

const insertAccount = statement(
  'create-account-of-service',
  {
    id: text,
    externalId: text,
    name: text,
    email: text,
    emailKey: text,
    emailVerifiedAt: time.orNull,
    passwordHash: text.orNull,
    locale: text.orNull,
    firstVersion: integer,
    heldSince: time,
    now: time,
  },
  { id: text },
  (
    v,
  ) => sql`INSERT INTO users (id, external_id, name, email, email_key, email_verified_at, password_hash, locale, version, created_at,
                      credentials_since)
   SELECT ${v.id}, ${v.externalId}, ${v.name}, ${v.email}, ${v.emailKey}, ${v.emailVerifiedAt}, ${v.passwordHash}, ${v.locale},
          ${v.firstVersion}::int, ${v.now}, ${sinceFormer(v)}
   WHERE address_is_free(${v.emailKey}, ${v.id}, ${v.heldSince})
   RETURNING id`,
)

type New = Wanted & Pick<Target, 'firstVersion'>

async function create(
  ctx: SystemContext,
  tx: Sql,
  input: New,
  { passwordHash, by }: { passwordHash: string | null; by: AuditActor },
): Promise<string> {
  const { email, name } = input
  if (input.if_version !== undefined) {
    throw new AppError('USER_001', 'There is no account with this external id, so that it has no version.')
  }
  if (input.old_mailbox) throw new AppError('REQUEST_001', 'old_mailbox is for an account that has another address.')
  if (email === undefined) throw new AppError('REQUEST_001', 'email is needed to create an account.')
  if (name === undefined) throw new AppError('REQUEST_001', 'name is needed to create an account.')
  const address = addressOf(email)
  const now = ctx.clock.now()
  const id = ctx.secrets.randomId('usr_')
  const rows = await tx(insertAccount, {
    id,
    externalId: input.externalId,
    name,
    email: address.typed,
    emailKey: address.key,
    emailVerifiedAt: input.email_verified ? now : null,
    passwordHash,
    locale: localeOf(input) ?? null,
    firstVersion: input.firstVersion,
    heldSince: heldSince(ctx, now),
    now,
  })
  if (rows.length === 0) throw new AppError('EMAIL_002')
  await addAudit(ctx, tx, 'user.created', { ...by, userId: id, at: now })
  return id
}

function addressOf(email: string): Address {
  const address = parseAddress(email)
  if (!address) throw new AppError('EMAIL_001', RULES.email)
  return address
}

/** Undefined if the locale does not change. */
const localeOf = ({ locale }: Pick<Wanted, 'locale'>): string | null | undefined =>
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
  (
    v,
  ) => sql`INSERT INTO email_change_requests (id, user_id, status, method, old_email, old_email_key, old_verified_at, new_email,
                                     new_email_key, code_mac, requested_at, request_ip, sent_at, expires_at, closed_at, closed_ip,
                                     account_version)
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
  (v) => sql`UPDATE email_change_requests SET old_email_key = NULL
   WHERE user_id = ${v.userId} AND old_email_key IS NOT NULL AND ${equalsAsText(sql`status`, literal('verified'))} RETURNING id`,
)

/** The mailbox of the old address is lost: no address that was replaced before undoes anything. True if that changes something. */
async function forgetOldMailbox(
  ctx: SystemContext,
  tx: Sql,
  { userId, isOther, by, at }: { userId: string; isOther: boolean; by: AuditActor; at: Date },
): Promise<boolean> {
  const forgotten = await tx(forgetReplaced, { userId })
  if (isOther || forgotten.length > 0) await addAudit(ctx, tx, 'email.old_mailbox_lost', { ...by, userId, at })
  return forgotten.length > 0
}

type Changes = Pick<Wanted, 'email' | 'email_verified' | 'name' | 'locale' | 'if_version' | 'old_mailbox'> &
  Partial<Pick<Target, 'firstVersion'>> & {
    externalId: string | null
    /** Something of the account was changed in this transaction. */
    hasNewDetails?: boolean
  }

function requireVersion({ version }: LockedAccount, { if_version: wanted = version }: Changes) {
  if (wanted === version) return
  throw new AppError('USER_003', `The account is at version ${version}. Read it again before you change it.`)
}

/** `account` must be locked. Writes nothing if nothing differs. */
export async function updateAccount(
  ctx: SystemContext,
  tx: Transaction,
  account: LockedAccount,
  input: Changes,
  by: AuditActor,
): Promise<void> {
  const { id: userId, email_verified_at: wasVerifiedAt } = account
  const address = input.email === undefined ? undefined : addressOf(input.email)
  const isOther = address !== undefined && address.key !== account.email_key
  if (input.email_verified === false && (isOther || wasVerifiedAt)) {
    const what = isOther ? 'An address that replaces another counts as verified' : 'The address is verified already'
    throw new AppError('REQUEST_001', `${what}: email_verified must not be false.`)
  }
  const now = ctx.clock.now()
  const locale = localeOf(input)
  const isProven = !isOther && !wasVerifiedAt && input.email_verified === true
  const wanted = {
    userId,
    externalId: input.externalId,
    name: input.name ?? account.name,
    email: address?.typed ?? account.email,
    emailKey: address?.key ?? account.email_key,
    verifiedAt: isOther || isProven ? now : wasVerifiedAt,
    locale: locale === undefined ? account.locale : locale,
    firstVersion: input.firstVersion ?? 0,
    heldSince: heldSince(ctx, now),
    now,
  }
  const differs =
    input.hasNewDetails ||
    isOther ||
    isProven ||
    wanted.externalId !== account.external_id ||
    wanted.name !== account.name ||
    wanted.email !== account.email ||
    wanted.locale !== account.locale
  const isLost = input.old_mailbox === 'lost'
  const isForgotten = isLost && (await forgetOldMailbox(ctx, tx, { userId, isOther, by, at: now }))
  if (differs || isForgotten) requireVersion(account, input)
  // Every session of an account that the identity provider did not know began with a password.
  const isLinked = account.external_id === null && wanted.externalId !== null
  if (isLinked && ctx.freshSignIn.requiredAcr !== null) await tx(endFreshness, { userId })
  if (!differs) return
  const [updated] = await tx(updateUser, wanted)
  if (!updated) throw new AppError('EMAIL_002')
  if (isOther) return recordReplaced(ctx, tx, account, { ...wanted, ...updated, isLost, by })
  if (isProven) await addAudit(ctx, tx, 'email.verified', { ...by, userId, at: now })
  await addAudit(ctx, tx, 'user.updated', { ...by, userId, at: now })
}

/** What follows a replaced address, as a verification does it. */
async function recordReplaced(
  ctx: SystemContext,
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
  const changeId = ctx.secrets.randomId('ecr_')
  const oldEmailKey = isLost ? null : oldKey
  const change = { changeId, userId, oldEmail, oldEmailKey, oldVerifiedAt, email, emailKey, now, version }
  const oldRecipient = isLost ? 'lost' : 'old'
  const told = {
    changeId,
    userId,
    userName,
    locale,
    hasPassword,
    oldEmail,
    newEmail: email,
    at: now,
    oldRecipient,
    by,
  } as const
  await Promise.all([
    tx(insertChange, { ...change, method: by.actor, ip: by.ip ?? '' }),
    tx(endWithAddress, { userId, now }),
    tellEmailChanged(ctx, tx, told),
  ])
}
