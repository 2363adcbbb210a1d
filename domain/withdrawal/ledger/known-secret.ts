import type { SystemContext } from '../../context'
import { opensNewestKey } from '../receipts/signing-keys'
import { batchName, keyIdsOf, type LedgerLine, readLedgerHead, waitingBatches } from './erasure-ledger'

/**
 * Whether a configured CODE_SECRET opens the newest signing key or has made the newest line of the ledger; true where there is
 * neither. With another secret the service would sign with a new key, and would not know the external ids of deleted accounts.
 */
export async function isSecretKnown(ctx: SystemContext): Promise<boolean> {
  const opensKey = await opensNewestKey(ctx)
  if (opensKey) return true
  const line = await newestLine(ctx).catch(() => null)
  return line ? keyIdsOf(ctx).includes(line.key) : opensKey === null
}

async function newestLine(ctx: SystemContext): Promise<LedgerLine | null> {
  const { origin, batch_seq: batchSeq } = await readLedgerHead(ctx)
  const waiting = await ctx.sql(waitingBatches, { maxRows: 1_000 })
  const stored = () => (batchSeq > 0 ? ctx.ledger.get(batchName(origin, batchSeq)) : null)
  const lines = waiting.at(-1)?.lines ?? (await stored())
  const last = lines?.trimEnd().split('\n').at(-1)
  return last ? JSON.parse(last) : null
}
