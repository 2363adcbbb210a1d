import type { Data, Input } from '@/contract/define'
import type { resendVerification as contract, VerificationMethod } from '@/contract/email'
import { AppError } from '@/contract/errors'
import { serviceTokenOf } from '../audit'
import type { Context, PendingChange } from '../context'
import {
  type Bucket,
  bucketState,
  givePlacesBack,
  judgePlaces,
  lookAtPlacesOf,
  noteBucket,
  PLACE_ROW,
  secondsUntil,
  type TakenPlaces,
  takePlacesOf,
} from '../limits/buckets'
import {
  codeExpiresAt,
  requireOpenChange,
  requireStillOpenChange,
  resendAvailableAt,
  STILL_PENDING,
} from '../pending-change'
import { audit, bytes, integer, sql, statement, text, time, UNWAITED } from '../sql'
import { parseStoredAddress } from './set-address'
import { macOfCode, recordVerification, sendVerification } from './verification-code'

/** The bucket of the messages to the address of the change request `r`. */
const BUCKET_KEY = sql`coalesce(r.target_bucket, 'targetMail:' || r.id)`

// Moving `sent_at` claims the resend: of parallel calls, only one finds the time that it has read.
const claim = statement(
  'claim-resend',
  {
    changeId: text,
    userId: text,
    now: time,
    maxAttempts: integer,
    /** The last message must not be newer than this. */
    sentBefore: time,
    places: integer,
    windowMs: integer,
  },
  { ...PLACE_ROW, claimed: text.orNull },
  (v) => sql`WITH open AS (
     SELECT r.id, r.sent_at, ${BUCKET_KEY} AS bucket
     FROM email_change_requests r
     WHERE r.id = ${v.changeId} AND r.user_id = ${v.userId} AND ${STILL_PENDING} AND r.expires_at > ${v.now}
       AND r.attempts < ${v.maxAttempts} AND r.sent_at <= ${v.sentBefore}
   ), places AS (
     ${takePlacesOf(
       v,
       sql`(SELECT bucket AS key, NULL AS user_id, ${v.places}::int AS places, ${v.windowMs}::bigint AS window_ms FROM open) AS b`,
     )}
   ), claimed AS (
     UPDATE email_change_requests r SET sent_at = ${v.now}
     FROM places, open
     WHERE places.granted AND r.id = open.id AND ${STILL_PENDING} AND r.sent_at = open.sent_at
     RETURNING r.id
   )
   SELECT places.key, places.hits, places.granted, claimed.id AS claimed, ${UNWAITED}
   FROM places LEFT JOIN claimed ON true`,
)
const lookAtMessages = statement(
  'look-at-messages',
  { changeId: text, now: time, places: integer, windowMs: integer },
  PLACE_ROW,
  (v) =>
    lookAtPlacesOf(
      v,
      sql`(SELECT ${BUCKET_KEY} AS key, ${v.places}::int AS places, ${v.windowMs}::bigint AS window_ms
        FROM email_change_requests r WHERE r.id = ${v.changeId}) AS b`,
    ),
)
const unclaim = statement(
  'unclaim-resend',
  { changeId: text, claimedAt: time, sentAt: time },
  {},
  (v) => sql`UPDATE email_change_requests r SET sent_at = ${v.sentAt}
   WHERE id = ${v.changeId} AND ${STILL_PENDING} AND sent_at = ${v.claimedAt}`,
)

const replaceCode = statement(
  'replace-verification-code',
  {
    changeId: text,
    claimedAt: time,
    codeMac: bytes,
    method: text.of<VerificationMethod>(),
    expiresAt: time,
    auditId: text,
    callerKind: text,
    serviceTokenId: text.orNull,
    ip: text,
  },
  { id: text },
  (v) => sql`WITH request AS (
     UPDATE email_change_requests r SET code_mac = ${v.codeMac}, method = ${v.method}, expires_at = ${v.expiresAt}, delivery = 'sent'
     WHERE id = ${v.changeId} AND ${STILL_PENDING} AND sent_at = ${v.claimedAt}
     RETURNING id, user_id
   )
   ${audit('email_change.resent', {
     from: sql`request`,
     id: v.auditId,
     user: sql`user_id`,
     actor: v.callerKind,
     actorId: v.serviceTokenId,
     subject: sql`id`,
     ip: v.ip,
     at: v.claimedAt,
   })}
   RETURNING id`,
)

