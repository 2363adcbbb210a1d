import type { SystemContext } from '../../context'
import type { Sql } from '../../sql'
import { hashOf } from '../receipts/signing-keys'
import {
  batchName,
  firstSeqOf,
  folderOf,
  type LedgerHead,
  readLedgerHead,
  type StoredEnd,
  storedEnd,
  waitingBatches,
} from './erasure-ledger'

/**
 * `behind`: the store has lines that this database does not know, so it was restored from a backup, or is a replica that lagged, and
 * people who have left may be back in it. `missing`: the store lacks lines that this database has stored, so it is another store.
 */
type Comparison =
  | { state: 'level' | 'missing'; end: StoredEnd }
  /** `lines`: how many it does not know, counted no further than the caller asked. */
  | { state: 'behind'; end: StoredEnd; lines: number }

/** More than wait while a store is there. */
const MAX_WAITING = 1_000

/**
 * Compares the end of the chain with the store. A database is never behind its own ledger, because it writes its lines into the
 * store after its commit.
 */
export async function compareWithLedger(
  ctx: SystemContext,
  { sql = ctx.sql, head, maxLines = 0 }: { sql?: Sql; head?: LedgerHead; maxLines?: number } = {},
): Promise<Comparison> {
  const known = head ?? (await readLedgerHead(ctx, sql))
  const { origin, hash, batch_seq: batchSeq } = known
  const waiting = await sql(waitingBatches, { maxRows: MAX_WAITING })
  const end = storedEnd(known, waiting)
  // The store may have a batch already: a process was killed before it noted that.
  const waitingLines = new Map(waiting.map(({ first_seq, lines }) => [first_seq, lines]))
  let lines = 0
  for await (const name of ctx.ledger.list(folderOf(origin), batchName(origin, end.seq))) {
    const text = (await ctx.ledger.get(name)) ?? ''
    if (waitingLines.get(firstSeqOf(name)) !== text) lines += linesOf(text).length
    if (lines > maxLines) break
  }
  if (lines > 0) return { state: 'behind', end, lines }
  if (end.seq === 0 || batchSeq === 0) return { state: 'level', end }
  if (waiting.length > 0) return { state: (await hasBatchUpTo(ctx, origin, end.seq)) ? 'level' : 'missing', end }
  const newest = await ctx.ledger.get(batchName(origin, batchSeq))
  if (newest === null) return { state: 'missing', end }
  const isSame = hashOf(linesOf(newest).at(-1) ?? '') === hash
  if (isSame) ctx.process.ledger.newest = batchName(origin, batchSeq)
  return isSame ? { state: 'level', end } : { state: 'behind', end, lines: Number.POSITIVE_INFINITY }
}

const linesOf = (text: string): string[] => text.split('\n').filter(Boolean)

async function hasBatchUpTo(ctx: SystemContext, origin: string, seq: number): Promise<boolean> {
  for await (const name of ctx.ledger.list(folderOf(origin))) return firstSeqOf(name) <= seq
  return false
}
