import { setTimeout as sleep } from 'node:timers/promises'
import type { SystemContext } from '@/domain/context'
import { boolean, integer, type Sql, sql, statement, text } from '@/domain/sql'
import { acceptOldDatabase, nameOfGap } from '@/domain/withdrawal/ledger/adopt-erasure-ledger'
import { compareWithLedger } from '@/domain/withdrawal/ledger/compare-with-ledger'
import { requireKnownStore } from '@/domain/withdrawal/ledger/erasure-ledger'
import { noteSeen } from '@/domain/withdrawal/receipts/stored-lines'
import { replayGap } from '@/domain/withdrawal/replay-erasure-ledger'
import { openDatabase } from '../adapters/database'
import { type DatabaseGuard, type HeldFor, processState } from '../process-state'
import type { Env } from '../settings/env'
import { describeError, log, outsideRequest } from './log'
import { metrics } from './metrics'

const HINTS: Record<HeldFor, string> = {
  ledger_ahead:
    'The database is older than its erasure ledger: a backup was restored, or a replica that lagged took over, and people who have left may be back in it. Run the command "ledger replay" first.',
  ledger_away: 'The erasure ledger cannot be read, and only it shows whether the database has lost withdrawals.',
  ledger_missing:
    'The store of the erasure ledger lacks lines that this database has stored, or both lack lines that were stored: it is another store, or the database is another one. Correct LEDGER_DIR, the bucket or DATABASE_URL.',
}

const TWO_DATABASES =
  'A connection led to another server than the one that was just compared with the ledger, and was refused. If this is told again and again, DATABASE_URL leads to more than one.'

/** How often the database behind the connections that are open is checked: it may be switched without cutting one. */
const CHECK_INTERVAL_MS = 5_000
/** The pause between two comparisons of a database that is held grows from the first value to the second. */
const MIN_PAUSE_MS = 250
const MAX_PAUSE_MS = 2_000

/** The server, the newest line of its chain, and whether that chain has a line. */
const readChain = statement(
  'newest-line-of-server',
  { origin: text, seq: integer, hash: text },
  {
    /** Differs from server to server, and after a restart. */
    server: text,
    /** A replica may take over at any moment. */
    is_replica: boolean,
    origin: text,
    seq: integer,
    hash: text,
    is_stored: boolean,
    has_line: boolean,
  },
  (v) => sql`SELECT pg_postmaster_start_time()::text AS server, pg_is_in_recovery() AS is_replica, h.origin, h.seq,
     h.hash, NOT EXISTS (SELECT FROM erasure_ledger_batches) AS is_stored,
     h.origin = ${v.origin} AND (h.seq = ${v.seq} AND h.hash = ${v.hash} OR h.seq > ${v.seq} AND EXISTS (
       SELECT FROM withdrawals w WHERE w.ledger_seq = ${v.seq} AND w.ledger_hash = ${v.hash})) AS has_line
   FROM erasure_ledger h`,
)
const NO_LINE = { origin: '', seq: 0, hash: '' }

/** While the database is held, every statement fails with the code of a database that is starting. */
class DatabaseHeld extends Error {
  readonly code = '57P03'
  constructor() {
    super('the database is not served before it has caught up with its erasure ledger')
  }
}

type Settings = Pick<Env, 'databaseUrl' | 'acceptedDatabase' | 'maxReplayedLines'>

/** `first`: why the first comparison keeps the database held, null if it does not. `served` resolves when nothing does. */
interface Settling {
  first: Promise<HeldFor | null>
  served: Promise<void>
}

/**
 * Keeps calls from a database that has lost what it acknowledged: a replica that lagged and took over, or a backup that was restored
 * under a running service. Only the content of its chain proves that it is none: whatever a backup keeps, it keeps after a restore. A
 * connection that is opened anew serves at once if its server was compared with the ledger since a connection was lost, and has the
 * newest line that this process has seen stored. Otherwise the database is compared first.
 */
export class LedgerGuard implements DatabaseGuard {
  readonly #settings: Settings
  #watched: SystemContext | undefined
  /** The server that was compared last; null since a connection was lost. */
  #compared: string | null = null
  #losses = 0
  /** Whether a replay has found a problem that a person must mend. */
  #isForOperator = false
  #settling: Settling | undefined
  #timer: NodeJS.Timeout | undefined
  readonly #end = new AbortController()

  constructor(settings: Settings) {
    this.#settings = settings
  }

