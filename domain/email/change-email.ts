import { parseAddress } from '@/contract/address'
import type { Data, Input } from '@/contract/define'
import type { changeEmail as contract } from '@/contract/email'
import { AppError } from '@/contract/errors'
import { callerStatement } from '../access/caller'
import { type Call, type Context, isUndone, isUniqueViolation, statement, UNWAITED } from '../context'
import { leaseUntil, sendFirst, toChangeLetter } from '../notices'
import {
  type AskedPlaces,
  givePlacesBack,
  judgePlaces,
  LOOK_AT_PLACES,
  lookValues,
  type PlaceRow,
  placeValues,
  pseudonymousBucket,
  returnPlaces,
  TAKE_PLACES_IF_ADMITTED,
  type TakenPlaces,
  takePlaces,
  userBucket,
} from '../rate-limit'
import { codeExpiresAt } from './pending-change'
import { macOfCode, sendVerification } from './verification-code'

// The limits and what they guard in one look. The hash is compared, and the answer given, only if all of them have room.
const beginChange = callerStatement('begin-email-change', {
  values: 9,
  parts: `taken AS (${TAKE_PLACES_IF_ADMITTED}), looked AS (${LOOK_AT_PLACES})`,
  columns: `places.key, places.hits, places.granted, u.password_hash,
            EXISTS (SELECT FROM users WHERE email_key = $9) AS taken, ${UNWAITED}`,
  joins: `LEFT JOIN (SELECT * FROM taken UNION ALL SELECT * FROM looked) AS places ON true
          LEFT JOIN users u ON u.id = (SELECT user_id FROM admitted)`,
})

// Of what ended while the message was on its way, nothing may be opened: neither for an old password nor by a caller
// who has been signed out, nor for an address that was taken meanwhile. The caller's row is locked after the account's, as
// those who end it do.
// The password was right, so its places are free again.
// The new request is written after the one it supersedes was closed: the count makes PostgreSQL finish that first.
const openRequest = statement(
  'open-email-change',
  `WITH locked AS (
     UPDATE users SET version = version + 1 WHERE id = $1 AND password_hash = $2 AND withdrawn_at IS NULL
     RETURNING id, email, email_key
   ), taken AS (
     SELECT FROM locked WHERE email_key = $7 OR EXISTS (SELECT FROM users WHERE email_key = $7)
   ), session AS (
     SELECT s.id FROM locked JOIN sessions s ON s.id = $15 AND s.revoked_at IS NULL FOR SHARE OF s
   ), token AS (
     SELECT t.id FROM locked JOIN access_tokens t ON t.id = $15 AND t.revoked_at IS NULL FOR SHARE OF t
   ), account AS (
     SELECT id, email FROM locked
     WHERE ($13 = 'outside_token' OR EXISTS (SELECT FROM session) OR EXISTS (SELECT FROM token))
       AND NOT EXISTS (SELECT FROM taken)
   ), superseded AS (
     UPDATE email_change_requests r SET status = 'superseded', closed_at = $3
     FROM account WHERE r.user_id = $1 AND r.status = 'pending_verification'
     RETURNING r.id
   ), request AS (
     INSERT INTO email_change_requests (id, user_id, status, method, old_email, new_email, new_email_key, code_mac,
                                        requested_at, request_ip, sent_at, expires_at, target_bucket)
     SELECT $4, id, 'pending_verification', $5, email, $6, $7, $8, $9, $10, $3, $11, $19
     FROM account WHERE (SELECT count(*) FROM superseded) >= 0
     RETURNING id, user_id, old_email
   ), returned AS (
     ${returnPlaces('$16', '$17')}
   ), audited AS (
     INSERT INTO audit_events (id, user_id, action, actor, subject_id, ip, at)
     SELECT $12, user_id, 'email_change.requested', $13, id, $10, $3 FROM request
   ), notice AS (
     INSERT INTO notices (id, user_id, kind, recipient, change_request_id, created_at, due_at, attempts)
     SELECT $14, user_id, 'email_change_requested', 'old', id, $3, $18::timestamptz, 1 FROM request
   )
   SELECT (SELECT old_email FROM request), EXISTS (SELECT FROM taken) AS taken`,
)

