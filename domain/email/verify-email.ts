import type { Data, Input } from '@/contract/define'
import { verifyEmail as contract } from '@/contract/email'
import { AppError } from '@/contract/errors'
import { addAudit } from '../audit'
import type { Context } from '../context'
import {
  type AskedPlaces,
  bucketOf,
  judgePlaces,
  PLACE_ROW,
  TAKE_VALUES,
  takePlacesPart,
  takeValues,
} from '../limits/buckets'
import { NOTICE_WAIT_MS } from '../limits/durations'
import { requireStillOpenChange, STILL_PENDING } from '../pending-change'
import { noteIncident } from '../security-incidents'
import {
  boolean,
  bytes,
  endSessions,
  integer,
  isUniqueViolation,
  type RowOf,
  sql,
  statement,
  type Transaction,
  text,
  time,
} from '../sql'
import { tellEmailChanged } from './email-changed'
import { setAddress } from './set-address'
import { macsOfCode } from './verification-code'

// Counts the attempt whatever the code is. Lock order: bucket, account, change request.
const judgeCode = statement(
  'judge-verification-code',
  {
    ...TAKE_VALUES,
    userId: text,
    changeId: text,
    /** The MACs that the right code may have; null for a text that cannot be a code and is no attempt. */
    codeMacs: bytes.list.orNull,
    maxAttempts: integer,
  },
  {
    ...PLACE_ROW,
    attempts: integer.orNull,
    is_right: boolean.whenJoined,
    new_email: text.whenJoined,
    new_email_key: text.whenJoined,
    user_id: text.whenJoined,
    name: text.whenJoined,
    locale: text.orNull,
    email: text.whenJoined,
    email_key: text.whenJoined,
    email_verified_at: time.orNull,
    version: integer.whenJoined,
  },
  (v) => sql`WITH places AS (${takePlacesPart(v)}), account AS (
     SELECT u.id AS user_id, u.name, u.locale, u.email, u.email_key, u.email_verified_at, u.version
     FROM places JOIN users u ON u.id = ${v.userId} AND u.withdrawn_at IS NULL WHERE places.granted FOR UPDATE OF u
   ), attempt AS (
     UPDATE email_change_requests r SET attempts = r.attempts + 1 FROM account
     WHERE r.id = ${v.changeId} AND r.user_id = account.user_id AND ${STILL_PENDING}
       AND r.expires_at > ${v.now} AND r.attempts < ${v.maxAttempts} AND ${v.codeMacs}::bytea[] IS NOT NULL
     RETURNING r.attempts, r.code_mac = ANY(${v.codeMacs}::bytea[]) AS is_right, r.new_email, r.new_email_key, account.*
   )
   SELECT places.key, places.hits, places.granted, attempt.* FROM places LEFT JOIN attempt ON true`,
)
type Attempt = RowOf<typeof judgeCode>

export async function verifyEmail(ctx: Context, input: Input<typeof contract>): Promise<Data<typeof contract>> {
  const at = ctx.clock.now()
  const asked: AskedPlaces = { take: [bucketOf(contract, ctx, ctx.actor.userId)], code: 'RATE_001' }
  // A refused code is no failure of the transaction: its attempt counts.
  const { attempt, verified } = await ctx
    .transaction(async (tx) => {
      const attempt = await judge(ctx, tx, input, asked, at)
      return {
        attempt,
        verified: attempt.is_right ? await verify(ctx, tx, input.change_request_id, attempt, at) : null,
      }
    })
    .catch((error) => {
      // Another writer stored the address without `address_is_free`.
      throw isUniqueViolation(error, 'users_email_key_key') ? new AppError('EMAIL_002') : error
    })
  await judgePlaces(ctx, asked, [attempt], at)
  if (!verified) throw await refusalOf(ctx, input.change_request_id, attempt)
  return {
    email_verified: true,
    new_email: attempt.new_email,
    changed_at: at.toISOString(),
    notification_sent: verified.isTold && (await Promise.race([verified.isTold, afterMs(NOTICE_WAIT_MS)])),
  }
}

