import type { AnyContext } from '../context'
import { equalsAsText, literal, type Part, type RowOf, sql, statement, text, time } from '../sql'

/** An address that was replaced after this time is held for its account, because the change can still be undone. */
export const heldSince = ({ limits }: AnyContext, now: Date): Date => new Date(now.getTime() - limits.undoWindowMs)

/** The end of the undo window that begins at this time: with a change, or with its undo, which holds a deletion back for as long. */
export const undoWindowEnd = ({ limits }: AnyContext, at: Date): Date => new Date(at.getTime() + limits.undoWindowMs)

/** Of a change request `r`: it replaced an address, and nobody has said since that the mailbox of that address is lost. */
export const HAS_REPLACED = sql`${equalsAsText(sql`r.status`, literal('verified'))} AND r.old_email_key IS NOT NULL`

/**
 * The same, and the replaced address was the person's own, because it had been verified. Only such an address can undo the change, asks
 * for a deletion and is told of one; whoever reads a mailbox that was never verified may be anybody.
 */
export const HAS_REPLACED_VERIFIED = sql`${HAS_REPLACED} AND r.old_verified_at IS NOT NULL`

/** Of a change request `r`: whoever reads its old address would still stop or undo it, if they were told of it in time. */
export const CALLS_FOR_HELP = sql`(${equalsAsText(sql`r.status`, literal('pending_verification'))} OR (${HAS_REPLACED}))`

/** When the newest of the changes of `user` that were undone after `since` was undone; null if there is none. */
export const restoredSince = (user: Part, since: Part) =>
  sql`(SELECT max(r.reverted_at) FROM email_change_requests r
      WHERE r.user_id = ${user} AND ${equalsAsText(sql`r.status`, literal('reverted'))} AND r.reverted_at > ${since})`

/** When the newest change of `user` that can be undone was made after `since`; null if there is none. */
export const changedSince = (user: Part, since: Part) =>
  sql`(SELECT max(r.closed_at) FROM email_change_requests r
      WHERE r.user_id = ${user} AND ${HAS_REPLACED_VERIFIED} AND r.closed_at > ${since})`

// Of several changes from one address the oldest, because its link undoes the others too.
const replacedAddresses = statement(
  'replaced-addresses',
  { userId: text, after: time },
  { id: text, old_email: text, closed_at: time },
  (v) => sql`SELECT DISTINCT ON (r.old_email_key) r.id, r.old_email, r.closed_at
   FROM email_change_requests r JOIN users u ON u.id = r.user_id AND u.email_key <> r.old_email_key
   WHERE r.user_id = ${v.userId} AND ${HAS_REPLACED_VERIFIED} AND r.closed_at > ${v.after}
   ORDER BY r.old_email_key, r.closed_at, r.account_version`,
)

/** The person's own addresses that changes after this time replaced, with the change that each can undo; without the present one. */
export const findReplaced = (
  ctx: AnyContext,
  of: { userId: string; after: Date },
): Promise<RowOf<typeof replacedAddresses>[]> => ctx.sql(replacedAddresses, of)
