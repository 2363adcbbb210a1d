import { setTimeout as sleep } from 'node:timers/promises'
import type { SystemContext } from '@/domain/context'
import { acceptOldDatabase } from '@/domain/withdrawal/ledger/adopt-erasure-ledger'
import { isLedgerAhead } from '@/domain/withdrawal/ledger/is-ledger-ahead'
import { processState } from '../process-state'
import type { Env } from '../settings/env'
import { describeError, log } from './log'

const PAUSE_MS = 2_000

export const OLD_DATABASE =
  'The database is older than its erasure ledger: a backup was restored, and people who have left may be back in it. Run "npm run -s account -- ledger replay" first.'

/**
 * Whether the service may not open on its database yet. It waits for a ledger that cannot be read, because the ledger may hold
 * anything.
 */
export async function holdBackOldDatabase(
  ctx: SystemContext,
  { acceptsOldDatabase: isAccepted }: Pick<Env, 'acceptsOldDatabase'>,
): Promise<boolean> {
  processState.isLedgerAhead = await asksForReplay(ctx)
  if (!processState.isLedgerAhead || !isAccepted) return processState.isLedgerAhead
  await acceptOldDatabase(ctx)
  log().warn({ event: 'old_database_accepted' })
  processState.isLedgerAhead = false
  return false
}

/** Returns when a replay, which another process runs, has brought the database up to its ledger. */
export async function untilReplayed(ctx: SystemContext): Promise<void> {
  while (await asksForReplay(ctx)) await sleep(PAUSE_MS, undefined, { ref: false })
  processState.isLedgerAhead = false
}

const asksForReplay = (ctx: SystemContext): Promise<boolean> =>
  isLedgerAhead(ctx).catch((error) => {
    log().error({ event: 'ledger_not_read', ...describeError(error) })
    return true
  })
