import type { SystemContext } from '../../context'
import { BACKUP_MARGIN_MS } from '../../limits/durations'
import { hashOf } from '../receipts/signing-keys'
import { beginningName, folderOf, type LedgerLine, readLedgerHead } from './erasure-ledger'

/**
 * Drops the lines of withdrawals that every backup since `before` holds itself, so that no restore needs them. The newest batch
 * stays, because the chain continues after it.
 */
export async function trimErasureLedger(ctx: SystemContext, before: Date): Promise<{ dropped: number }> {
  const { origin } = await readLedgerHead(ctx)
  const end = before.getTime() - BACKUP_MARGIN_MS
  let dropped = 0
  let last: { name: string; lines: LedgerLine[]; hash: string } | undefined
  for await (const name of ctx.ledger.list(folderOf(origin))) {
    // One batch behind, so that the last one is never dropped.
    if (last) {
      await drop(ctx, origin, last)
      dropped += last.lines.length
    }
    const texts = ((await ctx.ledger.get(name)) ?? '').split('\n').filter(Boolean)
    const lines = texts.map((text) => JSON.parse(text) as LedgerLine)
    if (lines.some(({ startedAt }) => Date.parse(startedAt) >= end)) break
    last = { name, lines, hash: hashOf(texts.at(-1) ?? '') }
  }
  return { dropped }
}

/** The new beginning is written first, so that the next run drops what a killed run left before it. */
async function drop(ctx: SystemContext, origin: string, of: { name: string; lines: LedgerLine[]; hash: string }) {
  const seq = of.lines.at(-1)?.seq ?? 0
  await ctx.ledger.put(beginningName(origin), JSON.stringify({ seq, hash: of.hash }))
  await ctx.ledger.delete(of.name)
}