export async function resendVerification(ctx: Context, input: Input<typeof contract>): Promise<Data<typeof contract>> {
  const now = ctx.clock.now()
  const change = requireOpenChange(ctx, input.change_request_id)
  const { id: changeId } = change
  const places = await claimResend(ctx, change, now)
  const method = input.verification_method ?? change.method
  const expiresAt = codeExpiresAt(ctx, now, change.requestedAt)
  const { code, ...message } = await sendCode(ctx, change, { method, expiresAt, now }).catch(async (error) => {
    await givePlacesBack(ctx, places)
    await ctx.sql(unclaim, { changeId, claimedAt: now, sentAt: change.sentAt })
    throw error
  })
  // The message was delivered, so its place stays taken whatever fails from here on.
  const replaced = await ctx.sql(replaceCode, {
    changeId,
    claimedAt: now,
    codeMac: macOfCode(ctx, changeId, code),
    method,
    expiresAt,
    auditId: ctx.secrets.randomId('aud_'),
    callerKind: ctx.actor.kind,
    serviceTokenId: serviceTokenOf(ctx.actor, ctx.actor.kind),
    ip: ctx.ip,
  })
  ctx.background(() => recordVerification(ctx, message))
  if (replaced.length === 0) throw new AppError('EMAIL_006')
  noteWait(ctx, { sentAt: now })
  return {
    verification_sent: true,
    method,
    expires_at: expiresAt.toISOString(),
    resend_available_at: resendAvailableAt(ctx, { sentAt: now }).toISOString(),
  }
}

/** Takes the place of a message, and moves the time from which the wait counts, so that of parallel calls one sends. */
async function claimResend(ctx: Context, change: PendingChange, now: Date): Promise<TakenPlaces> {
  const { targetMail, codeAttempts, resendCooldownMs } = ctx.limits
  const rows = await ctx.sql(claim, {
    changeId: change.id,
    userId: ctx.actor.userId,
    now,
    maxAttempts: codeAttempts,
    sentBefore: new Date(now.getTime() - resendCooldownMs),
    places: targetMail.places,
    windowMs: targetMail.windowMs,
  })
  const [row] = rows
  // It is too early, or the request is no longer open.
  if (!row) throw await tooEarly(ctx, await requireStillOpenChange(ctx, change.id))
  noteWait(ctx, change)
  const places = await judgePlaces(ctx, { take: [messagesTo(ctx, row)] }, rows, now)
  if (row.claimed === null) {
    await givePlacesBack(ctx, places)
    throw await tooEarly(ctx, await requireStillOpenChange(ctx, change.id))
  }
  return places
}

interface Resend {
  method: VerificationMethod
  expiresAt: Date
  now: Date
}

/** Returns the new code, and the message that the mail server took. */
async function sendCode(ctx: Context, { id: changeId, newEmail }: PendingChange, { method, expiresAt, now }: Resend) {
  const address = parseStoredAddress(newEmail)
  const code = ctx.secrets.randomCode()
  const messageId = `${changeId}-${now.getTime()}`
  const validMs = expiresAt.getTime() - now.getTime()
  const isAccepted = await sendVerification(ctx, { id: changeId, messageId, address, code, method, validMs })
  if (!isAccepted) throw new AppError('EMAIL_009', undefined, 60)
  return { code, changeId, messageId, to: address.deliverable, sentAt: now }
}

/** The wait also covers the limit of messages to the address. */
async function tooEarly(ctx: Context, change: Pick<PendingChange, 'id' | 'sentAt'>): Promise<AppError> {
  noteWait(ctx, change)
  const now = ctx.clock.now()
  const { places, windowMs } = ctx.limits.targetMail
  const rows = await ctx.sql(lookAtMessages, { changeId: change.id, now, places, windowMs })
  const full = rows.filter(({ granted }) => !granted).map((row) => bucketState(messagesTo(ctx, row), row.hits, now))
  for (const state of full) noteBucket(ctx, state)
  const freeAt = Math.max(...[resendAvailableAt(ctx, change), ...full.map(({ resetsAt }) => resetsAt)].map(Number))
  return new AppError('EMAIL_008', undefined, secondsUntil(freeAt, now))
}

const messagesTo = (ctx: Context, { key }: { key: string }): Bucket => ({
  ...ctx.limits.targetMail,
  name: 'targetMail',
  key,
  userId: null,
})

function noteWait(ctx: Context, change: Pick<PendingChange, 'sentAt'>) {
  const resetsAt = resendAvailableAt(ctx, change)
  const remaining = resetsAt > ctx.clock.now() ? 0 : 1
  noteBucket(ctx, {
    name: 'resend',
    places: 1,
    windowMs: ctx.limits.resendCooldownMs,
    remaining,
    resetsAt: remaining ? ctx.clock.now() : resetsAt,
  })
}
