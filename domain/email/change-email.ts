import { type Address, parseAddress } from '@/contract/address'
import type { Data, Input } from '@/contract/define'
import type { changeEmail as contract, VerificationMethod } from '@/contract/email'
import { AppError, RULES } from '@/contract/errors'
import { beginDueDeliveries } from '../applications/deliveries'
import { queueEvent, sealAddresses } from '../applications/events'
import type { Context } from '../context'
import {
  type AskedPlaces,
  givePlacesBack,
  judgePlaces,
  LOOK_VALUES,
  lookAtPlacesPart,
  lookValues,
  PLACE_ROW,
  pseudonymousBucket,
  returnPlacesPart,
  TAKE_VALUES,
  type TakenPlaces,
  takePlaces,
  takePlacesPart,
  takeValues,
  userBucket,
} from '../limits/buckets'
import { heldSince } from '../limits/held-addresses'
import { queueNotice } from '../mail/notice-kinds'
import { leaseUntil, sendFirst } from '../mail/notices'
import { renewForeignHash } from '../passwords/foreign-hashes'
import { codeExpiresAt } from '../pending-change'
import { requireFreshSignIn } from '../sessions/fresh-sign-in'
import { CALLER_VALUES, callerValues, isRowlessTokenLive, refusalOfEnded } from '../sessions/live-caller'
import {
  audit,
  boolean,
  bytes,
  closePendingChange,
  type Described,
  integer,
  isDone,
  isUndone,
  isUniqueViolation,
  type Part,
  type Placeholders,
  RAISE_VERSION,
  type RowOf,
  type Shape,
  sql,
  statement,
  text,
  time,
  UNWAITED,
} from '../sql'
import { macOfCode, recordVerification, sendVerification } from './verification-code'

/** The user's own address can be verified: it never was, or messages to it come back. */
const NEEDS_PROOF = sql`(email_verified_at IS NULL OR email_undeliverable_at IS NOT NULL)`

/** An account has the address, or it is held for one. The user's own address counts only if it needs no proof. */
const isTaken = (v: { newEmailKey: Part; userId: Part; heldSince: Part }) =>
  sql`coalesce((SELECT h.id <> ${v.userId} OR NOT ${NEEDS_PROOF} FROM users h WHERE h.email_key = ${v.newEmailKey}),
     (SELECT address_is_held(${v.newEmailKey}, ${v.userId}, ${v.heldSince})))`

// Reads the limits and what they guard in one statement. The hash is compared only if all limits have room.
const beginChange = statement(
  'begin-email-change',
  { ...TAKE_VALUES, ...LOOK_VALUES, userId: text, newEmailKey: text, heldSince: time },
  {
    ...PLACE_ROW,
    /** Null if the account ended meanwhile. */
    user_id: text.orNull,
    password_hash: text.orNull,
    credential_version: integer.whenJoined,
    is_taken: boolean,
  },
  (v) => sql`WITH taken AS (${takePlacesPart(v)}), looked AS (${lookAtPlacesPart(v)})
   SELECT places.*, u.id AS user_id, u.password_hash, u.credential_version, ${isTaken(v)} AS is_taken, ${UNWAITED}
   FROM (SELECT * FROM taken UNION ALL SELECT * FROM looked) AS places
   LEFT JOIN users u ON u.id = ${v.userId} AND u.withdrawn_at IS NULL`,
)

const OPEN = {
  ...CALLER_VALUES,
  changeId: text,
  userId: text,
  /** The version of the password that was right. */
  credentialVersion: integer,
  method: text.of<VerificationMethod>(),
  newEmail: text,
  newEmailKey: text,
  heldSince: time,
  codeMac: bytes,
  targetBucket: text,
  requestedAt: time,
  ip: text,
  sentAt: time,
  expiresAt: time,
  /** The places of the password limit, which are given back because the password was right. */
  keys: text.list,
  takenAt: time,
  auditId: text,
  noticeId: text,
  locale: text.orNull,
  leaseUntil: time,
  /** The address to be replaced, as in the sealed addresses. */
  oldEmail: text,
  eventId: text,
  sealedAddresses: bytes,
} satisfies Shape
type Open = Described<typeof OPEN>

type OpenedRow = RowOf<typeof openRequest>

/**
 * Checks the account again under its lock, because password, caller and address may have changed while the message was sent. The
 * caller's row is locked after the account's, as by every statement that ends the caller.
 */
