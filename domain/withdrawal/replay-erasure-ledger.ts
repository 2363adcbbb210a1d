import type { SystemContext } from '../context'
import type { LedgerEntry } from '../ports'
import { statement } from '../sql'
import { withdrawAgain } from './withdraw-account'

const BATCH = 1000

const liveUsers = statement<{ after: string; maxRows: number }, { id: string }>(
  'users-after',
  (v) => `SELECT id FROM users WHERE id > ${v.after} AND withdrawn_at IS NULL ORDER BY id LIMIT ${v.maxRows}`,
)

/** After the restore of a backup, before the service opens: withdraws again every account that the backup brought back. */
export async function replayErasureLedger(ctx: SystemContext): Promise<{ replayed: number; already_gone: number }> {
  const entries = await ctx.ledger.read()
  const withdrawals = new Set(entries.map(({ withdrawalId }) => withdrawalId)).size
  const byPseudonym = new Map(entries.map((entry) => [entry.pseudonym, entry]))
  let replayed = 0
  let after = ''
  for (;;) {
    const users = await ctx.sql(liveUsers, { after, maxRows: BATCH })
    for (const { id } of users) {
      const entry = entryOf(ctx, byPseudonym, id)
      if (entry && (await withdrawAgain(ctx, id, entry))) replayed++
    }
    if (users.length < BATCH) return { replayed, already_gone: withdrawals - replayed }
    after = users.at(-1)?.id ?? ''
  }
}

/** Any configured key may have made the pseudonym. */
const entryOf = (ctx: SystemContext, byPseudonym: Map<string, LedgerEntry>, userId: string): LedgerEntry | undefined =>
  ctx.secrets
    .macs('pseudonym', userId)
    .map((mac) => byPseudonym.get(mac.toString('base64url')))
    .find(Boolean)
