import { maskAddress } from '@/contract/address'
import type { Data, Input } from '@/contract/define'
import type { undoEmailChange as contract } from '@/contract/email'
import { addEvent } from '../applications/events'
import { addAudit } from '../audit'
import type { LinkContext, Transaction } from '../context'
import { pseudonymousBucket, takePlaces, withPlaces } from '../limits/buckets'
import { undoWindowEnd } from '../limits/held-addresses'
import { type LockedAccount, lockAccountOfId } from '../lock-account'
import { defineNotice } from '../mail/define-notice'
import { wrongLink } from '../mail/not-me-links'
import { addNotice } from '../mail/notice-queue'
import { hashRequired, refuseLostPassword, replacePassword } from '../passwords/replace-password'
import type { Origin, UndoOutcome } from '../ports'
import { openSealed } from '../sealed'
import { noteIncident } from '../security-incidents'
import { endSignInLinks } from '../sessions/sign-in-link'
import { integer, type RowOf, sql, statement, text, time } from '../sql'
import { type ChangeFacts, readChange } from './change-of-notice'
import { isUndoable, requireNotMeToken, requireUndoableChange, WINDOW, windowAt } from './not-me'
import { isAddressFree, parseStoredAddress, setAddress } from './set-address'

interface UndoFacts extends ChangeFacts, Origin {
  hasPassword: boolean
  outcome: UndoOutcome
}

export const emailReverted = defineNotice<UndoFacts, 'old' | 'new'>({
  name: 'email_reverted',
  keep: ({ changeId, ipAddress, userAgent }) => ({ changeId, sealed: { ipAddress, userAgent } }),
  recipients: { old: ({ oldEmail }) => oldEmail, new: ({ newEmail }) => newEmail },
  message: (ctx, { userName, hasPassword, oldEmail, newEmail, at, outcome, ipAddress, userAgent }, recipient) => ({
    template: 'email-reverted',
    to: recipient,
    userName: recipient === 'old' ? userName : '',
    email: recipient === 'old' ? oldEmail : newEmail,
    newEmail: outcome === 'stopped' ? maskAddress(newEmail) : newEmail,
    hasPassword,
    revertedAt: at,
    outcome,
    // A letter that arrives late says nothing of a time that has passed.
    heldUntil:
      recipient === 'old' && outcome === 'restored' && undoWindowEnd(ctx, at) > ctx.clock.now()
        ? undoWindowEnd(ctx, at)
        : null,
    ipAddress: recipient === 'old' ? ipAddress : '',
    userAgent: recipient === 'old' ? userAgent : '',
  }),
  read: (ctx, notice) =>
    readChange(ctx, notice, ({ has_password, status, reverted_at, closed_at, requested_at }) => ({
      hasPassword: has_password,
      at: reverted_at ?? closed_at ?? requested_at,
      outcome: status === 'reverted' ? ('restored' as const) : ('stopped' as const),
      // A row of the last release does not say where.
      ...(openSealed<Origin>(ctx, notice.sealed) ?? { ipAddress: '', userAgent: '' }),
    })),
})

type Change = RowOf<typeof lockChange>

// Locked because a cancellation takes no other lock.
const lockChange = statement(
  'lock-undoable-change',
  { ...WINDOW, changeId: text, userId: text },
  {
    id: text,
    status: text.of<'pending_verification' | 'verified'>(),
    old_email: text,
    new_email: text,
    new_email_key: text,
    closed_at: time.orNull,
    old_verified_at: time.orNull,
    account_version: integer.orNull,
  },
  (v) => sql`SELECT r.id, r.status, r.old_email, r.new_email, r.new_email_key, r.closed_at, r.old_verified_at,
     r.account_version
   FROM email_change_requests r WHERE r.id = ${v.changeId} AND r.user_id = ${v.userId} AND ${isUndoable(v)} FOR UPDATE`,
)

