import type { SystemContext } from '../../context'
import { batchName, folderOf, hashOfLine, type LedgerHead, readLedgerHead } from './erasure-ledger'

/**
 * Whether the store has lines that this database does not know. Then the database was restored from a backup, and people who have
 * left may be back in it. No other database is behind its ledger, because a database writes its own lines into the store after its
 * commit.
 */
export const isLedgerAhead = async (ctx: SystemContext): Promise<boolean> => isBehind(ctx, await readLedgerHead(ctx))

export async function isBehind(ctx: SystemContext, head: LedgerHead): Promise<boolean> {
  const { origin, seq, hash, batch_seq: batchSeq } = head
  for await (const _name of ctx.ledger.list(folderOf(origin), batchName(origin, seq))) return true
  const lines = batchSeq > 0 ? await ctx.ledger.get(batchName(origin, batchSeq)) : null
  const last = lines?.trimEnd().split('\n').at(-1)
  return last !== undefined && hashOfLine(last) !== hash
}
