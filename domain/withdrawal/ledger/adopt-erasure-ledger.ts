import type { SystemContext } from '../../context'
import { integer, sql, statement, text, time } from '../../sql'
import { restorePublicKeys } from '../receipts/signing-keys'
import { lockLedger, readLedgerHead } from './erasure-ledger'
import { isBehind } from './is-ledger-ahead'
import { type LedgerReading, newReading, readLedger } from './read-erasure-ledger'

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
  { seq: integer, hash: text, batchSeq: integer, now: time },
  {},
  (v) => sql`UPDATE erasure_ledger SET seq = ${v.seq}, hash = ${v.hash}, batch_seq = ${v.batchSeq}, at = ${v.now}`,
)

/** Continues the chain from the end in the store, if this database knows another end. */
export const adoptLedger = (ctx: SystemContext, { seq, hash, batchSeq, keys }: LedgerReading): Promise<void> =>
  ctx.transaction(async (sql) => {
    if (!(await isBehind(ctx, await lockLedger(sql)))) return
    await restorePublicKeys(sql, keys)
    await sql(deleteUnstored, {})
    await sql(setHead, { seq, hash, batchSeq, now: ctx.clock.now() })
  })

/** The operator's decision to serve a restored database without a replay. */
export async function acceptOldDatabase(ctx: SystemContext): Promise<void> {
  const reading = newReading()
  for await (const _line of readLedger(ctx, await readLedgerHead(ctx), reading));
  await adoptLedger(ctx, reading)
}
