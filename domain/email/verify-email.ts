import type { Data, Input } from '@/contract/define'
import type { verifyEmail as contract } from '@/contract/email'
import { AppError } from '@/contract/errors'
import { callerStatement } from '../access/caller'
import { type Call, isUniqueViolation } from '../context'
import { leaseUntil, sendFirst, toChangeLetter, toDeliverable } from '../notices'
import {
  type AskedPlaces,
  judgePlaces,
  type PlaceRow,
  placeValues,
  TAKE_PLACES_IF_ADMITTED,
  userBucket,
} from '../rate-limit'
import { refusalNow, STILL_PENDING } from './pending-change'
import { macsOfCode } from './verification-code'

// The call is counted, the attempt is counted, and a right code takes effect, or the address turns out to be taken and nothing
// of it has happened. Locks are taken in the order bucket, account, request, as everywhere; that of the address comes last.
const judgeCode = callerStatement('judge-verification-code', {
  values: 13,
  parts: `places AS (${TAKE_PLACES_IF_ADMITTED}), account AS (
     SELECT u.id, admitted.id AS caller_id, admitted.kind AS caller_kind
     FROM places CROSS JOIN admitted JOIN users u ON u.id = admitted.user_id AND u.withdrawn_at IS NULL
     WHERE places.granted FOR UPDATE OF u
   ), attempt AS (
     UPDATE email_change_requests r
     SET attempts = r.attempts + 1,
         (status, closed_at, closed_ip) = (
           SELECT CASE WHEN effect THEN 'verified' ELSE r.status END, CASE WHEN effect THEN $1::timestamptz END, CASE WHEN effect THEN $9 END
           FROM (SELECT CASE WHEN r.code_mac = ANY($8::bytea[]) THEN address_is_free(r.new_email_key, r.user_id) END OFFSET 0) AS takes (effect)
         )
     FROM account
     WHERE r.id = $6 AND r.user_id = account.id AND r.${STILL_PENDING}
       AND r.expires_at > $1 AND r.attempts < $7 AND $8::bytea[] IS NOT NULL
     RETURNING r.id, r.user_id, r.attempts, r.status, r.code_mac = ANY($8::bytea[]) AS fits, r.old_email, r.new_email, r.new_email_key,
               caller_id, caller_kind
   ), request AS (
     SELECT id, user_id, new_email, new_email_key, caller_id, caller_kind FROM attempt WHERE status = 'verified'
   ), changed AS (
     UPDATE users u
     SET email = request.new_email, email_key = request.new_email_key, email_verified_at = $1, version = u.version + 1
     FROM request WHERE u.id = request.user_id
   ), ended AS (
     UPDATE sessions s SET revoked_at = $1
     FROM request WHERE s.user_id = request.user_id AND s.revoked_at IS NULL AND s.id <> request.caller_id
   ), audited AS (
     INSERT INTO audit_events (id, user_id, action, actor, subject_id, ip, at)
     SELECT $10, user_id, 'email.changed', caller_kind, id, $9, $1 FROM request
   ), notices AS (
     INSERT INTO notices (id, user_id, kind, recipient, change_request_id, created_at, due_at, attempts)
     SELECT n.id, request.user_id, 'email_changed', n.recipient, request.id, $1, $13::timestamptz, 1
     FROM request, (VALUES ($11, 'old'), ($12, 'new')) AS n (id, recipient)
   )`,
  columns: `places.key, places.hits, places.granted, attempt.attempts AS attempts_made, attempt.status AS outcome,
            attempt.fits, attempt.old_email, attempt.new_email AS verified_email`,
  joins: 'LEFT JOIN places ON true LEFT JOIN attempt ON true',
})

const FIRST_TRY_MS = 5_000

/** Without `attempts_made` where there was nothing to judge. */
interface AttemptRow extends PlaceRow {
  attempts_made: number | null
  outcome: string
  /** Whether the code was right. */
  fits: boolean
  old_email: string
  verified_email: string
}

export async function verifyEmail(call: Call, input: Input<typeof contract>): Promise<Data<typeof contract>> {
  const now = call.clock.now()
  const { userId } = call
  const { change_request_id: id, verification_code: code } = input
  const asked: AskedPlaces = { take: [userBucket(call, 'verify', userId)], code: 'RATE_001' }
  const noticeIds = { old: call.secrets.randomId('ntc_'), new: call.secrets.randomId('ntc_') }
  const judge = (macs: Buffer[] | null) =>
    call.enter<AttemptRow>(judgeCode, [
      ...placeValues(asked, now),
      id,
      call.limits.codeAttempts,
      macs,
      call.ip,
      call.secrets.randomId('aud_'),
      noticeIds.old,
      noticeIds.new,
      leaseUntil(now),
    ])
  let isBeaten = false
  // What cannot be a code is no attempt.
  const { ctx, rows } = await judge(code ? macsOfCode(call, id, code) : null).catch((error) => {
    // By somebody who wrote the address without asking for it first.
    if (!isUniqueViolation(error, 'users_email_key_key')) throw error
    isBeaten = true
    // The attempt counts all the same, and no code fits it.
    return judge([])
  })
  await judgePlaces(ctx, asked, rows, now)
  const [attempt] = rows
  if (!attempt?.attempts_made) throw await refusalNow(ctx, id, 'EMAIL_003')
  if (isBeaten || (attempt.fits && attempt.outcome !== 'verified')) throw new AppError('EMAIL_002')
  if (attempt.outcome !== 'verified') {
    throw new AppError('EMAIL_003', attemptsLeft(ctx.limits.codeAttempts - attempt.attempts_made))
  }

  const { old_email: oldEmail, verified_email: newEmail } = attempt
  const change = { userName: ctx.actor.user.name, oldEmail, newEmail, at: now, ipAddress: ctx.ip }
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

const attemptsLeft = (left: number) =>
  left === 0
    ? 'The code is wrong. No attempts are left; start a new change.'
    : `The code is wrong. ${left} ${left === 1 ? 'attempt' : 'attempts'} left.`

/** False when the time is over; the work itself goes on. */
const afterMs = (ms: number) => new Promise<false>((resolve) => setTimeout(resolve, ms, false).unref())
