import { parseAddress } from '@/contract/address'
import type { Data, Input } from '@/contract/define'
import type { undoEmailChange as contract } from '@/contract/email'
import { AppError } from '@/contract/errors'
import { beginDueDeliveries } from '../applications/deliveries'
import { sealAddresses } from '../applications/events'
import type { LinkContext } from '../context'
import { givePlacesBack, pseudonymousBucket, takePlaces } from '../limits/buckets'
import { lockActiveUser } from '../lock-account'
import { outcomeOf, queueNotice } from '../mail/notice-kinds'
import { leaseUntil, sendFirst } from '../mail/notices'
import { hashNewPassword, replacePassword } from '../passwords/replace-password'
import { noteIncident } from '../security-incidents'
import {
  auditAs,
  bytes,
  type Described,
  literal,
  type Part,
  type Placeholders,
  type Shape,
  sql,
  statement,
  text,
  time,
} from '../sql'
import {
  isUndoable,
  requireNotMeToken,
  requireUndoableChange,
  type UndoableChange,
  WINDOW,
  windowAt,
  wrongLink,
} from './not-me'

const UNDO = {
  ...WINDOW,
  changeId: text,
  userId: text,
  oldEmail: text,
  oldEmailKey: text,
  passwordHash: text.orNull,
  now: time,
  ip: text,
  auditId: text,
  noticeId: text,
  locale: text.orNull,
  leaseUntil: time,
  eventId: text,
  currentEmail: text,
  sealedAddresses: bytes,
} satisfies Shape
type Undo = Described<typeof UNDO>

type Values = Placeholders<Undo>

/**
 * The change, locked because a cancellation takes no other lock. The old address of a verified one is held for the account; somebody
 * else can only have it from before it was held, and then there is no change to undo.
 */
const lockedChange = (v: Values) => sql`locked AS MATERIALIZED (
     SELECT r.id, r.status, r.new_email, r.new_email_key, r.closed_at, r.old_verified_at, r.account_version
     FROM email_change_requests r WHERE r.id = ${v.changeId} AND r.user_id = ${v.userId} AND ${isUndoable(v)} FOR UPDATE
   ), change AS MATERIALIZED (
     SELECT * FROM locked
     WHERE CASE WHEN status = 'verified' THEN address_is_free(${v.oldEmailKey}, ${v.userId}, ${v.verifiedAfter}) ELSE true END
   ), verified AS (
     SELECT * FROM change WHERE status = 'verified'
   )`

const IS_VERIFIED = sql`EXISTS (SELECT FROM verified)`

/** The account gets a new password and, if the change had been verified, its old address back. */
const restoredAccount = (v: Values) =>
  replacePassword({
    userId: v.userId,
    passwordHash: sql`CASE WHEN password_hash IS NOT NULL THEN ${v.passwordHash} END`,
    now: v.now,
    eventId: v.eventId,
    event: {
      type: 'account.email_reverted',
      data: { change_request_id: v.changeId },
      // The sealed ones are of the address that was read before the lock.
      addresses: sql`CASE WHEN ${IS_VERIFIED} AND (SELECT email FROM users WHERE id = ${v.userId}) = ${v.currentEmail} THEN ${v.sealedAddresses}::bytea END`,
    },
    where: sql`EXISTS (SELECT FROM change)`,
    set: sql`email = CASE WHEN ${IS_VERIFIED} THEN ${v.oldEmail} ELSE email END,
         email_key = CASE WHEN ${IS_VERIFIED} THEN ${v.oldEmailKey} ELSE email_key END,
         email_verified_at = CASE WHEN ${IS_VERIFIED} THEN (SELECT old_verified_at FROM verified) ELSE email_verified_at END,
         email_undeliverable_at = CASE WHEN NOT ${IS_VERIFIED} THEN email_undeliverable_at END`,
  })

/** The change and all later ones. */
const revertedChanges = (v: Values) => sql`reverted AS (
     UPDATE email_change_requests r SET status = 'reverted', reverted_at = ${v.now}
     FROM verified
     WHERE r.user_id = ${v.userId} AND r.status = 'verified'
       AND (r.id = verified.id OR coalesce(r.account_version > verified.account_version, r.closed_at > verified.closed_at))
     RETURNING r.id, r.new_email, r.new_email_key, r.closed_at
   )`

/** The notices: one for the old address, and one for each other address that the undone changes brought, about its latest change. */
const toldAddresses = (v: Values) => sql`told AS (
     SELECT ${v.noticeId}::text AS notice_id, 'old' AS recipient, change_id, new_email FROM outcome
     UNION ALL
     SELECT ${v.noticeId} || '_' || row_number() OVER (ORDER BY id), 'new', id, new_email FROM (
       SELECT DISTINCT ON (new_email_key) id, new_email FROM (
         SELECT id, new_email, new_email_key, closed_at FROM reverted
         UNION ALL SELECT change_id, new_email, new_email_key, NULL FROM outcome WHERE status = 'cancelled'
       ) AS changed WHERE new_email_key <> ${v.oldEmailKey} ORDER BY new_email_key, closed_at DESC
     ) AS replaced
   ), notices AS (
     ${queueNotice('email_reverted', {
       from: sql`told`,
       id: sql`notice_id`,
       recipient: sql`recipient`,
       user: v.userId,
       locale: v.locale,
       about: sql`change_id`,
       at: v.now,
       leaseUntil: v.leaseUntil,
     })}
   )`

