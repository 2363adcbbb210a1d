import { type Address, parseAddress } from '@/contract/address'
import { canonicalLocale, type putUser as contract } from '@/contract/admin'
import type { Data, Input } from '@/contract/define'
import { AppError, RULES } from '@/contract/errors'
import { beginDueDeliveries } from '../applications/deliveries'
import { queueEvent, sealAddresses } from '../applications/events'
import type { Context, SystemContext } from '../context'
import { heldSince } from '../limits/held-addresses'
import { type LockedAccount, lockForService } from '../lock-account'
import { queueNotice } from '../mail/notice-kinds'
import { leaseUntil, sendFirst } from '../mail/notices'
import { acceptPassword } from '../passwords/password-formats'
import {
  audit,
  boolean,
  bytes,
  closePendingChange,
  endSessions,
  equalsAsText,
  integer,
  isUniqueViolation,
  literal,
  type Part,
  type Shape,
  type Sql,
  sql,
  statement,
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
/** Who changes the account; `id` is that of the service token. */
interface Editor {
  kind: 'service' | 'operator'
  id: string | null
  /** Empty for the operator command. */
  ip: string
}

/** What the notices need that are sent after the commit. */
interface Letters {
  changeId: string
  noticeIds: Record<'old' | 'new', string>
  oldRecipient: 'old' | 'lost'
  userId: string
  locale: string | null
  userName: string
  oldEmail: string
  newEmail: string
  at: Date
}

export async function putUser(ctx: Context, input: Wanted): Promise<Data<typeof contract>> {
  if (input.old_mailbox && input.email === undefined) {
    throw new AppError('REQUEST_001', 'old_mailbox needs email, the address that replaces the one of the lost mailbox.')
  }
  const passwordHash = input.password ? acceptPassword(input.password) : null
  const by: Editor = { kind: 'service', id: ctx.actor.id, ip: ctx.ip }
  const { data, letters } = await retryConflicts(() =>
    ctx.transaction(async (sql) => {
      await sql(lockExternalId, { externalId: input.externalId })
      const { account, firstVersion } = await findToUpdate(ctx, sql, input)
      const userId = account?.id ?? (await create(ctx, sql, { ...input, firstVersion }, passwordHash))
      const hasNewDetails = await putDetails(sql, userId, input)
      const changes = { ...input, firstVersion, hasNewDetails }
      const letters = account ? await updateAccount(ctx, sql, account, changes, by) : null
      const written = await findAccount(ctx, userId, sql)
      if (!written) throw new Error('the account that was written is there')
      return { data: { ...describeAccount(ctx, written), created: !account }, letters }
    }),
  )
  if (letters) {
    sendLetters(ctx, letters)
    ctx.background(() => beginDueDeliveries(ctx))
  }
  return data
}

/** Retries unique violations, because other writers do not take the external-id lock. */
export async function retryConflicts<T>(write: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await write()
    } catch (error) {
      if (isUniqueViolation(error, 'users_email_key_key')) throw new AppError('EMAIL_002')
      if (tries === MAX_TRIES || !isUniqueViolation(error, 'users_external_id_active')) throw error
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
    auditId: text,
    serviceTokenId: text,
    ip: text,
  },
  { id: text },
  (v) => sql`WITH account AS (
     INSERT INTO users (id, external_id, name, email, email_key, email_verified_at, password_hash, locale, version, created_at,
                        credentials_since)
     SELECT ${v.id}, ${v.externalId}, ${v.name}, ${v.email}, ${v.emailKey}, ${v.emailVerifiedAt}, ${v.passwordHash}, ${v.locale},
            ${v.firstVersion}::int, ${v.now}, ${sinceFormer(v)}
     WHERE address_is_free(${v.emailKey}, ${v.id}, ${v.heldSince})
     RETURNING id
   )
   ${audit('user.created', { from: sql`account`, id: v.auditId, user: sql`id`, actor: sql`'service'`, actorId: v.serviceTokenId, ip: v.ip, at: v.now })}
   RETURNING id`,
)

type New = Wanted & Pick<Target, 'firstVersion'>

