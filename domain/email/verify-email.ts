import type { Data, Input } from '@/contract/define'
import { verifyEmail as contract } from '@/contract/email'
import { AppError } from '@/contract/errors'
import { addAudit } from '../audit'
import type { Context, Transaction } from '../context'
import {
  bucketOf,
  judgePlaces,
  PLACE_ROW,
  TAKE_VALUES,
  takePlacesPart,
  takeValues,
  type WantedPlaces,
} from '../limits/buckets'
import { NOTICE_WAIT_MS } from '../limits/durations'
import { heldSince } from '../limits/held-addresses'
import { ACCOUNT_COLUMNS, JOINED_ACCOUNT } from '../lock-account'
import { requireStillOpenChange, STILL_PENDING } from '../pending-change'
import { noteIncident } from '../security-incidents'
import { boolean, bytes, endSessions, integer, type RowOf, sql, statement, text, time, type ValuesOf } from '../sql'
import { notifyOfChange } from './email-changed'
import { refuseTakenAddress, setAddress } from './set-address'
import { macsOfCode } from './verification-code'

type Attempt = ValuesOf<typeof judgeCode>
type Judged = RowOf<typeof judgeCode>

// One statement, so that an attempt is counted whatever becomes of it: `places` takes the place in the limit, `account` locks the account,
// `attempt` counts and compares the code, and a right one asks whether the address is free. Lock order: bucket, account, change request, address.
const judgeCode = statement(
  'judge-verification-code',
  {
    ...TAKE_VALUES,
    userId: text,
    changeId: text,
    /** The MACs that the right code may have; null for a text that cannot be a code and is no attempt. */
    codeMacs: bytes.list.orNull,
    maxAttempts: integer,
    heldSince: time,
  },
  {
    ...PLACE_ROW,
    ...JOINED_ACCOUNT,
    attempts: integer.orNull,
    is_right: boolean.whenJoined,
    new_email: text.whenJoined,
    new_email_key: text.whenJoined,
    requested_by: text.orNull,
    /** Null unless the code is right. */
    is_free: boolean.orNull,
  },
  (v) => sql`WITH places AS (${takePlacesPart(v)}), account AS (
     SELECT ${ACCOUNT_COLUMNS}
     FROM places JOIN users u ON u.id = ${v.userId} AND u.withdrawn_at IS NULL WHERE places.granted FOR UPDATE OF u
   ), attempt AS (UPDATE email_change_requests r SET attempts = r.attempts + 1 FROM account
     WHERE r.id = ${v.changeId} AND r.user_id = account.id AND ${STILL_PENDING}
       AND r.expires_at > ${v.now} AND r.attempts < ${v.maxAttempts} AND ${v.codeMacs}::bytea[] IS NOT NULL
     RETURNING r.attempts, r.code_mac = ANY(${v.codeMacs}::bytea[]) AS is_right, r.new_email, r.new_email_key, r.requested_by
   )
   SELECT places.key, places.hits, places.granted, account.*, attempt.*,
     CASE WHEN attempt.is_right THEN address_is_free(attempt.new_email_key, ${v.userId}, ${v.heldSince}) END AS is_free
   FROM places LEFT JOIN account ON true LEFT JOIN attempt ON true`,
)

export async function verifyEmail(ctx: Context, input: Input<typeof contract>): Promise<Data<typeof contract>> {
  const { userId } = ctx.actor
  const { change_request_id: changeId, verification_code: code } = input
  const at = ctx.clock.now()
  const wanted: WantedPlaces = { take: [bucketOf(contract, ctx, userId)] }
  const codeMacs = code ? macsOfCode(ctx, changeId, code) : null
  const maxAttempts = ctx.limits.codeAttempts
  const values = { ...takeValues(wanted, at), userId, changeId, codeMacs, maxAttempts, heldSince: heldSince(ctx, at) }
  const verifying = ctx.transaction((tx) => verify(tx, wanted, values)).catch(refuseTakenAddress)
  const { attempts, isAddressTaken, verified } = await verifying.catch(async (error) => {
    // A writer that did not ask for the address has undone the attempt too.
    if (error instanceof AppError && error.code === 'EMAIL_002') await ctx.sql(judgeCode, values)
    throw error
  })
  if (isAddressTaken) throw new AppError('EMAIL_002')
  if (!verified) throw await refusalOf(ctx, values, attempts)
  const { newEmail, areNotified } = verified
  return {
    email_verified: true,
    new_email: newEmail,
    changed_at: at.toISOString(),
    notification_sent: areNotified && (await Promise.race([areNotified, afterMs(NOTICE_WAIT_MS)])),
  }
}

