import { type Address, maskAddress, parseAddress, parseNewAddress } from '@/contract/address'
import type { Data, Input } from '@/contract/define'
import type { changeEmail as contract, VerificationMethod } from '@/contract/email'
import { AppError } from '@/contract/errors'
import { addEvent } from '../applications/events'
import { addAudit } from '../audit'
import type { Context, Transaction } from '../context'
import { withPlaces } from '../limits/buckets'
import { STOP_CHANGE_MS } from '../limits/durations'
import { heldSince } from '../limits/held-addresses'
import { defineNotice } from '../mail/define-notice'
import { addNotice } from '../mail/notice-queue'
import { lockProven } from '../passwords/replace-password'
import { codeExpiresAt } from '../pending-change'
import type { Origin } from '../ports'
import { isStillLive, refusalOfEnded } from '../sessions/live-caller'
import { boolean, bytes, closePendingChange, isUndone, RAISE_VERSION, sql, statement, text, time } from '../sql'
import { type ChangeFacts, readChange } from './change-of-notice'
import { notMeUrl } from './not-me-token'
import { addressTakenPart, type PreparedChange, prepareChange, refusalOfTakenAddress, TARGET } from './prepare-change'
import { isOwnAddress } from './set-address'
import { macOfCode, recordVerification, sendVerification } from './verification-code'

interface RequestFacts extends ChangeFacts, Origin {
  hasPassword: boolean
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

export async function changeEmail(ctx: Context, input: Input<typeof contract>): Promise<Data<typeof contract>> {
  const address = parseAddress(input.new_email)
  if (!address || !(isOwnAddress(ctx, address) || parseNewAddress(input.new_email))) throw new AppError('EMAIL_001')
  const { places, targetBucket, ...proven } = await prepareChange(ctx, address, input)
  // The time of the place in the hourly limit, which is given back by it if the message comes back.
  const requestedAt = places.at
  const message = await withPlaces(ctx, places, () => sendMessage(ctx, address, input.verification_method))
  const change = { ...message, requestedAt, expiresAt: codeExpiresAt(ctx, message.sentAt, requestedAt) }
  // The message was delivered, so its place stays taken.
  const placeOfChange = { ...places, buckets: places.buckets.filter(({ name }) => name === 'change') }
  const opening = async () => {
    const refused = await ctx.transaction((tx) => open(tx, address, { ...change, ...proven, targetBucket }))
    if (refused) throw refused === 'taken' ? await refusalOfTakenAddress(ctx, address) : await refusalOfEnded(ctx)
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

/** The message is sent before the request is written, so that a refusal of the mail server leaves nothing behind. See decision 0004. */
async function sendMessage(ctx: Context, address: Address, method: VerificationMethod) {
  const changeId = ctx.secrets.randomId('ecr_')
  const code = ctx.secrets.randomCode()
  const validMs = Math.min(ctx.limits.codeValidityMs, ctx.limits.changeLifetimeMs)
  const accepted = await sendVerification(ctx, { id: changeId, messageId: changeId, address, code, method, validMs })
  if (!accepted) throw new AppError('EMAIL_009', undefined, 60)
  return { changeId, method, codeMac: macOfCode(ctx, changeId, code), sentAt: ctx.clock.now() }
}

const checkTarget = statement(
  'address-is-taken',
  TARGET,
  { is_address_taken: boolean },
  (v) => sql`SELECT ${addressTakenPart(v)} AS is_address_taken`,
)
const readPendingRequester = statement(
  'requester-of-pending-change',
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
  (v) => sql`INSERT INTO email_change_requests (id, user_id, status, method, old_email, new_email, new_email_key,
                                      code_mac, requested_at, request_ip, request_user_agent, requested_by, sent_at,
                                      expires_at, target_bucket)
   SELECT ${v.changeId}, id, 'pending_verification', ${v.method}, email, ${v.newEmail}, ${v.newEmailKey}, ${v.codeMac},
     ${v.requestedAt}, ${v.ip}, ${v.userAgent}, ${v.requestedBy}, ${v.sentAt}, ${v.expiresAt}, ${v.targetBucket} FROM users WHERE id = ${v.userId}`,
)

interface Opening extends Awaited<ReturnType<typeof sendMessage>>, Omit<PreparedChange, 'places'> {
  requestedAt: Date
  expiresAt: Date
}

/** Checks again under the account's lock, because password, caller and address may have changed while the message was sent. */
async function open(
  tx: Transaction<Context>,
  address: Address,
  { credentialVersion, hasPassword, changeId, sentAt: at, requestedAt, ...change }: Opening,
): Promise<'taken' | 'ended' | undefined> {
  const { actor, ip: ipAddress, userAgent } = tx
  const { userId } = actor
  const { typed: newEmail, key: newEmailKey, deliverable: to } = address
  tx.afterCommit((ctx) => recordVerification(ctx, { changeId, messageId: changeId, to, sentAt: at }))
  const [account, isLive, [target], [pending]] = await Promise.all([
    lockProven(tx, { userId, credentialVersion }),
    isStillLive(tx, actor),
    tx.sql(checkTarget, { userId, newEmailKey, heldSince: heldSince(tx, at) }),
    tx.sql(readPendingRequester, { userId }),
  ])
  if (!account) return 'ended'
  if (target?.is_address_taken) return 'taken'
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
    tx.sql(insertChange, { ...change, ...values }),
    addAudit(tx, 'email_change.requested', { userId, actor: actor.kind, subject: changeId, ip: ipAddress, at }),
    isOwn || addEvent(tx, 'account.email_change_requested', { userId, data, addresses: { oldEmail, newEmail }, at }),
    // Whoever reads a mailbox that was never verified may be anybody, and learns nothing.
    isOwn || !verifiedAt || addNotice(tx, emailChangeRequested, { userId, locale, recipients: ['old'], at }, facts),
  ])
  return undefined
}
