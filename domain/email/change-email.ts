import { type Address, maskAddress, parseAddress, parseNewAddress } from '@/contract/address'
import type { Data, Input } from '@/contract/define'
import type { changeEmail as contract, VerificationMethod } from '@/contract/email'
import { AppError, RULES } from '@/contract/errors'
import { addEvent } from '../applications/events'
import { addAudit } from '../audit'
import type { Context, Transaction } from '../context'
import {
  type AskedPlaces,
  type Bucket,
  givePlacesBack,
  judgePlaces,
  LOOK_VALUES,
  lookAtPlacesPart,
  lookValues,
  PLACE_ROW,
  pseudonymousBucket,
  TAKE_VALUES,
  takePlaces,
  takePlacesPart,
  takeValues,
  userBucket,
  withPlaces,
} from '../limits/buckets'
import { STOP_CHANGE_MS } from '../limits/durations'
import { heldSince } from '../limits/held-addresses'
import { defineNotice } from '../mail/define-notice'
import { addNotice } from '../mail/notice-queue'
import { renewHash } from '../passwords/foreign-hashes'
import { isWrongPassword, lockProven } from '../passwords/replace-password'
import { codeExpiresAt } from '../pending-change'
import { requireFreshSignIn } from '../sessions/fresh-sign-in'
import { isStillLive, refusalOfEnded } from '../sessions/live-caller'
import {
  boolean,
  bytes,
  closePendingChange,
  integer,
  isUndone,
  type Part,
  RAISE_VERSION,
  sql,
  statement,
  text,
  time,
  UNWAITED,
} from '../sql'
import { type ChangeFacts, readChange } from './change-of-notice'
import { notMeUrl } from './not-me-token'
import { isOwnAddress } from './set-address'
import { macOfCode, recordVerification, sendVerification } from './verification-code'

interface RequestFacts extends ChangeFacts {
  hasPassword: boolean
  ipAddress: string
  userAgent: string
}

export const emailChangeRequested = defineNotice<RequestFacts, 'old'>({
  name: 'email_change_requested',
  keep: ({ changeId }) => ({ changeId }),
  recipients: { old: ({ oldEmail }) => oldEmail },
  message: (ctx, { changeId, userName, hasPassword, oldEmail, newEmail, at, ipAddress, userAgent }) => ({
    template: 'email-change-requested',
    userName,
    hasPassword,
    currentEmail: oldEmail,
    newEmailMasked: maskAddress(newEmail),
    requestedAt: at,
    ipAddress,
    userAgent,
    notMe: { url: notMeUrl(ctx, changeId), until: new Date(at.getTime() + STOP_CHANGE_MS) },
  }),
  read: (ctx, notice) =>
    readChange(
      ctx,
      notice,
      ({ has_password, requested_at, request_ip, request_user_agent, is_old_proven }) =>
        is_old_proven && {
          hasPassword: has_password,
          at: requested_at,
          ipAddress: request_ip,
          userAgent: request_user_agent ?? '',
        },
    ),
})

const TARGET = { userId: text, newEmailKey: text, heldSince: time }

/** The user's own address can be verified: it never was, or messages to it come back. */
const NEEDS_PROOF = sql`(h.email_verified_at IS NULL OR h.email_undeliverable_at IS NOT NULL)`

/** An account has the address, or it is held for one. The user's own address counts only if it needs no proof. */
const isTaken = (v: { newEmailKey: Part; userId: Part; heldSince: Part }) =>
  sql`coalesce((SELECT h.id <> ${v.userId} OR NOT ${NEEDS_PROOF} FROM users h WHERE h.email_key = ${v.newEmailKey}),
     (SELECT address_is_held(${v.newEmailKey}, ${v.userId}, ${v.heldSince})))`

