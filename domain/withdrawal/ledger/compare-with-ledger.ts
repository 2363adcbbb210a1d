import type { SystemContext } from '../../context'
import type { StoredLine } from '../../process'
import type { Sql } from '../../sql'
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
  | { state: 'level' | 'missing' | 'strange'; end: StoredEnd }
  /** `lines`: how many it does not know, counted no further than the caller asked. */
  | { state: 'behind'; end: StoredEnd; lines: number }

/** More than wait while a store is there. */
const MAX_WAITING = 1_000

interface Compared {
  sql?: Sql
  /** As it is while the ledger is locked. */
  head?: LedgerHead
  maxLines?: number
}

/**
 * Compares the end of the chain with the store. A database is never behind its own ledger, because it writes its lines into the
 * store after its commit.
 */
export async function compareWithLedger(ctx: SystemContext, given: Compared = {}): Promise<Comparison> {
  const { sql = ctx.sql } = given
  const { seen } = ctx.process.ledger
  for (;;) {
    const head = given.head ?? (await readLedgerHead(ctx, sql))
    const compared = await compareHead(ctx, head, { ...given, sql })
    if (compared.state === 'level') {
      if (!(await hasSeen(ctx, head, compared.end, seen))) return { ...compared, state: 'strange' }
      // A new store has been begun, by another instance perhaps.
      if (head.batch_seq === 0) ctx.process.ledger.newest = undefined
      return compared
    }
    // Another instance may have written and stored a line after the head was read.
    if (given.head || (await readLedgerHead(ctx, sql)).hash === head.hash) return compared
  }
}

async function compareHead(
  ctx: SystemContext,
  known: LedgerHead,
  { sql, maxLines = 0 }: Compared & { sql: Sql },
): Promise<Comparison> {
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
  if (lastOf(batchSeq, newest).hash !== hash) return { state: 'behind', end, lines: Number.POSITIVE_INFINITY }
  ctx.process.ledger.newest = batchName(origin, batchSeq)
  noteSeen(ctx, { origin, ...end })
  return { state: 'level', end }
}

async function hasBatchUpTo(ctx: SystemContext, origin: string, seq: number): Promise<boolean> {
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
