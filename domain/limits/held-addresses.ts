import type { AnyContext } from '../context'
import { equalsAsText, literal, sql } from '../sql'

/** An address that was replaced after this time is held for its account, because the change can still be undone. */
export const heldSince = ({ limits }: AnyContext, now: Date): Date => new Date(now.getTime() - limits.undoWindowMs)

/** Of a change request `r`: it replaced an address, and nobody has said since that the mailbox of that address is lost. */
export const HAS_REPLACED = sql`${equalsAsText(sql`r.status`, literal('verified'))} AND r.old_email_key IS NOT NULL`
