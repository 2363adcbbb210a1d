import { parseAddress } from '@/contract/address'
import type { Data, Input } from '@/contract/define'
import type { resendVerification as contract } from '@/contract/email'
import { AppError } from '@/contract/errors'
import { type Context, type PendingChange, statement } from '../context'
import { givePlacesBack, noteBucket, pseudonymousBucket, secondsUntil, takePlaces } from '../rate-limit'
import { codeExpiresAt, refusalNow, requireOpenChange, resendAvailableAt } from './pending-change'
import { macOfCode, sendVerification } from './verification-code'

// Moving `sent_at` claims the wait: of parallel calls one finds the time that it has read.
const claim = statement(
  'claim-resend',
  `UPDATE email_change_requests SET sent_at = $3
   WHERE id = $1 AND user_id = $2 AND status = 'pending_verification' AND sent_at = $4
   RETURNING id`,
)

const replaceCode = statement(
  'replace-verification-code',
  `WITH request AS (
     UPDATE email_change_requests SET code_mac = $3, method = $4, expires_at = $5
     WHERE id = $1 AND status = 'pending_verification' AND sent_at = $2
     RETURNING id, user_id
   )
   INSERT INTO audit_events (id, user_id, action, actor, subject_id, ip, at)
   SELECT $6, user_id, 'email_change.resent', $7, id, $8, $2 FROM request
   RETURNING id`,
)

export async function resendVerification(ctx: Context, input: Input<typeof contract>): Promise<Data<typeof contract>> {
  const change = requireOpenChange(ctx, input.change_request_id)
  const address = parseAddress(change.newEmail)
  if (!address) throw new Error('a stored address does not parse')
  noteWait(ctx, change)
  const now = ctx.clock.now()
  if (resendAvailableAt(ctx, change) > now) throw tooEarly(ctx, change)

  const places = await takePlaces(ctx, {
    take: [pseudonymousBucket(ctx, 'targetMail', address.key)],
    code: 'EMAIL_008',
  })
  let claimed = false
  let accepted = false
  try {
    claimed = await moveSentAt(ctx, change.id, change.sentAt, now)
    if (!claimed) throw await refusalAfterRace(ctx, change.id, now)
    const code = ctx.secrets.randomCode()
    const method = input.verification_method ?? change.method
    const expiresAt = codeExpiresAt(ctx, now, change.requestedAt)
    accepted = await sendVerification(ctx, {
      id: change.id,
      messageId: `${change.id}-${now.getTime()}`,
      address,
      code,
      method,
      validHours: Math.max(0.1, Math.round((expiresAt.getTime() - now.getTime()) / 360_000) / 10),
    })
    if (!accepted) throw new AppError('EMAIL_009', undefined, 60)
    const rows = await ctx.sql(replaceCode, [
      change.id,
      now,
      macOfCode(ctx, change.id, code),
      method,
      expiresAt,
      ctx.secrets.randomId('aud_'),
      ctx.actor.kind,
      ctx.ip,
    ])
    if (rows.length === 0) throw new AppError('EMAIL_006')
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
    if (claimed) await moveSentAt(ctx, change.id, now, change.sentAt)
    throw error
  }
}

async function moveSentAt(ctx: Context, id: string, from: Date, to: Date): Promise<boolean> {
  const rows = await ctx.sql(claim, [id, ctx.actor.userId, to, from])
  return rows.length === 1
}

/** Another resend was first, or the request is no longer open. */
async function refusalAfterRace(ctx: Context, id: string, now: Date): Promise<AppError> {
  const refusal = await refusalNow(ctx, id, 'EMAIL_008')
  return refusal.code === 'EMAIL_008' ? tooEarly(ctx, { sentAt: now }) : refusal
}

const tooEarly = (ctx: Context, change: Pick<PendingChange, 'sentAt'>) =>
  new AppError('EMAIL_008', undefined, secondsUntil(resendAvailableAt(ctx, change), ctx.clock.now()))

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
