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
import { lockAccountOfId } from '../lock-account'
import { requireStillOpenChange, STILL_PENDING } from '../pending-change'
import { noteIncident } from '../security-incidents'
import {
  boolean,
  bytes,
  endSessions,
  integer,
  type RowOf,
  sql,
  statement,
  type Transaction,
  text,
  time,
  UNWAITED,
} from '../sql'
import { tellEmailChanged } from './email-changed'
import { refuseTakenAddress, setAddress } from './set-address'
import { macsOfCode } from './verification-code'

// Counts the attempt whatever the code is. A wrong one is on disk before its answer; the commit of a right one's effect carries it along.
// Lock order: bucket, account, change request.
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
  { ...PLACE_ROW, attempts: integer.orNull, is_right: boolean.whenJoined },
  (v) => sql`WITH places AS (${takePlacesPart(v)}), account AS (
     SELECT u.id FROM places JOIN users u ON u.id = ${v.userId} AND u.withdrawn_at IS NULL
     WHERE places.granted FOR UPDATE OF u
   ), attempt AS (UPDATE email_change_requests r SET attempts = r.attempts + 1 FROM account
     WHERE r.id = ${v.changeId} AND r.user_id = account.id AND ${STILL_PENDING}
       AND r.expires_at > ${v.now} AND r.attempts < ${v.maxAttempts} AND ${v.codeMacs}::bytea[] IS NOT NULL
     RETURNING r.attempts, r.code_mac = ANY(${v.codeMacs}::bytea[]) AS is_right
   )
   SELECT places.key, places.hits, places.granted, attempt.*, CASE WHEN attempt.is_right THEN ${UNWAITED} END AS set_config
   FROM places LEFT JOIN attempt ON true`,
)

export async function verifyEmail(ctx: Context, input: Input<typeof contract>): Promise<Data<typeof contract>> {
  const at = ctx.clock.now()
  const { change_request_id: changeId, verification_code: code } = input
  const codeMacs = code ? macsOfCode(ctx, changeId, code) : null
  const attempt = await countAttempt(ctx, changeId, codeMacs, at)
  if (!codeMacs || attempt.attempts === null) {
    await requireStillOpenChange(ctx, changeId)
    throw new AppError('EMAIL_003')
  }
  const { attempts } = attempt
  if (!attempt.is_right) throw wrongCode(ctx, attempts)
  const { newEmail, isTold } = await ctx
    .transaction((tx) => verify(ctx, tx, { changeId, codeMacs, attempts, at }))
    .catch(refuseTakenAddress)
  return {
    email_verified: true,
    new_email: newEmail,
    changed_at: at.toISOString(),
    notification_sent: isTold && (await Promise.race([isTold, afterMs(NOTICE_WAIT_MS)])),
  }
}

async function countAttempt(
  ctx: Context,
  changeId: string,
  codeMacs: Buffer[] | null,
  now: Date,
): Promise<RowOf<typeof judgeCode>> {
  const { userId } = ctx.actor
  const asked: AskedPlaces = { take: [bucketOf(contract, ctx, userId)] }
  const rows = await ctx.sql(judgeCode, {
    ...takeValues(asked, now),
    userId,
    changeId,
    codeMacs,
    maxAttempts: ctx.limits.codeAttempts,
  })
  await judgePlaces(ctx, asked, rows, now)
  return rows[0] as RowOf<typeof judgeCode>
}

// Remembers the address that it replaces, unless it is the account's own. Reads the account after it was locked.
const close = statement(
  'close-verified-change',
  { changeId: text, userId: text, codeMacs: bytes.list, at: time, ip: text },
  { new_email: text, new_email_key: text, is_right: boolean },
  (v) => sql`UPDATE email_change_requests r
   SET status = 'verified', closed_at = ${v.at}, closed_ip = ${v.ip}, old_email_key = nullif(u.email_key, r.new_email_key),
     old_verified_at = u.email_verified_at, account_version = u.version + 1
   FROM users u WHERE u.id = ${v.userId} AND r.id = ${v.changeId} AND r.user_id = u.id AND ${STILL_PENDING}
   RETURNING r.new_email, r.new_email_key, r.code_mac = ANY(${v.codeMacs}::bytea[]) AS is_right`,
)
const endOtherSessions = statement('end-sessions-but-one', { userId: text, except: text, at: time }, {}, (v) =>
  endSessions({ user: v.userId, except: v.except, at: v.at }),
)

interface RightCode {
  changeId: string
  codeMacs: Buffer[]
  /** With this one. */
  attempts: number
  at: Date
}

interface Verified {
  newEmail: string
  /** Whether both mailboxes were told; false for the account's own address, which was verified and did not change. */
  isTold: false | Promise<boolean>
}

/** The code was right: it takes effect if no resend has replaced it since, and nobody else has the address. */
async function verify(
  ctx: Context,
  tx: Transaction,
  { changeId, codeMacs, attempts, at }: RightCode,
): Promise<Verified> {
  const { userId, id: callerId, kind } = ctx.actor
  const [account, [change]] = await Promise.all([
    lockAccountOfId(tx, userId),
    tx(close, { changeId, userId, codeMacs, at, ip: ctx.ip }),
  ])
  if (!account || !change) throw new AppError('EMAIL_006')
  if (!change.is_right) throw wrongCode(ctx, attempts)
  const { email: oldEmail, name: userName, has_password: hasPassword, locale } = account
  const { new_email: newEmail, new_email_key: key } = change
  const isOwn = key === account.email_key
  const address = { typed: isOwn ? oldEmail : newEmail, key }
  const by = { actor: kind, ip: ctx.ip }
  // All of it is undone if somebody else has the address.
  const [isFree, told] = await Promise.all([
    setAddress(ctx, tx, { userId, address, verifiedAt: at, at }),
    isOwn
      ? addAudit(ctx, tx, 'email.verified', { ...by, userId, subject: changeId, at })
      : tellEmailChanged(ctx, tx, { changeId, userId, userName, hasPassword, locale, oldEmail, newEmail, at, by }),
    isOwn || tx(endOtherSessions, { userId, except: callerId, at }),
  ])
  if (!isFree) throw new AppError('EMAIL_002')
  return { newEmail, isTold: told?.isTaken ?? false }
}

function wrongCode(ctx: Context, attempts: number): AppError {
  const left = ctx.limits.codeAttempts - attempts
  if (left > 0) {
    return new AppError('EMAIL_003', `The code is wrong. ${left} ${left === 1 ? 'attempt' : 'attempts'} left.`)
  }
  ctx.background(() => noteIncident(ctx, 'code_locked', { userId: ctx.actor.userId }))
  return new AppError('EMAIL_003', 'The code is wrong. No attempts are left; start a new change.')
}

/** False when the time has passed; the work itself goes on. */
const afterMs = (ms: number) => new Promise<false>((resolve) => setTimeout(resolve, ms, false).unref())
