import type { AnyContext, SystemContext, Transaction } from '../../context'
import type { LedgerEntry } from '../../ports'
import { keyIdsOf, pseudonymOf } from '../../pseudonyms'
import { boolean, type Described, integer, type RowOf, sql, statement, text, time, UNWAITED } from '../../sql'
import { coalesced } from '../../work/coalesce'
import { eachBatch } from '../../work/queue'
import { hashOf, readSigningKeys, signingKey, signJws } from '../receipts/signing-keys'
import { noteSeen } from '../receipts/stored-lines'

/** An entry in the chain. */
export interface LedgerLine extends LedgerEntry {
  /** 1, 2, 3 … */
  seq: number
  /** The hash of the line before; empty in the first. */
  prev: string
  /** Names the secret that made the pseudonym. */
  key: string
}

/** Where the chain ends. */
const LEDGER_HEAD = {
  origin: text,
  seq: integer,
  hash: text,
  /** The first line of the newest batch. */
  batch_seq: integer,
  at: time.orNull,
  /** How often somebody was withdrawn again because the database had lost it. */
  replayed: integer,
}
export type LedgerHead = Described<typeof LEDGER_HEAD>

/** The most lines of a batch. */
export const BATCH_SIZE = 100
/** So that the writes of ends take little from the writes that answers wait for. */
const END_GATHERING_MS = 100

const columns = sql`origin, seq, hash, batch_seq, at, replayed`
const readHead = statement('ledger-head', {}, LEDGER_HEAD, () => sql`SELECT ${columns} FROM erasure_ledger`)
// All writers of the chain wait for this lock.
const lockHead = statement(
  'lock-ledger-head',
  {},
  LEDGER_HEAD,
  () => sql`SELECT ${columns} FROM erasure_ledger FOR UPDATE`,
)
// Skips withdrawals locked by a running step; the next run takes them.
const unwritten = statement(
  'withdrawals-to-ledger',
  { maxRows: integer },
  {
    id: text,
    user_id: text,
    started_at: time,
    keep_analytics: boolean,
    keep_audit_logs: boolean,
    keep_transaction_history: boolean,
  },
  (v) => sql`SELECT id, user_id, started_at, keep_analytics, keep_audit_logs, keep_transaction_history
   FROM withdrawals WHERE ledgered_at IS NULL AND user_id IS NOT NULL ORDER BY started_at LIMIT ${v.maxRows}
   FOR UPDATE SKIP LOCKED`,
)

const appendLines = statement(
  'append-to-ledger',
  {
    ids: text.list,
    seqs: integer.list,
    hashes: text.list,
    firstSeq: integer,
    lastSeq: integer,
    hash: text,
    lines: text,
    now: time,
  },
  {},
  (v) => sql`WITH head AS (
     UPDATE erasure_ledger SET seq = ${v.lastSeq}, hash = ${v.hash}, batch_seq = ${v.firstSeq}, at = ${v.now}
   ), batch AS (
     INSERT INTO erasure_ledger_batches (first_seq, lines) VALUES (${v.firstSeq}, ${v.lines})
   )
   UPDATE withdrawals w SET ledgered_at = ${v.now}, ledger_seq = line.seq, ledger_hash = line.hash
   FROM unnest(${v.ids}::text[], ${v.seqs}::int[], ${v.hashes}::text[]) AS line (id, seq, hash) WHERE w.id = line.id`,
)
export const waitingBatches = statement(
  'ledger-batches',
  { maxRows: integer },
  { origin: text, first_seq: integer, lines: text },
  (v) => sql`SELECT h.origin, b.first_seq, b.lines FROM erasure_ledger_batches b CROSS JOIN erasure_ledger h
   ORDER BY b.first_seq LIMIT ${v.maxRows}`,
)
export const markStored = statement(
  'mark-ledger-batch-stored',
  { firstSeq: integer, lines: text },
  { is_marked: boolean },
  (v) => sql`DELETE FROM erasure_ledger_batches WHERE first_seq = ${v.firstSeq} AND lines = ${v.lines}
   RETURNING ${UNWAITED} IS NOT NULL AS is_marked`,
)

