import { parseAddress } from '@/contract/address'
import type { Data, Input } from '@/contract/define'
import type { verifyEmail as contract } from '@/contract/email'
import { AppError } from '@/contract/errors'
import { type Context, isUniqueViolation, type Message, statement } from '../context'
import { deliverNotice, leaseUntil } from '../notices'
import {
  type AskedPlaces,
  judgePlaces,
  MOVE_PLACES,
  type PlaceRow,
  placeValues,
  takePlaces,
  userBucket,
} from '../rate-limit'
import { refusalNow, requireOpenChange } from './pending-change'
import { codeMatches } from './verification-code'

// A statement of its own: inside the applying transaction a refusal would roll the count back.
const countAttempt = statement(
  'count-verification-attempt',
  `WITH places AS (${MOVE_PLACES}), counted AS (
     UPDATE email_change_requests r SET attempts = r.attempts + 1
     FROM places
     WHERE places.granted AND r.id = $7 AND r.user_id = $8 AND r.status = 'pending_verification'
       AND r.expires_at > $1 AND r.attempts < $9
     RETURNING r.id, r.attempts, r.code_mac
   )
   SELECT places.key, places.hits, places.granted, counted.id, counted.attempts, counted.code_mac
   FROM places LEFT JOIN counted ON true`,
)

const applyChange = statement(
  'apply-email-change',
  `WITH account AS (
     SELECT id FROM users WHERE id = $2 AND withdrawn_at IS NULL FOR UPDATE
   ), request AS (
     UPDATE email_change_requests r SET status = 'verified', closed_at = $3, closed_ip = $4
     FROM account
     WHERE r.id = $1 AND r.user_id = account.id AND r.status = 'pending_verification' AND r.code_mac = $5
     RETURNING r.id, r.user_id, r.old_email, r.new_email, r.new_email_key
   ), changed AS (
     UPDATE users u SET email = request.new_email, email_key = request.new_email_key, email_verified_at = $3
     FROM request WHERE u.id = request.user_id
   ), ended AS (
     UPDATE sessions s SET revoked_at = $3
     FROM request WHERE s.user_id = request.user_id AND s.revoked_at IS NULL AND s.id <> $6
   ), audited AS (
     INSERT INTO audit_events (id, user_id, action, actor, subject_id, ip, at)
     SELECT $7, user_id, 'email.changed', $8, id, $4, $3 FROM request
   ), notices AS (
     INSERT INTO notices (id, user_id, kind, recipient, change_request_id, created_at, due_at, attempts)
     SELECT n.id, request.user_id, 'email_changed', n.recipient, request.id, $3, $11::timestamptz, 1
     FROM request, (VALUES ($9, 'old'), ($10, 'new')) AS n (id, recipient)
   )
   SELECT old_email, new_email FROM request`,
)

const FIRST_TRY_MS = 5_000

interface AttemptRow extends PlaceRow {
  id: string | null
  attempts: number
  code_mac: Buffer
}

interface AppliedRow {
  old_email: string
  new_email: string
}

export async function verifyEmail(ctx: Context, input: Input<typeof contract>): Promise<Data<typeof contract>> {
  const now = ctx.clock.now()
  const { userId, user } = ctx.actor
  const asked: AskedPlaces = { take: [userBucket(ctx, 'verify', userId)], code: 'RATE_001' }
  const refusal = refusalOf(ctx, input)
  if (refusal) {
    await takePlaces(ctx, asked)
    throw refusal
  }
  const attempt = await ctx.sql<AttemptRow>(countAttempt, [
    ...placeValues(asked, now),
    input.change_request_id,
    userId,
    ctx.limits.codeAttempts,
  ])
  await judgePlaces(ctx, asked, attempt, now)
  const [request] = attempt
  if (!request?.id) throw await refusalNow(ctx, input.change_request_id, 'EMAIL_003')
  if (!codeMatches(ctx, { id: request.id, code_mac: request.code_mac }, input.verification_code)) {
    throw new AppError('EMAIL_003', attemptsLeft(ctx.limits.codeAttempts - request.attempts))
  }
  const noticeIds = { old: ctx.secrets.randomId('ntc_'), new: ctx.secrets.randomId('ntc_') }
  const applied = await apply(ctx, [
    request.id,
    userId,
    now,
    ctx.ip,
    request.code_mac,
    ctx.actor.kind === 'session' ? ctx.actor.id : '',
    ctx.secrets.randomId('aud_'),
    ctx.actor.kind,
    noticeIds.old,
    noticeIds.new,
    leaseUntil(now),
  ])
  if (!applied) throw await refusalNow(ctx, input.change_request_id, 'EMAIL_003')
  const change = { oldEmail: applied.old_email, newEmail: applied.new_email, changedAt: now, ipAddress: ctx.ip }
  const message: Message = { template: 'email-changed', userName: user.name, ...change }
  const sending = [
    trySending(ctx, { id: noticeIds.old, to: applied.old_email, message }),
    trySending(ctx, { id: noticeIds.new, to: applied.new_email, message }),
  ]
  const sent = Promise.all(sending).then((results) => results.every(Boolean))
  return {
    email_verified: true,
    new_email: applied.new_email,
    changed_at: now.toISOString(),
    notification_sent: await Promise.race([sent, afterMs(FIRST_TRY_MS)]),
  }
}

/** What is plain from what came with the token; the order is that of the contract. */
function refusalOf(ctx: Context, input: Input<typeof contract>): unknown {
  try {
    requireOpenChange(ctx, input.change_request_id)
    return input.verification_code ? null : new AppError('EMAIL_003')
  } catch (refusal) {
    return refusal
  }
}

async function apply(ctx: Context, values: unknown[]): Promise<AppliedRow | undefined> {
  try {
    const [row] = await ctx.sql<AppliedRow>(applyChange, values)
    return row
  } catch (error) {
    if (isUniqueViolation(error, 'users_email_key_key')) throw new AppError('EMAIL_002')
    throw error
  }
}

const attemptsLeft = (left: number) =>
  left === 0
    ? 'The code is wrong. No attempts are left; start a new change.'
    : `The code is wrong. ${left} ${left === 1 ? 'attempt' : 'attempts'} left.`

/** The address has changed: whatever happens to the notice now, its row has it sent later. */
function trySending(ctx: Context, { id, to, message }: { id: string; to: string; message: Message }): Promise<boolean> {
  const letter = { to: parseAddress(to)?.deliverable ?? to, message }
  return deliverNotice(ctx, { id, userId: ctx.actor.userId, attempts: 1 }, letter).catch((error) => {
    ctx.background(() => Promise.reject(error))
    return false
  })
}

/** False when the time is over; the work itself goes on. */
const afterMs = (ms: number) => new Promise<false>((resolve) => setTimeout(resolve, ms, false).unref())