// Reads the limits and what they guard in one statement. The hash is compared only if all limits have room.
const beginChange = statement(
  'begin-email-change',
  { ...TAKE_VALUES, ...LOOK_VALUES, ...TARGET },
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

export async function changeEmail(ctx: Context, input: Input<typeof contract>): Promise<Data<typeof contract>> {
  const address = parseAddress(input.new_email)
  if (!address || !(isOwnAddress(ctx, address) || parseNewAddress(input.new_email))) throw new AppError('EMAIL_001')
  const asked = askedOf(ctx, address)
  const begun = await begin(ctx, asked, input)
  if (begun.is_taken) throw await refusalOfTaken(ctx, asked)
  const places = await takePlaces(ctx, { take: asked.quota })
  // The time of the place in the hourly limit, which is given back by it if the message comes back.
  const requestedAt = places.at
  const message = await withPlaces(ctx, places, () => sendMessage(ctx, address, input.verification_method))
  const change = { ...message, requestedAt, expiresAt: codeExpiresAt(ctx, message.sentAt, requestedAt) }
  // The message was delivered, so its place stays taken.
  const placeOfChange = { ...places, buckets: places.buckets.filter(({ name }) => name === 'change') }
  const opening = async () => {
    const refused = await ctx.transaction((tx) => open(tx, asked, { ...change, ...begun }))
    if (refused) throw refused === 'taken' ? await refusalOfTaken(ctx, asked) : await refusalOfEnded(ctx)
  }
  await withPlaces(ctx, placeOfChange, opening, isMaybeOpened)
  return {
    change_request_id: change.changeId,
    status: 'pending_verification',
    new_email: address.typed,
    verification_method: change.method,
    verification_expires_at: change.expiresAt.toISOString(),
    current_email_retained: true,
  }
}

/** If the database's answer is lost, the change may have been opened. */
const isMaybeOpened = (error: unknown) => !(error instanceof AppError || isUndone(error))

interface Asked {
  address: Address
  /** The limit of the messages to the address. */
  messages: Bucket
  quota: Bucket[]
  /** Of changes to addresses that somebody has. */
  taken: Bucket
}

function askedOf(ctx: Context, address: Address): Asked {
  const { userId } = ctx.actor
  const messages = pseudonymousBucket(ctx, 'targetMail', address.key)
  const quota = [userBucket(ctx, 'change', userId), pseudonymousBucket(ctx, 'target', address.key), messages]
  return { address, messages, quota, taken: userBucket(ctx, 'taken', userId) }
}

async function refusalOfTaken(ctx: Context, { address, taken }: Asked): Promise<AppError> {
  await takePlaces(ctx, { take: [taken] })
  return new AppError('EMAIL_002', isOwnAddress(ctx, address) ? RULES.ownAddress : undefined)
}

/** Counts a guess before it hashes the password, so that only five of any number of concurrent guesses are hashed. */
async function begin(ctx: Context, { address, quota, taken }: Asked, input: Input<typeof contract>) {
  const { userId } = ctx.actor
  const take = [userBucket(ctx, 'password', userId), userBucket(ctx, 'passwordDay', userId)]
  const asked: AskedPlaces = { take, look: [...quota, taken] }
  const now = ctx.clock.now()
  const target = { userId, newEmailKey: address.key, heldSince: heldSince(ctx, now) }
  const found = await ctx.sql(beginChange, { ...takeValues(asked, now), ...lookValues(asked, now), ...target })
  const guess = await judgePlaces(ctx, asked, found, now)
  const [begun] = found
  if (!begun?.user_id) throw new AppError('AUTH_001')
  const { password_hash: passwordHash, credential_version: credentialVersion, is_taken } = begun
  await withPlaces(ctx, guess, () => requireProof(ctx, passwordHash, input), isWrongPassword)
  await givePlacesBack(ctx, guess)
  const { current_password: password } = input
  if (password !== undefined) renewHash(ctx, { userId, passwordHash, password })
  return { credentialVersion, hasPassword: passwordHash !== null, is_taken }
}

/** Requires the password or, for an account without one, a fresh sign-in; throws REAUTH_001 if that is too old. */
async function requireProof(ctx: Context, hash: string | null, input: Input<typeof contract>): Promise<void> {
  const { current_password: password, reauthentication } = input
  const { verify } = ctx.passwords
  if (hash === null && password === undefined && reauthentication) return requireFreshSignIn(ctx, 'change')
  if (!reauthentication && (await verify(hash ?? undefined, password ?? '', { signal: ctx.clientGone?.() }))) return
  throw AppError.counted('EMAIL_007', refusedProof(hash, input))
}

function refusedProof(hash: string | null, { reauthentication }: Input<typeof contract>): string | undefined {
  if (hash === null) return 'This account has no password. Send reauthentication alone, after a fresh sign-in.'
  return reauthentication && 'This account has a password. Send current_password alone.'
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

const addressTaken = statement(
  'address-is-taken',
  TARGET,
  { is_taken: boolean },
  (v) => sql`SELECT ${isTaken(v)} AS is_taken`,
)
const readPendingAsker = statement(
  'asker-of-pending-change',
  { userId: text },
  { requested_by: text.orNull },
  (v) =>
    sql`SELECT requested_by FROM email_change_requests WHERE user_id = ${v.userId} AND status = 'pending_verification'`,
)
const supersede = statement(
  'supersede-change',
  { userId: text, at: time },
  {},
  (v) => sql`WITH superseded AS (${closePendingChange('superseded', { user: v.userId, at: v.at })})
   UPDATE users SET ${RAISE_VERSION} WHERE id = ${v.userId}`,
)
const insertChange = statement(
  'open-email-change',
  {
    changeId: text,
    userId: text,
    method: text.of<VerificationMethod>(),
    newEmail: text,
    newEmailKey: text,
    codeMac: bytes,
    requestedAt: time,
    ip: text,
    userAgent: text,
    requestedBy: text.orNull,
    sentAt: time,
    expiresAt: time,
    targetBucket: text,
  },
  {},
  (
    v,
  ) => sql`INSERT INTO email_change_requests (id, user_id, status, method, old_email, new_email, new_email_key, code_mac, requested_at,
                                     request_ip, request_user_agent, requested_by, sent_at, expires_at, target_bucket)
   SELECT ${v.changeId}, id, 'pending_verification', ${v.method}, email, ${v.newEmail}, ${v.newEmailKey}, ${v.codeMac},
     ${v.requestedAt}, ${v.ip}, ${v.userAgent}, ${v.requestedBy}, ${v.sentAt}, ${v.expiresAt}, ${v.targetBucket} FROM users WHERE id = ${v.userId}`,
)

interface Opening extends Awaited<ReturnType<typeof sendMessage>> {
  requestedAt: Date
  expiresAt: Date
  /** The version of the password that was right. */
  credentialVersion: number
  hasPassword: boolean
}

/** Checks again under the account's lock, because password, caller and address may have changed while the message was sent. */
async function open(
  tx: Transaction<Context>,
  { address, messages }: Asked,
  { credentialVersion, hasPassword, changeId, sentAt: at, requestedAt, ...change }: Opening,
): Promise<'taken' | 'ended' | undefined> {
  const { actor, ip: ipAddress, userAgent } = tx
  const { userId } = actor
  const { typed: newEmail, key: newEmailKey, deliverable: to } = address
  tx.afterCommit((ctx) => recordVerification(ctx, { changeId, messageId: changeId, to, sentAt: at }))
  const [account, isLive, [target], [pending]] = await Promise.all([
    lockProven(tx, { userId, credentialVersion }),
    isStillLive(tx, actor),
    tx.sql(addressTaken, { userId, newEmailKey, heldSince: heldSince(tx, at) }),
    tx.sql(readPendingAsker, { userId }),
  ])
  if (!account) return 'ended'
  if (target?.is_taken) return 'taken'
  if (!isLive) return 'ended'
  const { name: userName, email: oldEmail, email_verified_at: verifiedAt, locale } = account
  // Else a thief's session would stay by asking once more for what the owner has asked for.
  const replacesOthers = pending !== undefined && pending.requested_by !== actor.id
  const requestedBy = actor.kind === 'session' && !replacesOthers ? actor.id : null
  const values = {
    changeId,
    userId,
    requestedBy,
    newEmail,
    newEmailKey,
    requestedAt,
    ip: ipAddress,
    userAgent,
    sentAt: at,
  }
  const data = { change_request_id: changeId }
  const facts = { changeId, userName, hasPassword, oldEmail, newEmail, at: requestedAt, ipAddress, userAgent }
  const isOwn = account.email_key === newEmailKey
  await Promise.all([
    tx.sql(supersede, { userId, at }),
    tx.sql(insertChange, { ...change, ...values, targetBucket: messages.key }),
    addAudit(tx, 'email_change.requested', { userId, actor: actor.kind, subject: changeId, ip: ipAddress, at }),
    isOwn || addEvent(tx, 'account.email_change_requested', { userId, data, addresses: { oldEmail, newEmail }, at }),
    // Whoever reads a mailbox that was never verified may be anybody, and learns nothing.
    isOwn || !verifiedAt || addNotice(tx, emailChangeRequested, { userId, locale, recipients: ['old'], at }, facts),
  ])
  return undefined
}
