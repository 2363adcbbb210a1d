import type { Data, Input } from '@/contract/define'
import { verifyEmail as contract } from '@/contract/email'
import { AppError } from '@/contract/errors'
import { beginDueDeliveries } from '../applications/deliveries'
import { queueEvent, sealAddresses } from '../applications/events'
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
import { heldSince } from '../limits/held-addresses'
import { queueNotice } from '../mail/notice-kinds'
import { leaseUntil, sendFirst } from '../mail/notices'
import { newAddressOf, requireStillOpenChange, STILL_PENDING } from '../pending-change'
import { noteIncident } from '../security-incidents'
import {
  auditAs,
  boolean,
  bytes,
  type Described,
  endSessions,
  fenced,
  integer,
  isUniqueViolation,
  type Placeholders,
  RAISE_VERSION,
  type Shape,
  sql,
  statement,
  text,
  time,
} from '../sql'
import { macsOfCode } from './verification-code'

const JUDGE = {
  ...TAKE_VALUES,
  userId: text,
  changeId: text,
  /** The MACs that the right code may have; null for a text that cannot be a code and is no attempt. */
  codeMacs: bytes.list.orNull,
  maxAttempts: integer,
  heldSince: time,
  ip: text,
  callerId: text,
  callerKind: text,
  auditId: text,
  oldNoticeId: text,
  newNoticeId: text,
  locale: text.orNull,
  leaseUntil: time,
  eventId: text,
  /** Null if nothing can be verified. */
  sealedAddresses: bytes.orNull,
} satisfies Shape
type Judge = Described<typeof JUDGE>

const countAttempt = (v: Placeholders<Judge>) => {
  const isRight = sql`r.code_mac = ANY(${v.codeMacs}::bytea[])`
  const isOwn = sql`(r.new_email_key = account.email_key)`
  return sql`UPDATE email_change_requests r
     SET attempts = r.attempts + 1,
         (status, closed_at, closed_ip, old_email_key, old_verified_at, account_version) = (
           SELECT CASE WHEN effect THEN 'verified' ELSE r.status END, CASE WHEN effect THEN ${v.now}::timestamptz END,
                  CASE WHEN effect THEN ${v.ip} END, CASE WHEN effect AND NOT ${isOwn} THEN account.email_key END,
                  CASE WHEN effect THEN account.email_verified_at END, CASE WHEN effect THEN account.version + 1 END
           FROM (${fenced(sql`SELECT CASE WHEN ${isRight} THEN address_is_free(r.new_email_key, r.user_id, ${v.heldSince}) END`)}) AS takes (effect)
         )
     FROM account
     WHERE r.id = ${v.changeId} AND r.user_id = account.id AND ${STILL_PENDING}
       AND r.expires_at > ${v.now} AND r.attempts < ${v.maxAttempts} AND ${v.codeMacs}::bytea[] IS NOT NULL
     RETURNING r.id, r.user_id, r.attempts, r.status, ${isRight} AS is_right, r.old_email, r.new_email, r.new_email_key,
               ${isOwn} AS is_own`
}

// Counts the attempt whatever the code is; the right code takes effect if nobody has the address. Lock order: bucket, account,
// change request, address.
const judgeCode = statement(
  'judge-verification-code',
  JUDGE,
  {
    ...PLACE_ROW,
    attempts_made: integer.orNull,
    outcome: text.whenJoined,
    is_right: boolean.whenJoined,
    old_email: text.whenJoined,
    verified_email: text.whenJoined,
    /** The account's own address was verified; it did not change. */
    is_own: boolean.whenJoined,
  },
  (v) => sql`WITH places AS (${takePlacesPart(v)}), account AS (
     SELECT u.id, u.email_key, u.email_verified_at, u.version FROM places JOIN users u ON u.id = ${v.userId} AND u.withdrawn_at IS NULL
     WHERE places.granted FOR UPDATE OF u
   ), attempt AS (
     ${countAttempt(v)}
   ), verified AS (
     SELECT * FROM attempt WHERE status = 'verified'
   ), replaced AS (
     SELECT * FROM verified WHERE NOT is_own
   ), changed AS (
     UPDATE users u
     SET email = CASE WHEN verified.is_own THEN u.email ELSE verified.new_email END,
         email_key = verified.new_email_key, email_verified_at = ${v.now}, email_undeliverable_at = NULL, ${RAISE_VERSION}
     FROM verified WHERE u.id = verified.user_id
     RETURNING u.id, u.external_id, u.version, verified.is_own
   ), ${queueEvent('account.email_changed', {
     from: sql`changed WHERE NOT is_own`,
     user: v.userId,
     id: v.eventId,
     data: { change_request_id: v.changeId },
     addresses: v.sealedAddresses,
     at: v.now,
   })}, ended AS (
     ${endSessions({ from: sql`replaced`, user: sql`replaced.user_id`, except: v.callerId, at: v.now })}
   ), audited AS (
     ${auditAs(sql`CASE WHEN is_own THEN 'email.verified' ELSE 'email.changed' END`, { from: sql`verified`, id: v.auditId, user: sql`user_id`, actor: v.callerKind, subject: sql`id`, ip: v.ip, at: v.now })}
   ), notices AS (
     ${queueNotice('email_changed', {
       from: sql`replaced, (VALUES (${v.oldNoticeId}, 'old'), (${v.newNoticeId}, 'new')) AS n (id, recipient)`,
       id: sql`n.id`,
       recipient: sql`n.recipient`,
       user: sql`replaced.user_id`,
       locale: v.locale,
       about: sql`replaced.id`,
       at: v.now,
       leaseUntil: v.leaseUntil,
     })}
   )
   SELECT places.key, places.hits, places.granted, attempt.attempts AS attempts_made, attempt.status AS outcome, attempt.is_right,
     attempt.old_email, attempt.new_email AS verified_email, attempt.is_own
   FROM places LEFT JOIN attempt ON true`,
)