// The change and all later ones.
const revertFrom = statement(
  'revert-email-changes',
  { userId: text, changeId: text, version: integer.orNull, closedAt: time.orNull, at: time },
  { id: text, new_email: text, new_email_key: text, closed_at: time.orNull },
  (v) => sql`UPDATE email_change_requests r SET status = 'reverted', reverted_at = ${v.at}
   WHERE r.user_id = ${v.userId} AND r.status = 'verified'
     AND (r.id = ${v.changeId} OR coalesce(r.account_version > ${v.version}, r.closed_at > ${v.closedAt}))
   RETURNING r.id, r.new_email, r.new_email_key, r.closed_at`,
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
  const places = await takePlaces(ctx, { take: [pseudonymousBucket(ctx, 'notMe', changeId)] })
  const { user_id: userId, password_hash: current, name, old_email: email } = await requireUndoableChange(ctx, changeId)
  // A rejected new password does not count toward the limit.
  const passwordHash = await withPlaces(ctx, places, () =>
    hashRequired(ctx, { current, password, person: { name, email } }),
  )
  return ctx.transaction((tx) => undo(tx, { userId, changeId, passwordHash }))
}

async function undo(
  tx: Transaction<LinkContext>,
  { userId, changeId, passwordHash }: { userId: string; changeId: string; passwordHash: string | null },
): Promise<Data<typeof contract>> {
  const account = await lockAccountOfId(tx, userId)
  // Read the clock under the lock, so that a session started while this call waited ends too.
  const at = tx.clock.now()
  const [change] = account ? await tx.sql(lockChange, { changeId, userId, ...windowAt(tx, at) }) : []
  if (!account || !change) throw wrongLink()
  refuseLostPassword(account, passwordHash)
  const isVerified = change.status === 'verified'
  const undone = isVerified ? await revert(tx, change, { userId, at }) : [change]
  const { old_email: oldEmail } = change
  await Promise.all([
    replacePassword(tx, { userId, passwordHash: account.has_password ? passwordHash : null, at }),
    addEvent(tx, 'account.email_reverted', {
      userId,
      data: { change_request_id: changeId },
      ...(isVerified && { addresses: { oldEmail: account.email, newEmail: oldEmail } }),
      at,
    }),
    addAudit(tx, isVerified ? 'email.reverted' : 'email_change.cancelled', {
      userId,
      actor: 'mailed_link',
      subject: changeId,
      ip: tx.ip,
      at,
    }),
    notifyAddresses(tx, account, change, undone, at),
    endSignInLinks(tx, userId),
    noteIncident(tx, 'change_undone', { userId }),
  ])
  return { change_request_id: changeId, status: isVerified ? 'reverted' : 'cancelled', email: oldEmail }
}

type Undone = Pick<Change, 'id' | 'new_email' | 'new_email_key' | 'closed_at'>

/** Gives the account its old address back, and returns the change and all later ones. */
async function revert(
  tx: Transaction,
  {
    id: changeId,
    old_email: email,
    old_verified_at: verifiedAt,
    account_version: version,
    closed_at: closedAt,
  }: Change,
  { userId, at }: { userId: string; at: Date },
): Promise<Undone[]> {
  const emailKey = parseStoredAddress(email).key
  // It is held for the account. Somebody else can only have it from before it was held.
  if (!(await isAddressFree(tx, { userId, emailKey, at }))) throw wrongLink()
  await tx.sql(setAddress, { userId, email, emailKey, verifiedAt })
  return tx.sql(revertFrom, { userId, changeId, version, closedAt, at })
}

/** Writes to the old address, and to each other one that the undone changes brought, about the latest of these. */
async function notifyAddresses(
  tx: Transaction<LinkContext>,
  { id: userId, name: userName, has_password: hasPassword, locale }: LockedAccount,
  change: Change,
  undone: Undone[],
  at: Date,
): Promise<void> {
  const { old_email: oldEmail } = change
  const outcome = change.status === 'verified' ? 'restored' : 'stopped'
  const notice = (recipient: 'old' | 'new', { id: changeId, new_email: newEmail }: Undone) =>
    addNotice(
      tx,
      emailReverted,
      { userId, locale, recipients: [recipient], at },
      { changeId, userName, hasPassword, oldEmail, newEmail, at, outcome, ipAddress: tx.ip, userAgent: tx.userAgent },
    )
  const oldestFirst = undone.toSorted((a, b) => Number(a.closed_at) - Number(b.closed_at))
  const latest = new Map(oldestFirst.map((one) => [one.new_email_key, one]))
  latest.delete(parseStoredAddress(oldEmail).key)
  await Promise.all([notice('old', change), ...[...latest.values()].map((one) => notice('new', one))])
}
