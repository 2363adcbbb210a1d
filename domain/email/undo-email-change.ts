import { parseAddress } from '@/contract/address'
import type { Data, Input } from '@/contract/define'
import type { undoEmailChange as contract } from '@/contract/email'
import { AppError } from '@/contract/errors'
import { hashNewPassword, replacePassword } from '../access/replace-password'
import { lockActiveUser } from '../access/user'
import type { LinkContext } from '../context'
import { givePlacesBack, pseudonymousBucket, takePlaces } from '../limits/buckets'
import { beginDueDeliveries } from '../queue/deliveries'
import { sealAddresses } from '../queue/events'
import { outcomeOf, queueNotice } from '../queue/notice-kinds'
import { leaseUntil, sendFirst } from '../queue/notices'
import { audit, isUniqueViolation, type Placeholders, statement } from '../sql'
import {
  isUndoable,
  requireNotMeToken,
  requireUndoableChange,
  type UndoableChange,
  type Window,
  windowAt,
  wrongLink,
} from './not-me'

const TAKEN =
  'The change was undone, but another account uses the old address now. Yours is frozen. Write to support to get it back.'

interface Undo extends Window {
  changeId: string
  userId: string
  oldEmail: string
  oldEmailKey: string
  /** Another writer stored the address without `address_is_free`. */
  isBeaten: boolean
  passwordHash: string | null
  now: Date
  ip: string
  auditId: string
  freezeAuditId: string
  noticeId: string
  locale: string | null
  leaseUntil: Date
  eventId: string
  currentEmail: string
  sealedAddresses: Buffer
}

/** One row for each address that gets a notice; none if the change can no longer be undone. */
interface ToldRow {
  notice_id: string
  recipient: 'old' | 'new'
  new_email: string
  status: 'cancelled' | 'reverted'
  frozen: boolean
}

type Values = Placeholders<Undo>

/**
 * The change, locked because a cancellation takes no other lock. Where it was verified, `address` tells whether its old address is free
 * to be restored.
 */
const lockedChange = (v: Values) => `change AS (
     SELECT r.id, r.status, r.new_email, r.new_email_key, r.closed_at, r.old_verified_at, r.account_version
     FROM email_change_requests r WHERE r.id = ${v.changeId} AND r.user_id = ${v.userId} AND ${isUndoable(v)} FOR UPDATE
   ), verified AS (
     SELECT * FROM change WHERE status = 'verified'
   ), address AS MATERIALIZED (
     SELECT CASE WHEN ${v.isBeaten}::boolean THEN false ELSE address_is_free(${v.oldEmailKey}, ${v.userId}) END AS is_free FROM verified
   )`

const IS_FREE = '(SELECT is_free FROM address)'

/** The account gets a new password, and its old address back; where another account has the address, it is frozen. */
const restoredAccount = (v: Values) =>
  replacePassword({
    userId: v.userId,
    passwordHash: `CASE WHEN password_hash IS NOT NULL THEN ${v.passwordHash} END`,
    now: v.now,
    eventId: v.eventId,
    event: {
      type: 'account.email_reverted',
      data: { change_request_id: v.changeId },
      // The sealed ones are of the address that was read before the lock.
      addresses: `CASE WHEN ${IS_FREE} AND (SELECT email FROM users WHERE id = ${v.userId}) = ${v.currentEmail} THEN ${v.sealedAddresses}::bytea END`,
    },
    where: 'EXISTS (SELECT FROM change)',
    set: `credentials_since = ${v.now},
         email = CASE WHEN ${IS_FREE} THEN ${v.oldEmail} ELSE email END,
         email_key = CASE WHEN ${IS_FREE} THEN ${v.oldEmailKey} ELSE email_key END,
         email_verified_at = CASE WHEN ${IS_FREE} THEN (SELECT old_verified_at FROM verified) ELSE email_verified_at END,
         -- An older link that brings its address back releases what a newer one had frozen.
         frozen_at = CASE WHEN (SELECT NOT is_free FROM address) THEN ${v.now} WHEN EXISTS (SELECT FROM verified) THEN NULL ELSE frozen_at END`,
  })