async function create(ctx: Context, sql: Sql, input: New, passwordHash: string | null): Promise<string> {
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
  const rows = await sql(insertAccount, {
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
    auditId: ctx.secrets.randomId('aud_'),
    serviceTokenId: ctx.actor.id,
    ip: ctx.ip,
  })
  if (rows.length === 0) throw new AppError('EMAIL_002')
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

type Update = ValuesOf<typeof updateFields>

const RAISED = (v: { firstVersion: Part; now: Part }) =>
  sql`version = greatest(version + 1, ${v.firstVersion}::int), credentials_since = coalesce(${sinceFormer(v)}, credentials_since)`

const EDITED = {
  userId: text,
  externalId: text.orNull,
  name: text,
  email: text,
  locale: text.orNull,
  firstVersion: integer,
  now: time,
  auditId: text,
  actor: text.of<Editor['kind']>(),
  actorId: text.orNull,
  ip: text,
} satisfies Shape

const updateFields = statement(
  'update-account-of-service',
  // `verifiedAt` is null if the address stays verified or unverified as it is.
  { ...EDITED, verifiedAt: time.orNull, verifiedAuditId: text },
  { id: text },
  (v) => sql`WITH account AS (
     UPDATE users
     SET external_id = ${v.externalId}, name = ${v.name}, email = ${v.email}, locale = ${v.locale},
         email_verified_at = coalesce(email_verified_at, ${v.verifiedAt}::timestamptz), ${RAISED(v)}
     WHERE id = ${v.userId} RETURNING id
   ), audited_own AS (
     ${audit('email.verified', { from: sql`account WHERE ${v.verifiedAt}::timestamptz IS NOT NULL`, id: v.verifiedAuditId, user: sql`id`, actor: v.actor, actorId: v.actorId, ip: v.ip, at: v.now })}
   )
   ${audit('user.updated', { from: sql`account`, id: v.auditId, user: sql`id`, actor: v.actor, actorId: v.actorId, ip: v.ip, at: v.now })}
   RETURNING id`,
)

// As a verification does it, but with a change row that nobody had to verify. Lock order is the same: account, address.
const replaceAddress = statement(
  'replace-address-of-account',
  {
    ...EDITED,
    oldEmail: text,
    /** Null if the old address cannot undo the change. */
    oldEmailKey: text.orNull,
    oldVerifiedAt: time.orNull,
    emailKey: text,
    heldSince: time,
    changeId: text,
    oldNoticeId: text,
    newNoticeId: text,
    oldRecipient: text.of<Letters['oldRecipient']>(),
    leaseUntil: time,
    eventId: text,
    sealedAddresses: bytes,
  },
  { id: text },
  (v) => sql`WITH account AS (
     UPDATE users
     SET external_id = ${v.externalId}, name = ${v.name}, email = ${v.email}, email_key = ${v.emailKey},
         locale = ${v.locale}, email_verified_at = ${v.now}, email_undeliverable_at = NULL, ${RAISED(v)}
     WHERE id = ${v.userId} AND address_is_free(${v.emailKey}, ${v.userId}, ${v.heldSince})
     RETURNING id, external_id, version
   ), ${queueEvent('account.email_changed', {
     from: sql`account`,
     user: v.userId,
     id: v.eventId,
     data: { change_request_id: v.changeId },
     addresses: v.sealedAddresses,
     at: v.now,
   })}, cancelled AS (
     ${closePendingChange('cancelled', { from: sql`account`, user: v.userId, at: v.now })}
   ), request AS (
     INSERT INTO email_change_requests (id, user_id, status, method, old_email, old_email_key, new_email, new_email_key,
                                        code_mac, requested_at, request_ip, sent_at, expires_at, closed_at, closed_ip,
                                        old_verified_at, account_version)
     SELECT ${v.changeId}, id, 'verified', ${v.actor}, ${v.oldEmail}, ${v.oldEmailKey}, ${v.email}, ${v.emailKey}, '', ${v.now}, ${v.ip}, ${v.now},
            ${v.now}, ${v.now}, ${v.ip}, ${v.oldVerifiedAt}::timestamptz, version
     FROM account
     RETURNING id, user_id
   ), ended AS (
     ${endSessions({ from: sql`account`, user: v.userId, at: v.now })}
   ), audited AS (
     ${audit('email.changed', { from: sql`request`, id: v.auditId, user: sql`user_id`, actor: v.actor, actorId: v.actorId, subject: sql`id`, ip: v.ip, at: v.now })}
   ), notices AS (
     ${queueNotice('email_changed', {
       from: sql`request, (VALUES (${v.oldNoticeId}, ${v.oldRecipient}), (${v.newNoticeId}, 'new')) AS n (id, recipient)`,
       id: sql`n.id`,
       recipient: sql`n.recipient`,
       user: sql`request.user_id`,
       locale: v.locale,
       about: sql`request.id`,
       at: v.now,
       leaseUntil: v.leaseUntil,
     })}
   )
   SELECT id FROM account`,
)

// No row if the account has no replaced address that could undo anything.
const forgetReplaced = statement(
  'forget-replaced-addresses',
  {
    userId: text,
    /** The lost mailbox is that of the address which is replaced now. */
    isReplaced: boolean,
    auditId: text,
    actor: text.of<Editor['kind']>(),
    actorId: text.orNull,
    ip: text,
    now: time,
  },
  { id: text },
  (v) => sql`WITH forgotten AS (
     UPDATE email_change_requests SET old_email_key = NULL
     WHERE user_id = ${v.userId} AND old_email_key IS NOT NULL AND ${equalsAsText(sql`status`, literal('verified'))} RETURNING id
   )
   ${audit('email.old_mailbox_lost', { from: sql`(SELECT WHERE ${v.isReplaced}::boolean OR EXISTS (SELECT FROM forgotten)) AS effect`, id: v.auditId, user: v.userId, actor: v.actor, actorId: v.actorId, ip: v.ip, at: v.now })}
   RETURNING id`,
)

type Changes = Pick<Wanted, 'email' | 'email_verified' | 'name' | 'locale' | 'if_version' | 'old_mailbox'> &
  Partial<Pick<Target, 'firstVersion'>> & {
    externalId: string | null
    /** Something of the account was changed in this transaction. */
    hasNewDetails?: boolean
  }

/** `account` must be locked. Writes nothing if nothing differs. */
export async function updateAccount(
  ctx: SystemContext,
  sql: Sql,
  account: LockedAccount,
  input: Changes,
  by: Editor,
): Promise<Letters | null> {
  const address = input.email === undefined ? undefined : addressOf(input.email)
  const isOther = address !== undefined && address.key !== account.email_key
  if (input.email_verified === false && (isOther || account.email_verified_at)) {
    const what = isOther ? 'An address that replaces another counts as verified' : 'The address is verified already'
    throw new AppError('REQUEST_001', `${what}: email_verified must not be false.`)
  }
  const locale = localeOf(input)
  const now = ctx.clock.now()
  const wanted = {
    userId: account.id,
    externalId: input.externalId,
    name: input.name ?? account.name,
    email: address?.typed ?? account.email,
    locale: locale === undefined ? account.locale : locale,
    firstVersion: input.firstVersion ?? 0,
    now,
    auditId: ctx.secrets.randomId('aud_'),
    actor: by.kind,
    actorId: by.id,
    ip: by.ip,
  }
  const verifiedAt = input.email_verified && !account.email_verified_at ? now : null
  const differs =
    input.hasNewDetails ||
    verifiedAt !== null ||
    wanted.externalId !== account.external_id ||
    wanted.name !== account.name ||
    wanted.email !== account.email ||
    wanted.locale !== account.locale
  const isLost = input.old_mailbox === 'lost'
  const forget = { ...wanted, isReplaced: isOther, auditId: ctx.secrets.randomId('aud_') }
  const forgotten = isLost ? await sql(forgetReplaced, forget) : []
  if ((isOther || differs || forgotten.length > 0) && (input.if_version ?? account.version) !== account.version) {
    throw new AppError('USER_003', `The account is at version ${account.version}. Read it again before you change it.`)
  }
  if (isOther) return replace(ctx, sql, account, address, { ...wanted, isLost })
  if (differs) await sql(updateFields, { ...wanted, verifiedAt, verifiedAuditId: ctx.secrets.randomId('aud_') })
  return null
}

async function replace(
  ctx: SystemContext,
  sql: Sql,
  account: LockedAccount,
  address: Address,
  { isLost, ...wanted }: Omit<Update, 'verifiedAt' | 'verifiedAuditId'> & { isLost: boolean },
): Promise<Letters> {
  const noticeIds = { old: ctx.secrets.randomId('ntc_'), new: ctx.secrets.randomId('ntc_') }
  const changeId = ctx.secrets.randomId('ecr_')
  const oldRecipient = isLost ? 'lost' : 'old'
  const rows = await sql(replaceAddress, {
    ...wanted,
    oldEmail: account.email,
    oldEmailKey: isLost ? null : account.email_key,
    oldVerifiedAt: account.email_verified_at,
    emailKey: address.key,
    heldSince: heldSince(ctx, wanted.now),
    changeId,
    oldNoticeId: noticeIds.old,
    newNoticeId: noticeIds.new,
    oldRecipient,
    leaseUntil: wanted.actor === 'service' ? leaseUntil(wanted.now) : wanted.now,
    eventId: ctx.secrets.randomId('evt_'),
    sealedAddresses: sealAddresses(ctx, { oldEmail: account.email, newEmail: address.typed }),
  })
  if (rows.length === 0) throw new AppError('EMAIL_002')
  const { userId, locale, name: userName, email: newEmail, now: at } = wanted
  return { noticeIds, oldRecipient, changeId, userId, locale, userName, oldEmail: account.email, newEmail, at }
}

function sendLetters(ctx: Context, { noticeIds, oldRecipient, userId, locale, ...change }: Letters) {
  const told = { ...change, ipAddress: ctx.ip }
  const kind = 'email_changed'
  sendFirst(ctx, { id: noticeIds.old, userId, locale, kind, recipient: oldRecipient }, told)
  sendFirst(ctx, { id: noticeIds.new, userId, locale, kind, recipient: 'new' }, told)
}