/**
 * The lines get their place in the chain in the database first, and go to the store after the commit. So the store is never ahead
 * of its own database, and the next run stores what a killed process did not. Coalesced, because parallel runs would wait for each
 * other, and withdrawals at the same time share one write.
 */
export const writeErasureLedger = coalesced(
  'write-erasure-ledger',
  async (ctx) => {
    await eachBatch(BATCH_SIZE, () => ctx.transaction((tx) => appendBatch(tx)))
    await storeBatches(ctx)
  },
  0,
)

/** Returns how many lines it wrote. */
async function appendBatch(tx: Transaction): Promise<number> {
  const [head, rows] = await Promise.all([lockLedger(tx), tx.sql(unwritten, { maxRows: BATCH_SIZE })])
  if (rows.length === 0) return 0
  const chain = chainOf(
    head,
    rows.map((row) => toEntry(tx, row)),
    keyIdsOf(tx)[0] as string,
  )
  const last = chain.at(-1) as Chained
  await tx.sql(appendLines, {
    ids: rows.map(({ id }) => id),
    seqs: chain.map(({ seq }) => seq),
    hashes: chain.map(({ hash }) => hash),
    firstSeq: head.seq + 1,
    lastSeq: last.seq,
    hash: last.hash,
    lines: chain.map(({ text }) => `${text}\n`).join(''),
    now: tx.clock.now(),
  })
  return rows.length
}

/** Makes every other writer wait until the transaction ends. */
export async function lockLedger(tx: Transaction): Promise<LedgerHead> {
  const [head] = await tx.sql(lockHead, {})
  return head as LedgerHead
}

export async function readLedgerHead({ sql }: AnyContext): Promise<LedgerHead> {
  const [head] = await sql(readHead, {})
  return head as LedgerHead
}

interface Chained {
  seq: number
  text: string
  hash: string
}

/** The entries as lines behind `head`. */
function chainOf(head: { seq: number; hash: string }, entries: LedgerEntry[], key: string): Chained[] {
  let { seq, hash } = head
  return entries.map((entry) => {
    const line: LedgerLine = { seq: ++seq, prev: hash, key, ...entry }
    const text = JSON.stringify(line)
    hash = hashOf(text)
    return { seq, text, hash }
  })
}

/** Several instances may store one batch, because its name and its content are the same. */
async function storeBatches(ctx: SystemContext): Promise<void> {
  await eachBatch(BATCH_SIZE, async () => {
    const batches = await ctx.sql(waitingBatches, { maxRows: BATCH_SIZE })
    if (batches.length === 0) return 0
    for (const { origin, first_seq: firstSeq, lines } of batches) {
      const isStored = await storeBatch(ctx, batchName(origin, firstSeq), lines)
      if (isStored) noteSeen(ctx, { origin, ...lastOf(firstSeq, lines) })
      const [marked] = isStored ? await ctx.sql(markStored, { firstSeq, lines }) : []
      // Another instance has marked it, or a replica that lagged took over meanwhile and the store is ahead of it.
      if (!marked) ctx.process.ledger.needsComparison = true
      if (!isStored) throw ledgerAhead(firstSeq)
    }
    // No answer waits for it.
    ctx.background(() => storeEnd(ctx))
    return batches.length
  })
}

export const linesOf = (batch: string): string[] => batch.split('\n').filter(Boolean)

export function lastOf(firstSeq: number, batch: string): StoredEnd {
  const lines = linesOf(batch)
  return { seq: firstSeq + lines.length - 1, hash: hashOf(lines.at(-1) ?? '') }
}

function ledgerAhead(seq: number): Error {
  const problem = `the erasure ledger has other lines from line ${seq} on: the database is older than its ledger`
  return Object.assign(new Error(problem), { code: 'ledger_ahead' })
}

/**
 * False if the store has other lines. They are never replaced, because they show that this database was restored, and that the store
 * knows withdrawals that it does not.
 */
