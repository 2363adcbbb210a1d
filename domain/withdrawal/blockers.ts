import type { Amount } from '@/contract/amount'
import { AppError, type Blocker, type PendingTransaction } from '@/contract/errors'
import { needsCheck } from '../applications/ask'
import type { AnyContext } from '../context'
import { heldSince, restoredSince, undoWindowEnd } from '../limits/held-addresses'
import { boolean, integer, json, type RowOf, sql, statement, text, time } from '../sql'
import { amountOf } from './steps/deletion-step'

/** A row as the database gives it. */
interface WithAmount {
  amount?: Amount | undefined
}

/** One is enough to hold a withdrawal back, so further ones are not listed. */
const MAX_LISTED = 100

const findHeld = statement(
  'find-blockers',
  { userId: text, heldSince: time, now: time },
  {
    pending: integer,
    pending_listed: json.of<(WithAmount & PendingTransaction)[]>(),
    pushed: json.of<(WithAmount & Omit<Blocker, 'until'> & { until: string | null })[]>(),
    restored_at: time.orNull,
    /** Whether applications must be asked as well. */
    asks: boolean,
  },
  (v) => sql`SELECT
     (SELECT count(*)::int FROM transactions WHERE user_id = ${v.userId} AND status = 'pending') AS pending,
     (SELECT coalesce(json_agg(t), '[]') FROM (
        SELECT id, description AS title, url, ${amountOf('amount_cents')} AS amount, created_at FROM transactions
        WHERE user_id = ${v.userId} AND status = 'pending' ORDER BY transactions.created_at, id LIMIT ${MAX_LISTED}
      ) AS t) AS pending_listed,
     (SELECT coalesce(json_agg(b), '[]') FROM (
        SELECT code, title, url, ${amountOf('amount_minor')} AS amount, source, expires_at AS until FROM withdrawal_blockers
        WHERE user_id = ${v.userId} AND (expires_at IS NULL OR expires_at > ${v.now})
        ORDER BY created_at, source, key LIMIT ${MAX_LISTED}
      ) AS b) AS pushed,
     ${restoredSince(v.userId, v.heldSince)} AS restored_at,
     EXISTS (SELECT FROM connected_apps a WHERE ${needsCheck(sql`a`, v.userId)}) AS asks`,
)

/**
 * The blockers that this database knows, in the order of the answer, with all pending transactions in one entry; `asks` says that
 * applications must be asked as well.
 */
export async function findBlockers(ctx: AnyContext, userId: string): Promise<{ blockers: Blocker[]; asks: boolean }> {
  const now = ctx.clock.now()
  const [held] = await ctx.sql(findHeld, { userId, heldSince: heldSince(ctx, now), now })
  const { pending, pending_listed: listed, pushed, restored_at: restoredAt, asks } = held as RowOf<typeof findHeld>
  const transactions = listed.map(({ created_at, ...transaction }) => ({
    ...withoutNull(transaction),
    created_at: new Date(created_at).toISOString(),
  }))
  const others = pushed.map(({ until, ...one }) => ({
    ...withoutNull(one),
    ...(until && { until: new Date(until).toISOString() }),
  }))
  const ids = transactions.map(({ id }) => id)
  const own = { ...PENDING, title: describePending(pending), ids, transactions }
  const restored = restoredAt ? [addressRestored(undoWindowEnd(ctx, restoredAt))] : []
  return { blockers: [...(pending > 0 ? [own] : []), ...restored, ...others], asks }
}

const PENDING = { code: 'pending_transactions', url: null, source: 'account' }

/** Without an amount that is not known. */
const withoutNull = <Row extends WithAmount>({ amount, ...row }: Row) => ({ ...row, ...(amount && { amount }) })

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

/** “2 pending transactions and 1 blocker”; the list names them. */
export function countHeld(blockers: readonly Blocker[]): string {
  const pending = blockers.filter(({ code, source }) => code === PENDING.code && source === PENDING.source)
  const others = blockers.length - pending.length - blockers.filter(holdsPersonAlone).length
  return [
    ...pending.map(({ title }) => title),
    ...(others > 0 ? [`${others} ${others === 1 ? 'blocker' : 'blockers'}`] : []),
  ].join(' and ')
}

export function refusalOf(blockers: readonly Blocker[]): AppError {
  const restored = blockers.find(holdsPersonAlone)
  const counted = countHeld(blockers)
  const held = blockers.filter((blocker) => blocker !== restored).flatMap((blocker) => blocker.ids ?? [blocker.code])
  const sentences = [
    ...(counted ? [`${counted}. Settle or cancel ${held.length === 1 ? 'it' : 'them'} first.`] : []),
    ...(restored ? [`${restored.title}.`] : []),
  ]
  return new AppError('WITHDRAWAL_003', sentences.join(' '), undefined, blockers)
}