const auditedAs = (v: Values, action: Part, when: Part) =>
  auditAs(action, {
    from: sql`outcome WHERE ${when}`,
    id: v.auditId,
    user: v.userId,
    actor: sql`'mailed_link'`,
    subject: sql`change_id`,
    ip: v.ip,
    at: v.now,
  })

// Runs under the account's lock.
const undoChange = statement(
  'undo-email-change',
  UNDO,
  {
    notice_id: text,
    recipient: text.of<'old' | 'new'>(),
    new_email: text,
    status: text.of<'cancelled' | 'reverted'>(),
  },
  (v) => sql`WITH ${lockedChange(v)}, ${restoredAccount(v)}, ${revertedChanges(v)}, outcome AS (
     SELECT change.id AS change_id, change.new_email, change.new_email_key,
       CASE WHEN change.status = 'verified' THEN 'reverted' ELSE 'cancelled' END AS status
     FROM change JOIN account ON true
   ), ${toldAddresses(v)}, audited AS (
     ${auditedAs(v, literal('email.reverted'), sql`status = 'reverted'`)}
   ), audited_stop AS (
     ${auditedAs(v, literal('email_change.cancelled'), sql`status = 'cancelled'`)}
   )
   SELECT told.notice_id, told.recipient, told.new_email, outcome.status FROM told, outcome`,
)

/**
 * Called by whoever reads the mailbox of the replaced address: takes the account back from whoever asked for the change. Undoes all
 * later changes too, and with them the links that went to their old addresses.
 */
export async function undoEmailChange(
  ctx: LinkContext,
  { changeRequestId: changeId, new_password: password }: Input<typeof contract>,
): Promise<Data<typeof contract>> {
  await requireNotMeToken(ctx, changeId)
  const places = await takePlaces(ctx, { take: [pseudonymousBucket(ctx, 'notMe', changeId)], code: 'EMAIL_008' })
  try {
    const change = await requireUndoableChange(ctx, changeId)
    const passwordHash = await hashRequired(ctx, change, password)
    return await undo(ctx, changeId, change, passwordHash)
  } catch (error) {
    if (error instanceof AppError && error.code === 'PASSWORD_001') await givePlacesBack(ctx, places)
    throw error
  }
}

/** Null if the account has no password and gets none. */
async function hashRequired(
  ctx: LinkContext,
  { password_hash: current }: UndoableChange,
  password: string | undefined,
): Promise<string | null> {
  if (current === null && password === undefined) return null
  if (current === null) throw new AppError('PASSWORD_001', 'This account has no password. Leave new_password out.')
  if (password === undefined) throw new AppError('PASSWORD_001', 'This account has a password. Send new_password.')
  return hashNewPassword(ctx, { current, password })
}

async function undo(
  ctx: LinkContext,
  changeId: string,
  change: UndoableChange,
  passwordHash: string | null,
): Promise<Data<typeof contract>> {
  const { user_id: userId, name: userName, locale, old_email: oldEmail } = change
  const address = parseAddress(oldEmail)
  if (!address) throw new Error('a stored address does not parse')
  let at = ctx.clock.now()
  const told = await ctx.transaction(async (sql) => {
    if ((await sql(lockActiveUser, { userId })).length === 0) return []
    // Read the clock under the lock, so that a session started while this call waited ends too.
    at = ctx.clock.now()
    const told = await sql(undoChange, {
      changeId,
      userId,
      oldEmail,
      oldEmailKey: address.key,
      passwordHash,
      ...windowAt(ctx, at),
      now: at,
      ip: ctx.ip,
      auditId: ctx.secrets.randomId('aud_'),
      noticeId: ctx.secrets.randomId('ntc_'),
      locale,
      leaseUntil: leaseUntil(at),
      eventId: ctx.secrets.randomId('evt_'),
      currentEmail: change.email,
      sealedAddresses: sealAddresses(ctx, { oldEmail: change.email, newEmail: oldEmail }),
    })
    if (told.length > 0) await noteIncident(ctx, 'change_undone', { userId }, sql)
    return told
  })
  const [first] = told
  if (!first) throw wrongLink()
  ctx.background(() => beginDueDeliveries(ctx))
  const { status } = first
  for (const { notice_id: id, recipient, new_email: newEmail } of told) {
    const facts = { userName, oldEmail, newEmail, at, outcome: outcomeOf(status) }
    sendFirst(ctx, { id, userId, locale, kind: 'email_reverted', recipient }, facts)
  }
  return { change_request_id: changeId, status, email: oldEmail }
}
