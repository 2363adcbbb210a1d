import { AppError, type Blocker } from '@/contract/errors'
import { isAsked } from '../applications/ask'
import type { AnyContext } from '../context'
import { heldSince, restoredSince } from '../limits/held-addresses'
import { boolean, integer, json, type RowOf, sql, statement, text, time } from '../sql'

/** One is enough to hold a withdrawal back, so further ones are not listed. */
const MAX_TOLD = 100

const findHeld = statement(
  'find-blockers',
  { userId: text, heldSince: time, now: time },
  {
    pending: integer,
    pending_ids: text.list,
    pushed: json.of<(Omit<Blocker, 'until'> & { until: string | null })[]>(),
    restored_at: time.orNull,
    /** Whether applications must be asked as well. */
    asks: boolean,
  },
  (v) => sql`SELECT
     (SELECT count(*)::int FROM transactions WHERE user_id = ${v.userId} AND status = 'pending') AS pending,
     ARRAY(
        SELECT id FROM transactions WHERE user_id = ${v.userId} AND status = 'pending' ORDER BY created_at, id LIMIT ${MAX_TOLD}
      ) AS pending_ids,
     (SELECT coalesce(json_agg(b), '[]') FROM (
        SELECT code, title, url, source, expires_at AS until FROM withdrawal_blockers
        WHERE user_id = ${v.userId} AND (expires_at IS NULL OR expires_at > ${v.now})
        ORDER BY created_at, source, key LIMIT ${MAX_TOLD}
      ) AS b) AS pushed,
     ${restoredSince(v.userId, v.heldSince)} AS restored_at,
     EXISTS (SELECT FROM connected_apps a WHERE ${isAsked(sql`a`, v.userId)}) AS asks`,
)

export interface HeldBack {
  /** How many transactions are pending. */
  pending: number
  /** What holds the withdrawal back, in the order of the answer; all pending transactions are one entry. */
  blockers: Blocker[]
}

/** The blockers that this database knows; `asks` says that applications must be asked as well. */
export async function findBlockers(ctx: AnyContext, userId: string): Promise<HeldBack & { asks: boolean }> {
  const now = ctx.clock.now()
  const [found] = await ctx.sql(findHeld, { userId, heldSince: heldSince(ctx, now), now })
  const held = found as RowOf<typeof findHeld>
  const { pending, pending_ids: ids, restored_at: restoredAt, asks } = held
  const own = { code: 'pending_transactions', title: describePending(pending), url: null, source: 'account', ids }
  const restored = restoredAt ? [addressRestored(new Date(restoredAt.getTime() + ctx.limits.undoWindowMs))] : []
  const pushed = held.pushed.map(({ until, ...one }) => ({
    ...one,
    ...(until && { until: new Date(until).toISOString() }),
  }))
  return { pending, blockers: [...(pending > 0 ? [own] : []), ...restored, ...pushed], asks }
}

const ADDRESS_RESTORED = { code: 'address_restored', source: 'account' }

/** Whoever undid the change may have come by the mailbox alone, and the other one must have the time to call for help. */
function addressRestored(endsAt: Date): Blocker {
  const until = endsAt.toISOString()
  return { ...ADDRESS_RESTORED, title: `A change of the address was undone; wait until ${until}`, url: null, until }
}

/** It holds the person alone: services and operators have made sure of the person themselves. */
export const holdsPersonAlone = ({ code, source }: Blocker): boolean =>
  code === ADDRESS_RESTORED.code && source === ADDRESS_RESTORED.source

const describePending = (pending: number) => `${pending} pending ${pending === 1 ? 'transaction' : 'transactions'}`

/** The sentence gives their number, the list names them. */
export function refusalOf({ pending, blockers }: HeldBack): AppError {
  const restored = blockers.find(holdsPersonAlone)
  const others = blockers.length - (pending > 0 ? 1 : 0) - (restored ? 1 : 0)
  const counted = [
    ...(pending > 0 ? [describePending(pending)] : []),
    ...(others > 0 ? [`${others} ${others === 1 ? 'blocker' : 'blockers'}`] : []),
  ]
  const it = pending + others === 1 ? 'it' : 'them'
  const sentences = [
    ...(counted.length > 0 ? [`${counted.join(' and ')}. Settle or cancel ${it} first.`] : []),
    ...(restored ? [`${restored.title}.`] : []),
  ]
  return new AppError('WITHDRAWAL_003', sentences.join(' '), undefined, blockers)
}
