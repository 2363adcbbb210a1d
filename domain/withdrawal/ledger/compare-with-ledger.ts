import type { AnyContext, SystemContext } from '../../context'
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
  | { state: 'level'; end: StoredEnd; newest?: string }
  | { state: 'missing'; end: StoredEnd }
  /** `lines`: how many it does not know, counted no further than the caller asked. */
  | { state: 'behind'; end: StoredEnd; lines: number }

/** More than wait while a store is there. */
const MAX_WAITING = 1_000

/**
 * Compares the end of the chain with the store. A database is never behind its own ledger, because it writes its lines into the
 * store after its commit.
 */
export async function compareWithLedger(ctx: SystemContext, asked?: Asked): Promise<Comparison> {
  const compared = await compareInside(ctx, asked)
  if (compared.state === 'level' && compared.newest) ctx.process.ledger.newest = compared.newest
  return compared
}

interface Asked {
  head?: LedgerHead
  maxLines?: number
}

/** As `compareWithLedger`; keeps nothing in the process, because a transaction may be rolled back. */
export async function compareInside(ctx: AnyContext, { head, maxLines = 0 }: Asked = {}): Promise<Comparison> {
  const known = head ?? (await readLedgerHead(ctx))
  const { origin, hash, batch_seq: batchSeq } = known
  const waiting = await ctx.sql(waitingBatches, { maxRows: MAX_WAITING })
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
  return isSame
    ? { state: 'level', end, newest: batchName(origin, batchSeq) }
    : { state: 'behind', end, lines: Number.POSITIVE_INFINITY }
}

const linesOf = (text: string): string[] => text.split('\n').filter(Boolean)

async function hasBatchUpTo(ctx: AnyContext, origin: string, seq: number): Promise<boolean> {
  for await (const name of ctx.ledger.list(folderOf(origin))) return firstSeqOf(name) <= seq
  return false
}
