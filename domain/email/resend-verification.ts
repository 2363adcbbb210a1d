import { parseAddress } from '@/contract/address'
import type { Data, Input } from '@/contract/define'
import type { resendVerification as contract } from '@/contract/email'
import { AppError } from '@/contract/errors'
import { callerStatement } from '../access/caller'
import { type Call, type Context, type PendingChange, statement, UNWAITED } from '../context'
import {
  type Bucket,
  bucketState,
  givePlacesBack,
  judgePlaces,
  lookAtPlacesOf,
  noteBucket,
  type PlaceRow,
  secondsUntil,
  takePlacesOf,
} from '../rate-limit'
import { codeExpiresAt, refusalNow, requireOpenChange, resendAvailableAt, STILL_PENDING } from './pending-change'
import { macOfCode, sendVerification } from './verification-code'

/** The messages that went to a request's address. */
const BUCKET_KEY = `coalesce(r.target_bucket, 'targetMail:' || r.id)`

// Moving `sent_at` claims the wait: of parallel calls one finds the time that it has read.
const claim = callerStatement('claim-resend', {
  values: 6,
  parts: `open AS (
     SELECT r.id, r.sent_at, ${BUCKET_KEY} AS bucket
     FROM admitted JOIN email_change_requests r ON r.user_id = admitted.user_id
     WHERE r.id = $2 AND r.${STILL_PENDING} AND r.expires_at > $1 AND r.attempts < $3 AND r.sent_at <= $4
   ), places AS (
     ${takePlacesOf('(SELECT bucket AS key, NULL AS user_id, $5::int AS places, $6::bigint AS window_ms FROM open) AS b')}
   ), claimed AS (
     UPDATE email_change_requests r SET sent_at = $1
     FROM places, open
     WHERE places.granted AND r.id = open.id AND r.${STILL_PENDING} AND r.sent_at = open.sent_at
     RETURNING r.id
   )`,
  columns: `places.key, places.hits, places.granted, claimed.id AS claimed, ${UNWAITED}`,
  joins: 'LEFT JOIN places ON true LEFT JOIN claimed ON true',
})
const lookAtMessages = statement(
  'look-at-messages',
  lookAtPlacesOf(
    `(SELECT ${BUCKET_KEY} AS key, $3::int AS places, $4::bigint AS window_ms FROM email_change_requests r WHERE r.id = $2) AS b`,
  ),
)
const unclaim = statement(
  'unclaim-resend',
  `UPDATE email_change_requests SET sent_at = $3 WHERE id = $1 AND ${STILL_PENDING} AND sent_at = $2`,
)

const replaceCode = statement(
  'replace-verification-code',
  `WITH request AS (
     UPDATE email_change_requests SET code_mac = $3, method = $4, expires_at = $5
     WHERE id = $1 AND ${STILL_PENDING} AND sent_at = $2
     RETURNING id, user_id
   )
   INSERT INTO audit_events (id, user_id, action, actor, subject_id, ip, at)
   SELECT $6, user_id, 'email_change.resent', $7, id, $8, $2 FROM request
   RETURNING id`,
)

/** Without `key` where nothing may be sent. */
interface ClaimRow extends PlaceRow {
  key: string
  claimed: string | null
}

export async function resendVerification(call: Call, input: Input<typeof contract>): Promise<Data<typeof contract>> {
  const now = call.clock.now()
  const { targetMail, codeAttempts, resendCooldownMs } = call.limits
  const { ctx, rows } = await call.enter<ClaimRow>(claim, [
    now,
    input.change_request_id,
    codeAttempts,
    new Date(now.getTime() - resendCooldownMs),
    targetMail.places,
    targetMail.windowMs,
  ])
  const [row] = rows
  const change = ctx.actor.pendingChange
  if (!change || !row?.key) throw await tooEarly(ctx, requireOpenChange(ctx, input.change_request_id))
  noteWait(ctx, change)
  const places = await judgePlaces(ctx, { take: [messagesTo(ctx, row)], code: 'EMAIL_008' }, rows, now)
  if (row.claimed === null) {
    await givePlacesBack(ctx, places)
    throw await refusalAfterRace(ctx, change.id, now)
  }
  let accepted = false
  try {
    const address = parseAddress(change.newEmail)
    if (!address) throw new Error('a stored address does not parse')
    const code = ctx.secrets.randomCode()
    const method = input.verification_method ?? change.method
    const expiresAt = codeExpiresAt(ctx, now, change.requestedAt)
    accepted = await sendVerification(ctx, {
      id: change.id,
      messageId: `${change.id}-${now.getTime()}`,
      address,
      code,
      method,
      validMs: expiresAt.getTime() - now.getTime(),
    })
    if (!accepted) throw new AppError('EMAIL_009', undefined, 60)
    const replaced = await ctx.sql(replaceCode, [
      change.id,
      now,
      macOfCode(ctx, change.id, code),
      method,
      expiresAt,
      ctx.secrets.randomId('aud_'),
      ctx.actor.kind,
      ctx.ip,
    ])
    if (replaced.length === 0) throw new AppError('EMAIL_006')
    noteWait(ctx, { sentAt: now })
    return {
      verification_sent: true,
      method,
      expires_at: expiresAt.toISOString(),
      resend_available_at: resendAvailableAt(ctx, { sentAt: now }).toISOString(),
    }
  } catch (error) {
    // The mailbox has its message now, whatever becomes of the code: the place and the wait stay.
    if (accepted) throw error
    await givePlacesBack(ctx, places)
    await ctx.sql(unclaim, [change.id, now, change.sentAt])
    throw error
  }
}

/** Another resend was first, or the request is no longer open. */
async function refusalAfterRace(ctx: Context, id: string, now: Date): Promise<AppError> {
  const refusal = await refusalNow(ctx, id, 'EMAIL_008')
  return refusal.code === 'EMAIL_008' ? tooEarly(ctx, { id, sentAt: now }) : refusal
}

/** Tells the wait after which there is room for another message to the address as well. */
async function tooEarly(ctx: Context, change: Pick<PendingChange, 'id' | 'sentAt'>): Promise<AppError> {
  noteWait(ctx, change)
  const now = ctx.clock.now()
  const { places, windowMs } = ctx.limits.targetMail
  const rows = await ctx.sql<PlaceRow>(lookAtMessages, [now, change.id, places, windowMs])
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