export async function verifyEmail(ctx: Context, input: Input<typeof contract>): Promise<Data<typeof contract>> {
  const now = ctx.clock.now()
  const { actor, ip } = ctx
  const { change_request_id: changeId, verification_code: code } = input
  const asked: AskedPlaces = { take: [bucketOf(contract, ctx, actor.userId)], code: 'RATE_001' }
  const noticeIds = { old: ctx.secrets.randomId('ntc_'), new: ctx.secrets.randomId('ntc_') }
  const eventId = ctx.secrets.randomId('evt_')
  const newAddress = await newAddressOf(ctx, changeId)
  const sealedAddresses =
    newAddress === null ? null : sealAddresses(ctx, { oldEmail: actor.user.email, newEmail: newAddress })
  const judge = (codeMacs: Buffer[] | null) =>
    ctx.sql(judgeCode, {
      ...takeValues(asked, now),
      userId: actor.userId,
      changeId,
      codeMacs,
      maxAttempts: ctx.limits.codeAttempts,
      heldSince: heldSince(ctx, now),
      ip,
      callerId: actor.id,
      callerKind: actor.kind,
      auditId: ctx.secrets.randomId('aud_'),
      oldNoticeId: noticeIds.old,
      newNoticeId: noticeIds.new,
      locale: actor.user.locale,
      leaseUntil: leaseUntil(now),
      eventId,
      sealedAddresses,
    })
  let isBeaten = false
  const rows = await judge(code ? macsOfCode(ctx, changeId, code) : null).catch((error) => {
    if (!isUniqueViolation(error, 'users_email_key_key')) throw error
    // Another writer stored the address without `address_is_free`.
    isBeaten = true
    // The attempt still counts, and no code matches.
    return judge([])
  })
  await judgePlaces(ctx, asked, rows, now)
  const [attempt] = rows
  if (!attempt?.attempts_made) {
    await requireStillOpenChange(ctx, changeId)
    throw new AppError('EMAIL_003')
  }
  if (isBeaten || (attempt.is_right && attempt.outcome !== 'verified')) throw new AppError('EMAIL_002')
  if (attempt.outcome !== 'verified') {
    const left = ctx.limits.codeAttempts - attempt.attempts_made
    if (left === 0) ctx.background(() => noteIncident(ctx, 'code_locked', { userId: actor.userId }))
    throw new AppError('EMAIL_003', attemptsLeft(left))
  }

  const { old_email: oldEmail, verified_email: newEmail } = attempt
  const verified = { email_verified: true, new_email: newEmail, changed_at: now.toISOString() } as const
  if (attempt.is_own) return { ...verified, notification_sent: false }
  ctx.background(() => beginDueDeliveries(ctx))
  const change = { changeId, userName: actor.user.name, oldEmail, newEmail, at: now, ipAddress: ip }
  const notice = { userId: actor.userId, locale: actor.user.locale, kind: 'email_changed' } as const
  const sending = (['old', 'new'] as const).map((recipient) =>
    sendFirst(ctx, { ...notice, id: noticeIds[recipient], recipient }, change),
  )
  const sent = Promise.all(sending).then((results) => results.every(Boolean))
  return { ...verified, notification_sent: await Promise.race([sent, afterMs(NOTICE_WAIT_MS)]) }
}

const attemptsLeft = (left: number) =>
  left === 0
    ? 'The code is wrong. No attempts are left; start a new change.'
    : `The code is wrong. ${left} ${left === 1 ? 'attempt' : 'attempts'} left.`

/** False when the time has passed; the work itself goes on. */
const afterMs = (ms: number) => new Promise<false>((resolve) => setTimeout(resolve, ms, false).unref())