const recheckedAccount = (v: Placeholders<Open>) => sql`locked AS (
     SELECT id, email, email_key, email_verified_at, email_undeliverable_at, created_at, credentials_since FROM users
     WHERE id = ${v.userId} AND credential_version = ${v.credentialVersion} AND withdrawn_at IS NULL FOR NO KEY UPDATE
   ), taken AS (
     -- The locked row is newer than what the rest of the statement sees: a verification may have come before the lock.
     SELECT FROM locked
     WHERE (email_key = ${v.newEmailKey} AND NOT ${NEEDS_PROOF}) OR ${isTaken(v)}
   ), session AS (
     SELECT s.id FROM locked JOIN sessions s ON s.id = ${v.callerId} AND s.revoked_at IS NULL FOR SHARE OF s
   ), token AS (
     SELECT t.id FROM locked JOIN access_tokens t ON t.id = ${v.callerId} AND t.revoked_at IS NULL FOR SHARE OF t
   ), account AS (
     SELECT id, email, email_key FROM locked
     WHERE (${isRowlessTokenLive(v)} OR EXISTS (SELECT FROM session) OR EXISTS (SELECT FROM token))
       AND NOT EXISTS (SELECT FROM taken) AND email = ${v.oldEmail}
   )`

const openRequest = statement(
  'open-email-change',
  OPEN,
  {
    /** The address to be replaced; null if no change was opened. */
    old_email: text.orNull,
    is_taken: boolean,
    /** The account's address; null if the account is gone. */
    email: text.orNull,
  },
  (v) => sql`WITH ${recheckedAccount(v)}, superseded AS (
     ${closePendingChange('superseded', { from: sql`account`, user: v.userId, at: v.sentAt })}
     RETURNING r.id
   ), request AS (
     INSERT INTO email_change_requests (id, user_id, status, method, old_email, new_email, new_email_key, code_mac,
                                        requested_at, request_ip, sent_at, expires_at, target_bucket)
     SELECT ${v.changeId}, id, 'pending_verification', ${v.method}, email, ${v.newEmail}, ${v.newEmailKey}, ${v.codeMac},
            ${v.requestedAt}, ${v.ip}, ${v.sentAt}, ${v.expiresAt}, ${v.targetBucket}
     FROM account WHERE ${isDone(sql`superseded`)}
     RETURNING id, user_id, old_email
   ), changed AS (
     UPDATE users u SET ${RAISE_VERSION} FROM request WHERE u.id = ${v.userId}
     RETURNING u.id, u.external_id, u.version, u.email_key <> ${v.newEmailKey} AS is_other
   ), ${queueEvent('account.email_change_requested', {
     from: sql`changed WHERE is_other`,
     user: v.userId,
     id: v.eventId,
     data: { change_request_id: v.changeId },
     addresses: v.sealedAddresses,
     at: v.sentAt,
   })}, returned AS (
     ${returnPlacesPart(v)}
   ), audited AS (
     ${audit('email_change.requested', { from: sql`request`, id: v.auditId, user: sql`user_id`, actor: v.callerKind, subject: sql`id`, ip: v.ip, at: v.sentAt })}
   ), notice AS (
     ${queueNotice('email_change_requested', {
       from: sql`request JOIN account ON account.email_key <> ${v.newEmailKey}`,
       id: v.noticeId,
       recipient: sql`'old'`,
       user: sql`user_id`,
       locale: v.locale,
       about: sql`request.id`,
       at: v.sentAt,
       leaseUntil: v.leaseUntil,
     })}
   )
   SELECT (SELECT old_email FROM request), EXISTS (SELECT FROM taken) AS is_taken, (SELECT email FROM locked) AS email`,
)