interface Outcome {
  /** With this one; null if it is none. */
  attempts: number | null
  /** The code was right, and somebody else has the address. */
  isAddressTaken?: boolean
  verified?: Verified
}

interface Verified {
  newEmail: string
  /** Whether both mailboxes were told; false for the account's own address, which was verified and did not change. */
  areNotified: false | Promise<boolean>
}

/** The attempt and its effect in one transaction. A code without effect throws nothing, so that its attempt is committed before the answer. */
async function verify(tx: Transaction<Context>, wanted: WantedPlaces, values: Attempt): Promise<Outcome> {
  const rows = await tx.sql(judgeCode, values)
  await judgePlaces(tx, wanted, rows, values.now)
  const judged = rows[0] as Judged
  const { attempts } = judged
  if (attempts === null || !judged.is_right) return { attempts }
  if (!judged.is_free) return { attempts, isAddressTaken: true }
  return { attempts, verified: await takeEffect(tx, judged, values) }
}

const close = statement(
  'close-verified-change',
  {
    changeId: text,
    at: time,
    ip: text,
    userAgent: text,
    oldEmail: text,
    newEmail: text,
    /** Null if it is the account's own address, which is not replaced. */
    oldEmailKey: text.orNull,
    oldVerifiedAt: time.orNull,
    version: integer,
  },
  {},
  (v) => sql`UPDATE email_change_requests SET status = 'verified', closed_at = ${v.at}, closed_ip = ${v.ip},
     closed_user_agent = ${v.userAgent}, old_email = ${v.oldEmail}, new_email = ${v.newEmail},
     old_email_key = ${v.oldEmailKey}, old_verified_at = ${v.oldVerifiedAt}, account_version = ${v.version}
   WHERE id = ${v.changeId}`,
)
/** The session that verifies stays, and the one that asked, because it has proven the password. */
const endOtherSessions = statement(
  'end-sessions-but-two',
  { userId: text, except: text, requester: text.orNull, at: time },
  {},
  (v) => sql`${endSessions({ user: v.userId, except: v.except, at: v.at })} AND s.id IS DISTINCT FROM ${v.requester}`,
)

/** The address becomes the account's, the request ends, and who has to know of it is told. */
async function takeEffect(
  tx: Transaction<Context>,
  judged: Judged,
  { changeId, userId, now: at }: Attempt,
): Promise<Verified> {
  const { email: oldEmail, new_email_key: newKey, email_key: oldKey, email_verified_at: oldVerifiedAt } = judged
  const isOwn = newKey === oldKey
  const newEmail = isOwn ? oldEmail : judged.new_email
  const { ip, userAgent } = tx
  const by = { actor: tx.actor.kind, ip, userAgent }
  const written = Promise.all([
    tx.sql(setAddress, { userId, email: newEmail, emailKey: newKey, verifiedAt: at }),
    tx.sql(close, {
      changeId,
      at,
      ip,
      userAgent,
      oldEmail,
      newEmail,
      oldEmailKey: isOwn ? null : oldKey,
      oldVerifiedAt,
      version: judged.version + 1,
    }),
  ])
  if (isOwn) {
    await Promise.all([written, addAudit(tx, 'email.verified', { ...by, userId, subject: changeId, at })])
    return { newEmail, areNotified: false }
  }
  const [, notices] = await Promise.all([
    written,
    notifyOfChange(tx, {
      changeId,
      userId,
      userName: judged.name,
      hasPassword: judged.has_password,
      locale: judged.locale,
      oldEmail,
      newEmail,
      at,
      by,
      isOldProven: oldVerifiedAt !== null,
    }),
    tx.sql(endOtherSessions, { userId, except: tx.actor.id, requester: judged.requested_by, at }),
  ])
  return { newEmail, areNotified: notices.isAccepted }
}

async function refusalOf(ctx: Context, { userId, changeId, maxAttempts }: Attempt, attempts: number | null) {
  if (attempts === null) {
    await requireStillOpenChange(ctx, changeId)
    return new AppError('EMAIL_003')
  }
  const left = maxAttempts - attempts
  if (left > 0) {
    return AppError.counted('EMAIL_003', `The code is wrong. ${left} ${left === 1 ? 'attempt' : 'attempts'} left.`)
  }
  ctx.background(() => noteIncident(ctx, 'code_locked', { userId }))
  return AppError.counted('EMAIL_003', 'The code is wrong. No attempts are left; start a new change.')
}

/** False when the time has passed; the work itself goes on. */
const afterMs = (ms: number) => new Promise<false>((resolve) => setTimeout(resolve, ms, false).unref())