async function judge(
  ctx: Context,
  tx: Transaction,
  { change_request_id: changeId, verification_code: code }: Input<typeof contract>,
  asked: AskedPlaces,
  now: Date,
): Promise<Attempt> {
  const [attempt] = await tx(judgeCode, {
    ...takeValues(asked, now),
    userId: ctx.actor.userId,
    changeId,
    codeMacs: code ? macsOfCode(ctx, changeId, code) : null,
    maxAttempts: ctx.limits.codeAttempts,
  })
  return attempt as Attempt
}

async function refusalOf(ctx: Context, changeId: string, { attempts, is_right }: Attempt): Promise<AppError> {
  if (is_right) return new AppError('EMAIL_002')
  if (attempts === null) {
    await requireStillOpenChange(ctx, changeId)
    return new AppError('EMAIL_003')
  }
  const left = ctx.limits.codeAttempts - attempts
  if (left === 0) ctx.background(() => noteIncident(ctx, 'code_locked', { userId: ctx.actor.userId }))
  return new AppError('EMAIL_003', attemptsLeft(left))
}

const close = statement(
  'close-verified-change',
  { changeId: text, at: time, ip: text, oldEmailKey: text.orNull, oldVerifiedAt: time.orNull, version: integer },
  {},
  (v) => sql`UPDATE email_change_requests
   SET status = 'verified', closed_at = ${v.at}, closed_ip = ${v.ip}, old_email_key = ${v.oldEmailKey},
     old_verified_at = ${v.oldVerifiedAt}, account_version = ${v.version}
   WHERE id = ${v.changeId}`,
)
const endOtherSessions = statement('end-sessions-but-one', { userId: text, except: text, at: time }, {}, (v) =>
  endSessions({ user: v.userId, except: v.except, at: v.at }),
)

interface Verified {
  /** Whether both mailboxes were told; false for the account's own address, which was verified and did not change. */
  isTold: false | Promise<boolean>
}

/** The code was right: it takes effect, unless somebody else has the address. */
async function verify(
  ctx: Context,
  tx: Transaction,
  changeId: string,
  { email: oldEmail, email_key: oldEmailKey, new_email: newEmail, new_email_key: newEmailKey, ...account }: Attempt,
  at: Date,
): Promise<Verified | null> {
  const { id: callerId, kind } = ctx.actor
  const { user_id: userId, name: userName, locale, version, email_verified_at: oldVerifiedAt } = account
  const isOwn = newEmailKey === oldEmailKey
  const address = { typed: isOwn ? oldEmail : newEmail, key: newEmailKey }
  if (!(await setAddress(ctx, tx, { userId, address, verifiedAt: at, at }))) return null
  const by = { actor: kind, ip: ctx.ip }
  const closed = { changeId, at, ip: ctx.ip, oldEmailKey: isOwn ? null : oldEmailKey, version: version + 1 }
  const closing = tx(close, { ...closed, oldVerifiedAt })
  if (isOwn) {
    await Promise.all([closing, addAudit(ctx, tx, 'email.verified', { ...by, userId, subject: changeId, at })])
    return { isTold: false }
  }
  const [{ isTaken }] = await Promise.all([
    tellEmailChanged(ctx, tx, { changeId, userId, userName, locale, oldEmail, newEmail, at, by }),
    closing,
    tx(endOtherSessions, { userId, except: callerId, at }),
  ])
  return { isTold: isTaken }
}

const attemptsLeft = (left: number) =>
  left === 0
    ? 'The code is wrong. No attempts are left; start a new change.'
    : `The code is wrong. ${left} ${left === 1 ? 'attempt' : 'attempts'} left.`

/** False when the time has passed; the work itself goes on. */
const afterMs = (ms: number) => new Promise<false>((resolve) => setTimeout(resolve, ms, false).unref())
