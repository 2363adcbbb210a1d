import type { AnyContext, SystemContext } from '../../context'
import type { StoredLine } from '../../process'
import { hashOf } from '../receipts/signing-keys'
import { noteSeen } from '../receipts/stored-lines'
import {
  BATCH_SIZE,
  batchName,
  firstSeqOf,
  folderOf,
  type LedgerHead,
  lastOf,
  linesOf,
  readLedgerHead,
  type StoredEnd,
  storedEnd,
  waitingBatches,
} from './erasure-ledger'
import { readBeginning } from './read-erasure-ledger'

/**
 * `behind`: the store has lines that this database does not know, so it was restored from a backup, or is a replica that lagged, and
 * people who have left may be back in it. `missing`: the store lacks lines that this database has stored, so it is another store.
 * `strange`: the two fit each other, and lack the line that this process has seen stored.
 */
type Comparison =
  | { state: 'level'; end: StoredEnd; newest?: string }
  | { state: 'missing' | 'strange'; end: StoredEnd }
  /** `lines`: how many it does not know, counted no further than the caller asked. */
  | { state: 'behind'; end: StoredEnd; lines: number }

/** More than wait while a store is there. */
const MAX_WAITING = 1_000

/**
 * Compares the end of the chain with the store. A database is never behind its own ledger, because it writes its lines into the
 * store after its commit.
 */
export async function compareWithLedger(ctx: SystemContext, options: CompareOptions = {}): Promise<Comparison> {
  const { ledger } = ctx.process
  const { seen } = ledger
  for (;;) {
    const head = await readLedgerHead(ctx)
    const compared = await compareInside(ctx, { ...options, head })
    if (compared.state === 'level') {
      const { end, newest } = compared
      if (!(await hasSeen(ctx, head, end, seen))) return { state: 'strange', end }
      if (newest) {
        ledger.newest = newest
        noteSeen(ctx, { origin: head.origin, ...end })
      }
      // A new store has been begun, by another instance perhaps.
      if (head.batch_seq === 0) ledger.newest = undefined
      return compared
    }
    // Another instance may have written and stored a line after the head was read.
    if ((await readLedgerHead(ctx)).hash === head.hash) return compared
  }
}

interface CompareOptions {
  maxLines?: number
}

/** As `compareWithLedger`, while the head stays; keeps nothing in the process, because a transaction may be rolled back. */
export async function compareInside(
  ctx: AnyContext,
  { head: known, maxLines = 0 }: CompareOptions & { head: LedgerHead },
): Promise<Comparison> {
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
  return lastOf(batchSeq, newest).hash === hash
    ? { state: 'level', end, newest: batchName(origin, batchSeq) }
    : { state: 'behind', end, lines: Number.POSITIVE_INFINITY }
}

async function hasBatchUpTo(ctx: AnyContext, origin: string, seq: number): Promise<boolean> {
  for await (const name of ctx.ledger.list(folderOf(origin))) return firstSeqOf(name) <= seq
  return false
}

/** Whether a chain that ends like that of the store has the line that was seen stored: a snapshot can put back both. */
async function hasSeen(
  ctx: SystemContext,
  { origin }: LedgerHead,
  end: StoredEnd,
  seen: StoredLine | undefined,
): Promise<boolean> {
  if (!seen || (seen.seq === end.seq && seen.hash === end.hash && seen.origin === origin)) return true
  if (seen.origin !== origin) return false
  // The lines before it were dropped, or the operator has accepted their loss.
  if (seen.seq <= (await readBeginning(ctx, origin)).seq) return true
  let holder: string | undefined
  for await (const name of ctx.ledger.list(folderOf(origin), batchName(origin, Math.max(0, seen.seq - BATCH_SIZE)))) {
    if (firstSeqOf(name) > seen.seq) break
    holder = name
  }
  const lines = holder && linesOf((await ctx.ledger.get(holder)) ?? '')
  return Boolean(holder && lines && hashOf(lines[seen.seq - firstSeqOf(holder)] ?? '') === seen.hash)
}
