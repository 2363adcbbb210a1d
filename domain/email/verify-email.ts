import type { Data, Input } from '@/contract/define'
import type { verifyEmail as contract } from '@/contract/email'
import { AppError } from '@/contract/errors'
import { type Context, isUniqueViolation, statement } from '../context'
import { sendNotice } from '../notices'
import { refusalNow, requireOpenChange } from './pending-change'
import { codeMatches } from './verification-code'

// A statement of its own: inside the applying transaction a refusal would roll the count back.
const countAttempt = statement(
  'count-verification-attempt',
  `UPDATE email_change_requests SET attempts = attempts + 1
   WHERE id = $1 AND user_id = $2 AND status = 'pending_verification' AND expires_at > $3 AND attempts < $4
   RETURNING id, attempts, code_mac, new_email`,
)

const applyChange = statement(
  'apply-email-change',
  `WITH account AS (
     SELECT id FROM users WHERE id = $2 AND withdrawn_at IS NULL FOR UPDATE
   ), request AS (
     UPDATE email_change_requests r SET status = 'verified', closed_at = $3, closed_ip = $4
     FROM account
     WHERE r.id = $1 AND r.user_id = account.id AND r.status = 'pending_verification' AND r.code_mac = $5
     RETURNING r.id, r.user_id, r.new_email, r.new_email_key
   ), changed AS (
     UPDATE users u SET email = request.new_email, email_key = request.new_email_key, email_verified_at = $3
     FROM request WHERE u.id = request.user_id
   ), ended AS (
     UPDATE sessions s SET revoked_at = $3
     FROM request WHERE s.user_id = request.user_id AND s.revoked_at IS NULL AND s.id <> $6
   ), audited AS (
     INSERT INTO audit_events (id, user_id, action, actor, subject_id, ip, at)
     SELECT $7, user_id, 'email.changed', $8, id, $4, $3 FROM request
   )
   INSERT INTO notices (id, user_id, kind, recipient, change_request_id, created_at, due_at)
   SELECT n.id, request.user_id, 'email_changed', n.recipient, request.id, $3, $3
   FROM request, (VALUES ($9, 'old'), ($10, 'new')) AS n (id, recipient)
   RETURNING id`,
)

const FIRST_TRY_MS = 5_000

export async function verifyEmail(ctx: Context, input: Input<typeof contract>): Promise<Data<typeof contract>> {
  const now = ctx.clock.now()
  const { userId } = ctx.actor
  requireOpenChange(ctx, input.change_request_id)
  if (!input.verification_code) throw new AppError('EMAIL_003')
  const [request] = await ctx.sql<{ id: string; attempts: number; code_mac: Buffer; new_email: string }>(countAttempt, [
    input.change_request_id,
    userId,
    now,
    ctx.limits.codeAttempts,
  ])
  if (!request) throw await refusalNow(ctx, input.change_request_id, 'EMAIL_003')
  if (!codeMatches(ctx, request, input.verification_code)) {
    throw new AppError('EMAIL_003', attemptsLeft(ctx.limits.codeAttempts - request.attempts))
  }
  const noticeIds = await apply(ctx, [
    request.id,
    userId,
    now,
    ctx.ip,
    request.code_mac,
    ctx.actor.kind === 'session' ? ctx.actor.id : '',
    ctx.secrets.randomId('aud_'),
    ctx.actor.kind,
    ctx.secrets.randomId('ntc_'),
    ctx.secrets.randomId('ntc_'),
  ])
  if (noticeIds.length === 0) throw await refusalNow(ctx, input.change_request_id, 'EMAIL_003')
  const sent = Promise.all(noticeIds.map((id) => trySending(ctx, id))).then((results) => results.every(Boolean))
  return {
    email_verified: true,
    new_email: request.new_email,
    changed_at: now.toISOString(),
    notification_sent: await Promise.race([sent, afterMs(FIRST_TRY_MS)]),
  }
}

async function apply(ctx: Context, values: unknown[]): Promise<string[]> {
  try {
    const notices = await ctx.sql<{ id: string }>(applyChange, values)
    return notices.map(({ id }) => id)
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
const trySending = (ctx: Context, noticeId: string): Promise<boolean> =>
  sendNotice(ctx, noticeId).catch((error) => {
    ctx.background(() => Promise.reject(error))
    return false
  })

/** False when the time is over; the work itself goes on. */
const afterMs = (ms: number) => new Promise<false>((resolve) => setTimeout(resolve, ms, false).unref())