async function storeBatch(ctx: SystemContext, name: string, lines: string): Promise<boolean> {
  const stored = await ctx.ledger.get(name)
  if (stored !== null) return stored === lines
  if (!(await noted(ctx, () => ctx.ledger.add(name, lines)))) return (await ctx.ledger.get(name)) === lines
  ctx.process.ledger.newest = name
  return true
}

export const putLedger = (ctx: SystemContext, name: string, content: string): Promise<void> =>
  noted(ctx, () => ctx.ledger.put(name, content))

/** Writes into the store that this process knows, and notes whether it takes objects. */
async function noted<Result>(ctx: SystemContext, write: () => Promise<Result>): Promise<Result> {
  const { ledger } = ctx.process
  try {
    await requireKnownStore(ctx)
    const result = await write()
    ledger.storedAt = performance.now()
    ledger.isFailing = false
    return result
  } catch (error) {
    ledger.isFailing = true
    throw error
  }
}

/** A store without the newest batch that this process knows to be there is another one, such as a share that is no longer mounted. */
export async function requireKnownStore(ctx: SystemContext): Promise<void> {
  const { newest } = ctx.process.ledger
  if (!newest || (await ctx.ledger.get(newest)) !== null) return
  ctx.process.ledger.needsComparison = true
  const problem = 'the store of the erasure ledger lacks the newest lines that it had'
  throw Object.assign(new Error(problem), { code: 'ledger_missing' })
}

const storeEnd = coalesced(
  'store-ledger-end',
  async (ctx) => {
    const { origin } = await readLedgerHead(ctx)
    const end: LedgerEnd = { head: await signedLedgerHead(ctx), keys: await readSigningKeys(ctx) }
    await putLedger(ctx, endName(origin), JSON.stringify(end))
  },
  END_GATHERING_MS,
)

/**
 * Stored beside the lines. It vouches for the last line, and a restored database finds here the keys that were made after the
 * backup.
 */
export interface LedgerEnd {
  head: string
  keys: Awaited<ReturnType<typeof readSigningKeys>>
}

export const folderOf = (origin: string) => `erasure-ledger/${origin}`
export const batchName = (origin: string, firstSeq: number) =>
  `${folderOf(origin)}/${String(firstSeq).padStart(12, '0')}.ndjson`
export const firstSeqOf = (name: string) => Number(name.slice(name.lastIndexOf('/') + 1, -'.ndjson'.length))
export const endName = (origin: string) => `erasure-ledger/${origin}-end.json`
/** Holds what `ledger trim` has dropped: the chain continues from there. */
export const beginningName = (origin: string) => `erasure-ledger/${origin}-beginning.json`

const toEntry = (ctx: AnyContext, row: RowOf<typeof unwritten>): LedgerEntry => ({
  withdrawalId: row.id,
  pseudonym: pseudonymOf(ctx, row.user_id),
  startedAt: row.started_at.toISOString(),
  keeps: {
    analytics: row.keep_analytics,
    auditLogs: row.keep_audit_logs,
    transactionHistory: row.keep_transaction_history,
  },
})

/** The last line of those that all stand in the store. */
export interface StoredEnd {
  seq: number
  hash: string
}

/** `head` must have been read before the batches that wait. */
export function storedEnd({ seq, hash }: LedgerHead, [first]: { first_seq: number; lines: string }[]): StoredEnd {
  if (!first) return { seq, hash }
  const { prev } = JSON.parse(first.lines.slice(0, first.lines.indexOf('\n'))) as LedgerLine
  return { seq: first.first_seq - 1, hash: prev }
}

/**
 * The signed end of what the store has. Comparing it with a later chain shows whether a line was dropped or changed. A line that
 * waits for the store is not named, because the database could lose it.
 */
export async function signedLedgerHead(ctx: SystemContext): Promise<string> {
  const head = await readLedgerHead(ctx)
  const { seq, hash } = storedEnd(head, await ctx.sql(waitingBatches, { maxRows: 1 }))
  const { at } = head
  const claims = { iss: ctx.appUrl, lines: seq, hash, at: (at ?? ctx.clock.now()).toISOString() }
  return signJws(await signingKey(ctx), 'erasure-log+jwt', claims)
}