export async function changeEmail(call: Call, input: Input<typeof contract>): Promise<Data<typeof contract>> {
  const address = parseAddress(input.new_email)
  if (!address) throw new AppError('EMAIL_001')
  const { userId } = call
  const bucket = (name: Parameters<typeof userBucket>[1]) => userBucket(call, name, userId)
  const messages = pseudonymousBucket(call, 'targetMail', address.key)
  const quota = [bucket('change'), pseudonymousBucket(call, 'target', address.key), messages]

  // Counted before hashing: however many guesses arrive at once, five are hashed.
  const asked: AskedPlaces = {
    take: [bucket('password'), bucket('passwordDay')],
    look: [...quota, bucket('taken')],
    code: 'EMAIL_008',
  }
  const now = call.clock.now()
  const { ctx, rows: found } = await call.enter<PlaceRow & { password_hash: string | null; taken: boolean }>(
    beginChange,
    [...placeValues(asked, now), ...lookValues(asked), address.key],
  )
  const guess = await judgePlaces(ctx, asked, found, now)
  const { password_hash: passwordHash, taken } = found[0] ?? { password_hash: null }
  if (!passwordHash) throw new AppError('AUTH_001')

  const refuseTaken = async () => {
    await takePlaces(ctx, { take: [bucket('taken')], code: 'EMAIL_008' })
    const isOwn = parseAddress(ctx.actor.user.email)?.key === address.key
    throw new AppError('EMAIL_002', isOwn ? 'This is already your address.' : undefined)
  }
  let held: TakenPlaces[] = [guess]
  try {
    if (!(await ctx.passwords.verify(passwordHash, input.current_password))) {
      held = []
      throw new AppError('EMAIL_007')
    }
    if (taken) await refuseTaken()
    const places = await takePlaces(ctx, { take: quota, code: 'EMAIL_008' })
    held.push(places)
    const requestedAt = ctx.clock.now()
    const id = ctx.secrets.randomId('ecr_')
    const code = ctx.secrets.randomCode()
    const method = input.verification_method ?? 'email_code'
    const accepted = await sendVerification(ctx, {
      id,
      messageId: id,
      address,
      code,
      method,
      validMs: Math.min(ctx.limits.codeValidityMs, ctx.limits.changeLifetimeMs),
    })
    if (!accepted) throw new AppError('EMAIL_009', undefined, 60)
    // The mailbox has its message now, whatever becomes of the request.
    const change = { ...places, buckets: places.buckets.filter(({ name }) => name === 'change') }
    const sentAt = ctx.clock.now()
    const expiresAt = codeExpiresAt(ctx, sentAt, requestedAt)
    const noticeId = ctx.secrets.randomId('ntc_')
    // Should the answer be lost, it is not known whether the request was opened: then its place stays taken.
    held = []
    const opened = await openOnce(ctx, [
      userId,
      passwordHash,
      sentAt,
      id,
      method,
      address.typed,
      address.key,
      macOfCode(ctx, id, code),
      requestedAt,
      ctx.ip,
      expiresAt,
      ctx.secrets.randomId('aud_'),
      ctx.actor.kind,
      noticeId,
      ctx.actor.id,
      guess.buckets.map(({ key }) => key),
      guess.at,
      leaseUntil(sentAt),
      messages.key,
    ]).catch((error) => {
      if (isUndone(error)) held = [guess, change]
      throw error
    })
    if (opened.old_email === null) {
      held = [change]
      if (opened.taken) await refuseTaken()
      // Who was signed out, or withdrawn, meanwhile is told that instead.
      await call.enter()
      throw new AppError('EMAIL_007', 'The password was changed meanwhile. Enter the new one.')
    }
    sendFirst(
      ctx,
      { id: noticeId, userId },
      toChangeLetter(
        { kind: 'email_change_requested', recipient: 'old' },
        {
          userName: ctx.actor.user.name,
          oldEmail: opened.old_email,
          newEmail: address.typed,
          at: requestedAt,
          ipAddress: ctx.ip,
        },
      ),
    )
    return {
      change_request_id: id,
      status: 'pending_verification',
      new_email: address.typed,
      verification_method: method,
      verification_expires_at: expiresAt.toISOString(),
      current_email_retained: true,
    }
  } catch (error) {
    for (const places of held) await givePlacesBack(ctx, places)
    throw error
  }
}

interface OpenedRow {
  /** The address that is to be replaced; null where nothing was opened. */
  old_email: string | null
  taken: boolean
}

/** A parallel change of the same user can win the one pending place between our snapshot and our row: then look again. */
async function openOnce(ctx: Context, values: unknown[]): Promise<OpenedRow> {
  for (let tries = 1; ; tries++) {
    try {
      const [row] = await ctx.sql<OpenedRow>(openRequest, values)
      if (!row) throw new Error('open-email-change answers one row')
      return row
    } catch (error) {
      if (tries === ctx.limits.change.places || !isUniqueViolation(error, 'email_change_requests_one_pending'))
        throw error
    }
  }
}
