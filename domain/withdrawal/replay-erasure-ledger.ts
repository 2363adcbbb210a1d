import { type SystemContext, statement } from '../context'
import type { LedgerEntry } from '../ports'
import { withdrawAgain } from './withdraw-account'

const BATCH = 1000

const liveUsers = statement(
  'users-after',
  'SELECT id FROM users WHERE id > $1 AND withdrawn_at IS NULL ORDER BY id LIMIT $2',
)

/** After a backup was restored and before the service opens: withdraws again whom the backup brought back. */
export async function replayErasureLedger(ctx: SystemContext): Promise<{ replayed: number; already_gone: number }> {
  const entries = await ctx.ledger.read()
  const withdrawals = new Set(entries.map(({ withdrawalId }) => withdrawalId)).size
  const byPseudonym = new Map(entries.map((entry) => [entry.pseudonym, entry]))
  let replayed = 0
  let after = ''
  for (;;) {
    const users = await ctx.sql<{ id: string }>(liveUsers, [after, BATCH])
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