/** The change and all later ones. */
const revertedChanges = (v: Values) => `reverted AS (
     UPDATE email_change_requests r SET status = 'reverted', reverted_at = ${v.now}
     FROM verified
     WHERE r.user_id = ${v.userId} AND r.status = 'verified'
       AND (r.id = verified.id OR coalesce(r.account_version > verified.account_version, r.closed_at > verified.closed_at))
     RETURNING r.id, r.new_email, r.new_email_key, r.closed_at
   )`

/** The notices: one for the old address, and one for each other address that the undone changes brought, about its latest change. */
const toldAddresses = (v: Values) => `told AS (
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
       from: 'told',
       id: 'notice_id',
       recipient: 'recipient',
       user: v.userId,
       locale: v.locale,
       about: 'change_id',
       at: v.now,
       leaseUntil: v.leaseUntil,
     })}
   )`

const auditedAs = (v: Values, action: string, when: string, id = v.auditId) =>
  audit(action, {
    from: `outcome WHERE ${when}`,
    id,
    user: v.userId,
    actor: `'mailed_link'`,
    subject: 'change_id',
    ip: v.ip,
    at: v.now,
  })

// Runs under the account's lock.
const undo = statement<Undo, ToldRow>(
  'undo-email-change',
  (v) => `WITH ${lockedChange(v)}, ${restoredAccount(v)}, ${revertedChanges(v)}, outcome AS (
     SELECT change.id AS change_id, change.new_email, change.new_email_key,
       CASE WHEN change.status = 'verified' THEN 'reverted' ELSE 'cancelled' END AS status,
       coalesce((SELECT NOT is_free FROM address), false) AS frozen
     FROM change JOIN account ON true
   ), ${toldAddresses(v)}, audited AS (
     ${auditedAs(v, 'email.reverted', `status = 'reverted'`)}
   ), audited_stop AS (
     ${auditedAs(v, 'email_change.cancelled', `status = 'cancelled'`)}
   ), audited_freeze AS (
     ${auditedAs(v, 'account.frozen', 'frozen', v.freezeAuditId)}
   )
   SELECT told.notice_id, told.recipient, told.new_email, outcome.status, outcome.frozen FROM told, outcome`,
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
    return await undoOnce(ctx, changeId, change, passwordHash)
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

async function undoOnce(
  ctx: LinkContext,
  changeId: string,
  change: UndoableChange,
  passwordHash: string | null,
  isBeaten = false,
): Promise<Data<typeof contract>> {
  const { user_id: userId, name: userName, locale, old_email: oldEmail } = change
  const address = parseAddress(oldEmail)
  if (!address) throw new Error('a stored address does not parse')
  let at = ctx.clock.now()
  const told = await ctx
    .transaction(async (sql) => {
      if ((await sql(lockActiveUser, { userId })).length === 0) return []
      // Read the clock under the lock, so that a session started while this call waited ends too.
      at = ctx.clock.now()
      return sql(undo, {
        changeId,
        userId,
        oldEmail,
        oldEmailKey: address.key,
        isBeaten,
        passwordHash,
        ...windowAt(ctx, at),
        now: at,
        ip: ctx.ip,
        auditId: ctx.secrets.randomId('aud_'),
        freezeAuditId: ctx.secrets.randomId('aud_'),
        noticeId: ctx.secrets.randomId('ntc_'),
        locale,
        leaseUntil: leaseUntil(at),
        eventId: ctx.secrets.randomId('evt_'),
        currentEmail: change.email,
        sealedAddresses: sealAddresses(ctx, { oldEmail: change.email, newEmail: oldEmail }),
      })
    })
    .catch((error) => {
      if (isBeaten || !isUniqueViolation(error, 'users_email_key_key')) throw error
      return null
    })
  if (!told) return undoOnce(ctx, changeId, change, passwordHash, true)
  const [first] = told
  if (!first) throw wrongLink()
  ctx.background(() => beginDueDeliveries(ctx))
  const { status, frozen } = first
  for (const { notice_id: id, recipient, new_email: newEmail } of told) {
    const facts = { userName, oldEmail, newEmail, at, outcome: outcomeOf(status, frozen) }
    sendFirst(ctx, { id, userId, locale, kind: 'email_reverted', recipient }, facts)
  }
  if (frozen) throw new AppError('EMAIL_002', TAKEN)
  return { change_request_id: changeId, status, email: oldEmail }
}
