import type { SystemContext } from '../../context'
import { keyIdsOf } from '../../pseudonyms'
import { hashOf, readNewestKey } from '../receipts/signing-keys'
import { batchName, type LedgerLine, readLedgerHead, waitingBatches } from './erasure-ledger'

/**
 * Null if a configured CODE_SECRET opens the newest signing key or has made the newest line of the ledger, or there is neither. With
 * another secret the service would sign with a new key, and would not know the external ids of deleted accounts: it is named for
 * `ACCEPT_NEW_SECRET`, together with the key that is lost with the old one.
 */
export async function nameOfNewSecret(ctx: SystemContext): Promise<string | null> {
  const key = await readNewestKey(ctx)
  if (key?.isOpened) return null
  const line = await newestLine(ctx).catch(() => null)
  const keyIds = keyIdsOf(ctx)
  if (line ? keyIds.includes(line.key) : !key) return null
  const { origin } = await readLedgerHead(ctx)
  return hashOf([origin, key?.kid, keyIds[0]].join('\n')).slice(0, 12)
}

async function newestLine(ctx: SystemContext): Promise<LedgerLine | null> {
  const { origin, batch_seq: batchSeq } = await readLedgerHead(ctx)
  const waiting = await ctx.sql(waitingBatches, { maxRows: 1_000 })
  const stored = () => (batchSeq > 0 ? ctx.ledger.get(batchName(origin, batchSeq)) : null)
  const lines = waiting.at(-1)?.lines ?? (await stored())
  const last = lines?.trimEnd().split('\n').at(-1)
  return last ? JSON.parse(last) : null
}
