import type { Data, Input } from '@/contract/define'
import type { verifyEmail as contract } from '@/contract/email'
import { AppError } from '@/contract/errors'
import { type Context, isUniqueViolation, statement } from '../context'
import { leaseUntil, sendFirst, toChangeLetter, toDeliverable } from '../notices'
import {
  type AskedPlaces,
  judgePlaces,
  type PlaceRow,
  placeValues,
  TAKE_PLACES,
  takePlaces,
  userBucket,
} from '../rate-limit'
import { refusalNow, requireOpenChange } from './pending-change'
import { macsOfCode } from './verification-code'

// The call is counted, the attempt is counted, and a right code takes effect, or the address turns out to be taken and nothing
// of it has happened. Locks are taken in the order bucket, account, request, as everywhere.
const judgeCode = statement(
  'judge-verification-code',
  `WITH places AS (${TAKE_PLACES}), account AS (
     SELECT u.id FROM places JOIN users u ON u.id = $7 AND u.withdrawn_at IS NULL WHERE places.granted FOR UPDATE OF u
   ), attempt AS (
     UPDATE email_change_requests r
     SET attempts = r.attempts + 1,
         status = CASE WHEN r.code_mac = ANY($9::bytea[]) THEN 'verified' ELSE r.status END,
         closed_at = CASE WHEN r.code_mac = ANY($9::bytea[]) THEN $1::timestamptz END,
         closed_ip = CASE WHEN r.code_mac = ANY($9::bytea[]) THEN $10 END
     FROM account
     WHERE r.id = $6 AND r.user_id = account.id AND r.status = 'pending_verification'
       AND r.expires_at > $1 AND r.attempts < $8
     RETURNING r.id, r.user_id, r.attempts, r.status, r.old_email, r.new_email, r.new_email_key
   ), request AS (
     SELECT id, user_id, new_email, new_email_key FROM attempt WHERE status = 'verified'
   ), changed AS (
     UPDATE users u
     SET email = request.new_email, email_key = request.new_email_key, email_verified_at = $1, version = u.version + 1
     FROM request WHERE u.id = request.user_id
   ), ended AS (
     UPDATE sessions s SET revoked_at = $1
     FROM request WHERE s.user_id = request.user_id AND s.revoked_at IS NULL AND s.id <> $11
   ), audited AS (
     INSERT INTO audit_events (id, user_id, action, actor, subject_id, ip, at)
     SELECT $12, user_id, 'email.changed', $13, id, $10, $1 FROM request
   ), notices AS (
     INSERT INTO notices (id, user_id, kind, recipient, change_request_id, created_at, due_at, attempts)
     SELECT n.id, request.user_id, 'email_changed', n.recipient, request.id, $1, $16::timestamptz, 1
     FROM request, (VALUES ($14, 'old'), ($15, 'new')) AS n (id, recipient)
   )
   SELECT places.key, places.hits, places.granted, attempt.attempts, attempt.status, attempt.old_email, attempt.new_email
   FROM places LEFT JOIN attempt ON true`,
)

const FIRST_TRY_MS = 5_000

/** Without `attempts` where there was nothing to judge. */
interface AttemptRow extends PlaceRow {
  attempts: number | null
  status: string
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
  const noticeIds = { old: ctx.secrets.randomId('ntc_'), new: ctx.secrets.randomId('ntc_') }
  const judge = (macs: Buffer[]) =>
    ctx.sql<AttemptRow>(judgeCode, [
      ...placeValues(asked, now),
      input.change_request_id,
      userId,
      ctx.limits.codeAttempts,
      macs,
      ctx.ip,
      ctx.actor.id,
      ctx.secrets.randomId('aud_'),
      ctx.actor.kind,
      noticeIds.old,
      noticeIds.new,
      leaseUntil(now),
    ])
  let taken = false
  const rows = await judge(macsOfCode(ctx, input.change_request_id, input.verification_code)).catch((error) => {
    if (!isUniqueViolation(error, 'users_email_key_key')) throw error
    taken = true
    // The attempt counts all the same, and no code fits it.
    return judge([])
  })
  await judgePlaces(ctx, asked, rows, now)
  const [attempt] = rows
  if (!attempt?.attempts) throw await refusalNow(ctx, input.change_request_id, 'EMAIL_003')
  if (taken) throw new AppError('EMAIL_002')
  if (attempt.status !== 'verified') {
    throw new AppError('EMAIL_003', attemptsLeft(ctx.limits.codeAttempts - attempt.attempts))
  }

  const { old_email: oldEmail, new_email: newEmail } = attempt
  const change = { userName: user.name, oldEmail, newEmail, at: now, ipAddress: ctx.ip }
  const letter = toChangeLetter({ kind: 'email_changed', recipient: 'old' }, change)
  const sending = [
    sendFirst(ctx, { id: noticeIds.old, userId }, letter),
    sendFirst(ctx, { id: noticeIds.new, userId }, { ...letter, to: toDeliverable(newEmail) }),
  ]
  const sent = Promise.all(sending).then((results) => results.every(Boolean))
  return {
    email_verified: true,
    new_email: newEmail,
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

const attemptsLeft = (left: number) =>
  left === 0
    ? 'The code is wrong. No attempts are left; start a new change.'
    : `The code is wrong. ${left} ${left === 1 ? 'attempt' : 'attempts'} left.`

/** False when the time is over; the work itself goes on. */
const afterMs = (ms: number) => new Promise<false>((resolve) => setTimeout(resolve, ms, false).unref())