  async admit(sql: Sql) {
    if (!this.#watched) return
    const { server, isProven } = await this.#look(this.#watched, sql)
    if (isProven) return
    await this.#requireComparison(this.#watched)
    if (server === this.#compared) return
    if (this.#compared !== null) log().error({ event: 'two_databases', hint: TWO_DATABASES })
    // The next connection is checked again.
    throw new DatabaseHeld()
  }

  noteLoss() {
    this.#losses++
    this.#compared = null
  }

  async watch(ctx: SystemContext) {
    this.#watched = ctx
    const { first, served } = this.#settle(ctx)
    this.#timer = setInterval(() => this.#checkAgain(ctx).catch(() => {}), CHECK_INTERVAL_MS).unref()
    return { served: (await first) ? served : null }
  }

  async stop() {
    clearInterval(this.#timer)
    this.#end.abort()
    await this.#settling?.served.catch(() => {})
  }

  /** Asks for the line that was seen before the question, because a newer one could wrongly be missing. */
  async #look(ctx: SystemContext, sql: Sql): Promise<{ server: string; isProven: boolean }> {
    const [found] = await sql(readChain, ctx.process.ledger.seen ?? NO_LINE)
    if (!found) throw new DatabaseHeld()
    const { server, is_replica: isReplica, has_line: hasLine, is_stored: isStored, origin, seq, hash } = found
    const isProven = hasLine && !isReplica && server === this.#compared
    // Other instances write lines too.
    if (isProven && isStored) noteSeen(ctx, { origin, seq, hash })
    return { server, isProven }
  }

  async #checkAgain(ctx: SystemContext) {
    if (this.#settling) return
    const { isProven } = await this.#look(ctx, ctx.sql)
    if (!isProven || (await differsFromLedger(ctx))) await this.#requireComparison(ctx)
  }

  async #requireComparison(ctx: SystemContext) {
    const { first } = this.#settling ?? this.#settle(ctx)
    if (await first) throw new DatabaseHeld()
  }

  /** Settles the database by a few connections of its own, which nothing else uses. */
  #settle(ctx: SystemContext): Settling {
    const { databaseUrl } = this.#settings
    const own = openDatabase(databaseUrl as string, 3, { timeLimits: { idle_in_transaction_session_timeout: 0 } })
    const compare = () => this.#compare({ ...ctx, ...own })
    const first = outsideRequest(compare)
    const served = outsideRequest(() => compareUntilServed(first, compare, this.#end.signal)).finally(async () => {
      this.#settling = undefined
      await own.close().catch(() => {})
    })
    served.catch(() => {})
    this.#settling = { first, served }
    return this.#settling
  }

  /** Holds the database, or releases it. */
  async #compare(ctx: SystemContext): Promise<HeldFor | null> {
    const losses = this.#losses
    const { server } = await this.#look(ctx, ctx.sql)
    const heldFor = await this.#heldFor(ctx)
    if (heldFor) return heldFor
    if (losses === this.#losses) this.#compared = server
    this.#isForOperator = false
    release(ctx)
    return null
  }

  async #heldFor(ctx: SystemContext): Promise<HeldFor | null> {
    const { maxReplayedLines: maxLines, acceptedDatabase } = this.#settings
    try {
      const compared = await compareWithLedger(ctx, { maxLines })
      if (compared.state === 'level') return null
      // A running process never accepts that; one that starts has seen nothing.
      if (compared.state === 'strange') return hold('ledger_missing')
      const name = await nameOfGap(ctx)
      if (name === acceptedDatabase) {
        await acceptOldDatabase(ctx)
        log().warn({ event: 'old_database_accepted' })
        return null
      }
      const isBehind = compared.state === 'behind'
      const accepting = ` To serve the database as it is, set ACCEPT_OLD_DATABASE=${name}`
      const heldFor = hold(isBehind ? 'ledger_ahead' : 'ledger_missing', accepting)
      if (isBehind && compared.lines <= maxLines && !this.#isForOperator) {
        this.#isForOperator = !(await replay(ctx).catch(logFailedReplay))
      }
      return heldFor
    } catch (error) {
      log().error({ event: 'ledger_not_read', ...describeError(error) })
      return hold('ledger_away')
    }
  }
}

async function compareUntilServed(first: Settling['first'], compare: () => Settling['first'], signal: AbortSignal) {
  let heldFor = await first
  for (let tries = 1; heldFor; tries++) {
    await sleep(Math.min(MIN_PAUSE_MS * tries, MAX_PAUSE_MS), undefined, { ref: false, signal })
    heldFor = await compare().catch((error) => {
      log().error({ event: 'database_not_compared', ...describeError(error) })
      return heldFor
    })
  }
}

/** Whether database and ledger differ now. A line of the old primary may reach the store only after the comparison, and a store can be unmounted. */
async function differsFromLedger(ctx: SystemContext): Promise<boolean> {
  const { ledger } = ctx.process
  await requireKnownStore(ctx).catch(() => {})
  if (!ledger.needsComparison) return false
  ledger.needsComparison = false
  const { state } = await compareWithLedger(ctx).catch((error) => {
    ledger.needsComparison = true
    throw error
  })
  return state !== 'level'
}

let loggedHint: string | undefined

function hold(heldFor: HeldFor, more = ''): HeldFor {
  const hint = HINTS[heldFor] + more
  if (processState.heldFor === heldFor && loggedHint === hint) return heldFor
  processState.heldFor = heldFor
  loggedHint = hint
  log().error({ event: 'not_ready', reason: heldFor, hint })
  return heldFor
}

function release(ctx: SystemContext) {
  // The database may have lost the newest key.
  ctx.process.signing.readAt = Number.NEGATIVE_INFINITY
  if (!processState.heldFor) return
  log().warn({ event: 'served_again', after: processState.heldFor })
  processState.heldFor = undefined
}

/** Returns true, so that the replay is tried again: the database may be a replica, which takes writes once it has taken over. */
function logFailedReplay(error: unknown): boolean {
  log().error({ event: 'ledger_not_replayed', ...describeError(error) })
  return true
}

/** False if a person must mend the ledger first. */
async function replay(ctx: SystemContext): Promise<boolean> {
  const report = await replayGap(ctx)
  if (!report) return true
  const { lines, replayed, error } = report
  if (error) {
    log().error({ event: 'ledger_not_replayed', lines, replayed, error })
    return false
  }
  metrics().replayed.inc(replayed)
  log().error({ event: 'database_had_lost_withdrawals', lines, replayed })
  return true
}
