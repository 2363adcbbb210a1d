import type { SystemContext, Transaction } from '../../context'
import { integer, sql, statement, text, time } from '../../sql'
import { hashOf, restorePublicKeys } from '../receipts/signing-keys'
import { compareInside, compareWithLedger } from './compare-with-ledger'
import {
  batchName,
  beginningName,
  folderOf,
  lockLedger,
  markStored,
  putLedger,
  readLedgerHead,
  waitingBatches,
} from './erasure-ledger'
import { type LedgerReading, newReading, readLedger } from './read-erasure-ledger'

/** A line that the database may not know, of a withdrawal that it may know. */
export interface AdoptedLine {
  withdrawalId: string
  seq: number
  hash: string
}

// Lines that are not in the store are written again, after those that are.
const deleteUnstored = statement(
  'delete-unstored-lines',
  {},
  {},
  () => sql`WITH unstored AS (DELETE FROM erasure_ledger_batches RETURNING first_seq)
   UPDATE withdrawals SET ledgered_at = NULL, ledger_seq = NULL, ledger_hash = NULL
   WHERE ledger_seq >= (SELECT min(first_seq) FROM unstored)`,
)
const setHead = statement(
  'adopt-ledger-head',
  { seq: integer, hash: text, batchSeq: integer, replayed: integer, now: time },
  {},
  (v) => sql`UPDATE erasure_ledger SET seq = ${v.seq}, hash = ${v.hash}, batch_seq = ${v.batchSeq}, at = ${v.now},
     replayed = replayed + ${v.replayed}`,
)
// The database can have lost the line of a withdrawal that it has. It must not be written twice.
const adoptLines = statement(
  'adopt-ledger-lines',
  { ids: text.list, seqs: integer.list, hashes: text.list, now: time },
  {},
  (v) => sql`UPDATE withdrawals w SET ledgered_at = ${v.now}, ledger_seq = line.seq, ledger_hash = line.hash
   FROM unnest(${v.ids}::text[], ${v.seqs}::int[], ${v.hashes}::text[]) AS line (id, seq, hash)
   WHERE w.id = line.id AND w.ledgered_at IS NULL`,
)

/** Continues the chain from the end in the store, if this database knows another end. `lines` are those that it may not know. */
export const adoptLedger = (
  ctx: SystemContext,
  { seq, hash, batchSeq, keys }: LedgerReading,
  { lines = [], replayed = 0 }: { lines?: readonly AdoptedLine[]; replayed?: number } = {},
): Promise<void> =>
  ctx.transaction(async (tx) => {
    const head = await lockLedger(tx)
    if ((await compareInside(tx, { head })).state !== 'behind') return
    await noteStored(tx, head.origin)
    await restorePublicKeys(tx, keys)
    await tx.sql(deleteUnstored, {})
    const now = tx.clock.now()
    await tx.sql(setHead, { seq, hash, batchSeq, replayed, now })
    await tx.sql(adoptLines, {
      ids: lines.map(({ withdrawalId }) => withdrawalId),
      seqs: lines.map(({ seq }) => seq),
      hashes: lines.map(({ hash }) => hash),
      now,
    })
  })

/** What the store has does not wait for it. */
async function noteStored(tx: Transaction, origin: string) {
  for (const { first_seq: firstSeq, lines } of await tx.sql(waitingBatches, { maxRows: 1_000 })) {
    if ((await tx.ledger.get(batchName(origin, firstSeq))) === lines) await tx.sql(markStored, { firstSeq, lines })
  }
}

/**
 * What `ACCEPT_OLD_DATABASE` takes: it names the end of the database and that of the store, so that it accepts nothing else, and is the
 * same for every instance.
 */
export async function nameOfGap(ctx: SystemContext): Promise<string> {
  const { end } = await compareWithLedger(ctx)
  const { origin, batch_seq: batchSeq } = await readLedgerHead(ctx)
  let newest = batchName(origin, batchSeq)
  for await (const name of ctx.ledger.list(folderOf(origin), batchName(origin, end.seq))) newest = name
  return hashOf([origin, end.seq, end.hash, newest, await ctx.ledger.get(newest)].join('\n')).slice(0, 12)
}

/** The operator's decision to serve a restored database without a replay, or to begin a new store after the loss of the old one. */
export async function acceptOldDatabase(ctx: SystemContext): Promise<void> {
  const { state, end } = await compareWithLedger(ctx)
  Object.assign(ctx.process.ledger, { newest: undefined, seen: undefined })
  const head = await readLedgerHead(ctx)
  if (state === 'missing') {
    await putLedger(ctx, beginningName(head.origin), JSON.stringify(end))
    await ctx.transaction(async (tx) => {
      const { seq, hash } = await lockLedger(tx)
      await tx.sql(setHead, { seq, hash, batchSeq: 0, replayed: 0, now: tx.clock.now() })
    })
    return
  }
  const reading = newReading()
  for await (const _line of readLedger(ctx, head, reading));
  await adoptLedger(ctx, reading)
}