export async function changeEmail(ctx: Context, input: Input<typeof contract>): Promise<Data<typeof contract>> {
  const address = parseAddress(input.new_email)
  if (!address) throw new AppError('EMAIL_001')
  const { actor } = ctx
  const { userId } = actor
  const bucket = (name: Parameters<typeof userBucket>[1]) => userBucket(ctx, name, userId)
  const messages = pseudonymousBucket(ctx, 'targetMail', address.key)
  const quota = [bucket('change'), pseudonymousBucket(ctx, 'target', address.key), messages]
  const isOwn = parseAddress(actor.user.email)?.key === address.key

  // Counted before hashing, so that only five of any number of concurrent guesses are hashed.
  const asked: AskedPlaces = {
    take: [bucket('password'), bucket('passwordDay')],
    look: [...quota, bucket('taken')],
    code: 'EMAIL_008',
  }
  const now = ctx.clock.now()
  const found = await ctx.sql(beginChange, {
    ...takeValues(asked, now),
    ...lookValues(asked, now),
    userId,
    newEmailKey: address.key,
    heldSince: heldSince(ctx, now),
  })
  const guess = await judgePlaces(ctx, asked, found, now)
  const [begun] = found
  if (!begun?.user_id) throw new AppError('AUTH_001')

  const refuseTaken = async () => {
    await takePlaces(ctx, { take: [bucket('taken')], code: 'EMAIL_008' })
    throw new AppError('EMAIL_002', isOwn ? RULES.ownAddress : undefined)
  }
  /** Places that are given back if the call ends in a refusal. */
  let held: TakenPlaces[] = [guess]
  try {
    if (!(await isProven(ctx, begun.password_hash, input))) {
      held = []
      throw new AppError('EMAIL_007', refusedProof(begun.password_hash, input))
    }
    const { current_password: password } = input
    if (password !== undefined) renewForeignHash(ctx, { userId, passwordHash: begun.password_hash, password })
    if (begun.is_taken) await refuseTaken()
    const places = await takePlaces(ctx, { take: quota, code: 'EMAIL_008' })
    held.push(places)
    // The time of the place in the hourly limit, which is given back by it if the message comes back.
    const requestedAt = places.at
    const message = await sendMessage(ctx, address, input.verification_method)
    // The message was delivered, so its place stays taken.
    const change = { ...places, buckets: places.buckets.filter(({ name }) => name === 'change') }
    const expiresAt = codeExpiresAt(ctx, message.sentAt, requestedAt)
    const noticeId = ctx.secrets.randomId('ntc_')
    // If the database's answer is lost, the change may have been opened, so its place stays taken.
    held = []
    const opened = await openOnce(ctx, {
      ...message,
      userId,
      credentialVersion: begun.credential_version,
      ...callerValues(actor),
      newEmail: address.typed,
      newEmailKey: address.key,
      heldSince: heldSince(ctx, message.sentAt),
      targetBucket: messages.key,
      requestedAt,
      ip: ctx.ip,
      expiresAt,
      keys: guess.buckets.map(({ key }) => key),
      takenAt: guess.at,
      auditId: ctx.secrets.randomId('aud_'),
      noticeId,
      locale: actor.user.locale,
      leaseUntil: leaseUntil(message.sentAt),
      oldEmail: actor.user.email,
      eventId: ctx.secrets.randomId('evt_'),
    }).catch((error) => {
      if (isUndone(error)) held = [guess, change]
      throw error
    })
    ctx.background(() => recordVerification(ctx, { ...message, messageId: message.changeId, to: address.deliverable }))
    if (opened.old_email === null) {
      held = [change]
      if (opened.is_taken) await refuseTaken()
      throw await refusalOfEnded(ctx)
    }
    if (!isOwn) {
      ctx.background(() => beginDueDeliveries(ctx))
      const { locale } = actor.user
      const notice = { id: noticeId, userId, locale, kind: 'email_change_requested', recipient: 'old' } as const
      const told = { userName: actor.user.name, oldEmail: opened.old_email, newEmail: address.typed, ipAddress: ctx.ip }
      sendFirst(ctx, notice, { ...told, changeId: message.changeId, at: requestedAt })
    }
    return {
      change_request_id: message.changeId,
      status: 'pending_verification',
      new_email: address.typed,
      verification_method: message.method,
      verification_expires_at: expiresAt.toISOString(),
      current_email_retained: true,
    }
  } catch (error) {
    for (const places of held) await givePlacesBack(ctx, places)
    throw error
  }
}

function refusedProof(hash: string | null, { reauthentication }: Input<typeof contract>): string | undefined {
  if (hash === null) return 'This account has no password. Send reauthentication alone, after a fresh sign-in.'
  return reauthentication && 'This account has a password. Send current_password alone.'
}

/** Checks the password or, for an account without one, a fresh sign-in; throws REAUTH_001 if that is too old. */
async function isProven(ctx: Context, hash: string | null, input: Input<typeof contract>): Promise<boolean> {
  const { current_password: password, reauthentication } = input
  if (reauthentication === undefined) {
    return ctx.passwords.verify(hash ?? undefined, password ?? '', { signal: ctx.clientGone?.() })
  }
  if (password !== undefined || hash !== null) return false
  requireFreshSignIn(ctx, 'change')
  return true
}

/** The message is sent before the request is written, so that a refusal of the mail server leaves nothing behind. See decision 0004. */
async function sendMessage(ctx: Context, address: Address, method: VerificationMethod) {
  const changeId = ctx.secrets.randomId('ecr_')
  const code = ctx.secrets.randomCode()
  const validMs = Math.min(ctx.limits.codeValidityMs, ctx.limits.changeLifetimeMs)
  const accepted = await sendVerification(ctx, { id: changeId, messageId: changeId, address, code, method, validMs })
  if (!accepted) throw new AppError('EMAIL_009', undefined, 60)
  return { changeId, method, codeMac: macOfCode(ctx, changeId, code), sentAt: ctx.clock.now() }
}

/** Retries: a parallel change may hold the pending row, or the old address may differ from the sealed one. */
async function openOnce(ctx: Context, request: Omit<Open, 'sealedAddresses'>): Promise<OpenedRow> {
  let { oldEmail } = request
  for (let tries = 1; ; tries++) {
    try {
      const sealedAddresses = sealAddresses(ctx, { oldEmail, newEmail: request.newEmail })
      const [row] = await ctx.sql(openRequest, { ...request, oldEmail, sealedAddresses })
      if (!row) throw new Error('open-email-change answers one row')
      if (row.old_email !== null || row.email === null || row.email === oldEmail) return row
      oldEmail = row.email
    } catch (error) {
      if (tries === ctx.limits.change.places || !isUniqueViolation(error, 'email_change_requests_one_pending'))
        throw error
    }
  }
}
