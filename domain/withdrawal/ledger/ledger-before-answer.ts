import { setTimeout as sleep } from 'node:timers/promises'
import { AppError, DELETION_STARTED } from '@/contract/errors'
import type { SystemContext } from '../../context'
import { type Bucket, requireRoom } from '../../limits/buckets'
import { coalesced } from '../../work/coalesce'
import { acceptanceOf } from '../receipts/receipts'
import { findStandingLine } from '../receipts/stored-lines'
import { compareWithLedger } from './compare-with-ledger'
import { putLedger, requireKnownStore, writeErasureLedger } from './erasure-ledger'

/** How long an answer waits for the store, before the withdrawal and after it. */
const MAX_WAIT_MS = 5_000
/** A store that has just taken an object is there, so that under load no call asks it. */
const RECENTLY_STORED_MS = 200
/** Until a step that holds the withdrawal lets it be written. */
const PAUSE_MS = 20
const LEDGER_PROBE = 'erasure-ledger/probe'
const PROBE_BYTES = 4_096

const AWAY = 'The erasure ledger cannot be written now. Nothing was changed; try again later.'

/** It writes a block, because a store that is full or lets nobody write can still be read. */
const probe = coalesced(
  'probe-ledger-store',
  (ctx) => {
    const time = ctx.clock.now().toISOString()
    return putLedger(ctx, LEDGER_PROBE, `${time.padEnd(PROBE_BYTES - 1)}\n`)
  },
  0,
)

/**
 * Refuses while the store takes no object, so that no withdrawal begins whose line could not be stored. A call that its limits refuse
 * anyway writes nothing, because a store with object lock keeps every probe.
 */
export async function requireLedgerStore(ctx: SystemContext, limits: Bucket[] = []): Promise<void> {
  const needsProbe = () => ctx.waitsForLedger && performance.now() - ctx.process.ledger.storedAt >= RECENTLY_STORED_MS
  if (!needsProbe()) return
  if (limits.length > 0) await requireRoom(ctx, limits)
  // Another call may have stored something meanwhile.
  if (!needsProbe()) return
  await withinTime(ctx, () => probe(ctx), AWAY)
}

/**
 * Fails while the store is away or another one, or takes nothing. Only a store that has refused an object is written to, because one with
 * object lock keeps every probe.
 */
export async function askLedgerStore(ctx: SystemContext): Promise<void> {
  if (ctx.process.ledger.isFailing) return probe(ctx)
  await requireKnownStore(ctx)
  await ctx.ledger.get(LEDGER_PROBE)
}

/**
 * Refuses a process that no guard watches, such as the operator command, where database and store are not level: it would write its line
 * beside the store.
 */
export async function requireLevelLedger(ctx: SystemContext): Promise<void> {
  if (!ctx.waitsForLedger) return
  const compare = async () => {
    const { state } = await compareWithLedger(ctx)
    if (state !== 'level')
      throw Object.assign(new Error(), { code: state === 'behind' ? 'ledger_ahead' : 'ledger_missing' })
  }
  await withinTime(ctx, compare, AWAY)
}

/** The acceptance of a withdrawal that has just begun, once its line is in the store; undefined where no answer waits for that. */
export const awaitAcceptance = async (ctx: SystemContext, withdrawalId: string): Promise<string | undefined> =>
  ctx.waitsForLedger ? untilAccepted(ctx, withdrawalId) : undefined

/**
 * For the mail that carries it; null if it cannot be made now. The first try waits for the line, also where no answer does. A later one
 * writes once, so that a store that is away does not hold up other mails.
 */
export async function acceptanceForMail(
  ctx: SystemContext,
  withdrawalId: string,
  attempts: number,
): Promise<string | null> {
  const acceptance =
    attempts === 1
      ? untilAccepted(ctx, withdrawalId)
      : withinTime(ctx, () => writeForAcceptance(ctx, withdrawalId), DELETION_STARTED)
  return (await acceptance.catch(() => undefined)) ?? null
}

/** The answer and the first mail come at the same time, and wait for one acceptance. */
function untilAccepted(ctx: SystemContext, withdrawalId: string): Promise<string | undefined> {
  const { acceptances } = ctx.process
  const waiting = acceptances.get(withdrawalId)
  if (waiting) return waiting
  const accepted = withinTime(
    ctx,
    async (isOver) => {
      while (!isOver.aborted) {
        const acceptance = await writeForAcceptance(ctx, withdrawalId)
        if (acceptance) return acceptance
        await sleep(PAUSE_MS)
      }
      return undefined
    },
    DELETION_STARTED,
  ).finally(() => acceptances.delete(withdrawalId))
  acceptances.set(withdrawalId, accepted)
  return accepted
}

async function writeForAcceptance(ctx: SystemContext, withdrawalId: string): Promise<string | undefined> {
  await writeErasureLedger(ctx)
  return standingAcceptance(ctx, withdrawalId)
}

/** For the repetition of an answer that was kept, without its acceptance, in the transaction of its withdrawal. */
export async function acceptanceOfRepetition(ctx: SystemContext, withdrawalId: string): Promise<string | undefined> {
  if (!ctx.waitsForLedger) return undefined
  return (await standingAcceptance(ctx, withdrawalId)) ?? awaitAcceptance(ctx, withdrawalId)
}

async function standingAcceptance(ctx: SystemContext, withdrawalId: string): Promise<string | undefined> {
  const standing = await findStandingLine(ctx, withdrawalId)
  return standing && acceptanceOf(ctx, standing)
}

/** Refuses with these details when the work fails or takes too long. */
async function withinTime<Result>(
  ctx: SystemContext,
  work: (isOver: AbortSignal) => Promise<Result>,
  details: string,
): Promise<Result> {
  const over = new AbortController()
  const tooLate = sleep(MAX_WAIT_MS, undefined, { signal: over.signal, ref: false }).then(() => {
    throw new Error('the store did not answer in time')
  })
  try {
    return await Promise.race([work(over.signal), tooLate])
  } catch (error) {
    const problem = error instanceof Error ? String('code' in error ? error.code : error.message) : String(error)
    ctx.warn('ledger_not_written', { problem })
    throw new AppError('SERVER_002', details, 5)
  } finally {
    over.abort()
  }
}
