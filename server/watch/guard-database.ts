import { setTimeout as sleep } from 'node:timers/promises'
import type { SystemContext } from '@/domain/context'
import { type RowOf, type Sql, sql, statement, text } from '@/domain/sql'
import { acceptOldDatabase } from '@/domain/withdrawal/ledger/adopt-erasure-ledger'
import { compareInside, compareWithLedger } from '@/domain/withdrawal/ledger/compare-with-ledger'
import {
  type LedgerHead,
  lockLedger,
  readLedgerHead,
  requireKnownStore,
} from '@/domain/withdrawal/ledger/erasure-ledger'
import { replayGap } from '@/domain/withdrawal/replay-erasure-ledger'
import { openDatabase } from '../adapters/database'
import { isDatabaseAway } from '../adapters/database-away'
import { type DatabaseGuard, type HeldFor, processState } from '../process-state'
import type { Env } from '../settings/env'
import { describeError, log, outsideRequest } from './log'
import { metrics } from './metrics'

const HINTS: Record<HeldFor, string> = {
  ledger_ahead:
    'The database is older than its erasure ledger: a backup was restored, or a replica that lagged took over, and people who have left may be back in it. Run the command "ledger replay" first.',
  ledger_away: 'The erasure ledger cannot be read, and the database cannot prove that it has lost nothing.',
  ledger_missing:
    'The store of the erasure ledger lacks lines that this database has stored: it is another store, or the database is another one. Correct LEDGER_DIR, the bucket or DATABASE_URL.',
}

const TWO_DATABASES =
  'DATABASE_URL leads to more than one cluster: a connection to another one than was compared with the ledger was refused.'

/** How often the database is checked: its position is read, and one that cannot prove that it lost nothing is compared again. */
const CHECK_INTERVAL_MS = 5_000
/** The pause between two comparisons of a database that is held grows from the first value to the second. */
const MIN_PAUSE_MS = 250
const MAX_PAUSE_MS = 2_000

/** Its position in the log of a database that takes writes; a replica has none, because it may take over at any moment. */
const readIdentity = statement(
  'database-identity',
  {},
  { cluster: text, timeline: text.orNull, position: text.orNull },
  () => sql`SELECT (SELECT system_identifier FROM pg_control_system())::text AS cluster,
     CASE WHEN NOT pg_is_in_recovery() THEN substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END AS timeline,
     CASE WHEN NOT pg_is_in_recovery() THEN (pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::text END AS position`,
)
type Identity = RowOf<typeof readIdentity>

/** While the database is held, every statement fails with the code of a database that is starting. */
class DatabaseHeld extends Error {
  readonly code = '57P03'
  constructor() {
    super('the database is not served before it has caught up with its erasure ledger')
  }
}

type Settings = Pick<Env, 'databaseUrl' | 'acceptsOldDatabase' | 'maxReplayedLines'>

/** `first`: why the first comparison keeps the database held, null if it does not. `served` resolves when nothing does. */
interface Settling {
  first: Promise<HeldFor | null>
  served: Promise<void>
}

/**
 * Keeps calls from a database that has lost what it acknowledged: a replica that lagged and took over, or a backup that was restored
 * under a running service. A connection that is opened anew serves at once where the database itself proves that nothing was lost:
 * same cluster, same timeline, no earlier position. Otherwise the database is compared with the ledger first.
 */
export class LedgerGuard implements DatabaseGuard {
  readonly #settings: Settings
  #watched: SystemContext | undefined
  #proven: Identity | null = null
  #origin: string | undefined
  /** Whether a replay has found a problem that a person must mend. */
  #isForOperator = false
  #settling: Settling | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(settings: Settings) {
    this.#settings = settings
  }

  async admit(sql: Sql) {
    if (!this.#watched) return
    const { isProven, seen } = await this.#check(sql)
    if (isProven) return
    await this.#requireComparison(this.#watched)
    if (!seen || !this.#proven || isSame(seen, this.#proven)) return
    if (seen.cluster !== this.#proven.cluster) log().error({ event: 'two_databases', hint: TWO_DATABASES })
    // The next connection is checked again.
    throw new DatabaseHeld()
  }

  async watch(ctx: SystemContext) {
    this.#watched = ctx
    const { first, served } = this.#settle(ctx, true)
    this.#timer = setInterval(() => this.#checkAgain(ctx).catch(() => {}), CHECK_INTERVAL_MS).unref()
    return { served: (await first) ? served : null }
  }

  stop() {
    clearInterval(this.#timer)
  }

  /** Checks the database behind a connection against the state from before the query, because a newer state could wrongly be ahead. */
  async #check(sql: Sql): Promise<{ isProven: boolean; seen: Identity | null }> {
    const before = this.#proven
    const seen = await identityOf(sql)
    if (!seen?.position || !before?.position) return { isProven: false, seen }
    if (!isSame(seen, before) || BigInt(seen.position) < BigInt(before.position)) return { isProven: false, seen }
    if (this.#proven === before) this.#proven = seen
    return { isProven: true, seen }
  }

  async #checkAgain(ctx: SystemContext) {
    if (this.#settling) return
    const { isProven, seen } = await this.#check(ctx.sql)
    // If the role cannot read the identity, only new connections are checked.
    if ((seen && !isProven) || (await differsFromLedger(ctx))) await this.#requireComparison(ctx)
  }

  async #requireComparison(ctx: SystemContext) {
    const { first } = this.#settling ?? this.#settle(ctx)
    if (await first) throw new DatabaseHeld()
  }

  /** Settles the database by a few connections of its own, which nothing else uses. */
  #settle(ctx: SystemContext, isStart = false): Settling {
    const { databaseUrl } = this.#settings
    const own = openDatabase(databaseUrl as string, 3, { timeLimits: { idle_in_transaction_session_timeout: 0 } })
    const compare = () => this.#compare({ ...ctx, ...own }, isStart)
    const first = outsideRequest(compare)
    const served = outsideRequest(() => compareUntilServed(first, compare)).finally(async () => {
      this.#settling = undefined
      await own.close().catch(() => {})
    })
    served.catch(() => {})
    this.#settling = { first, served }
    return this.#settling
  }

  /** Holds the database, or releases it. */
  async #compare(ctx: SystemContext, isStart: boolean): Promise<HeldFor | null> {
    const seen = await identityOf(ctx.sql)
    const head = await readLedgerHead(ctx)
    const heldFor = await this.#heldFor(ctx, head, isStart)
    if (heldFor) {
      hold(heldFor)
      return heldFor
    }
    this.#origin = head.origin
    this.#proven = seen
    this.#isForOperator = false
    release(ctx)
    return null
  }

  async #heldFor(ctx: SystemContext, head: LedgerHead, isStart: boolean): Promise<HeldFor | null> {
    const { maxReplayedLines: maxLines, acceptsOldDatabase } = this.#settings
    const compared = await compareWithLedger(ctx, { head, maxLines }).catch((error) => {
      log().error({ event: 'ledger_not_read', ...describeError(error) })
      return null
    })
    if (!compared) return 'ledger_away'
    if (this.#origin !== undefined && this.#origin !== head.origin) return 'ledger_missing'
    if (compared.state === 'level') return null
    if (isStart && acceptsOldDatabase) {
      await acceptOldDatabase(ctx)
      log().warn({ event: 'old_database_accepted' })
      return null
    }
    if (compared.state !== 'behind') return 'ledger_missing'
    hold('ledger_ahead')
    if (compared.lines <= maxLines && !this.#isForOperator) {
      this.#isForOperator = !(await replay(ctx).catch(logFailedReplay))
    }
    return 'ledger_ahead'
  }
}

async function compareUntilServed(first: Settling['first'], compare: () => Settling['first']) {
  let heldFor = await first
  for (let tries = 1; heldFor; tries++) {
    await sleep(Math.min(MIN_PAUSE_MS * tries, MAX_PAUSE_MS), undefined, { ref: false })
    heldFor = await compare().catch((error) => {
      log().error({ event: 'database_not_compared', ...describeError(error) })
      return heldFor
    })
  }
}

/** Whether database and ledger differ now. A line of the old primary may reach the store only after the comparison, and a store can be unmounted. */
async function differsFromLedger(ctx: SystemContext): Promise<boolean> {
  await requireKnownStore(ctx).catch(() => {})
  if (!ctx.process.ledger.needsComparison) return false
  ctx.process.ledger.needsComparison = false
  // Under the lock, because a line that another instance writes meanwhile would look like one that was lost.
  const compared = ctx.transaction(async (tx) => compareInside(tx, { head: await lockLedger(tx) }))
  const { state } = await compared.catch((error) => {
    ctx.process.ledger.needsComparison = true
    throw error
  })
  return state !== 'level'
}

const isSame = (one: Identity, other: Identity): boolean =>
  one.cluster === other.cluster && one.timeline === other.timeline

/** Null if the role cannot read it. */
async function identityOf(sql: Sql): Promise<Identity | null> {
  try {
    const [identity] = await sql(readIdentity, {})
    return identity ?? null
  } catch (error) {
    if (isDatabaseAway(error)) throw error
    return null
  }
}

function hold(heldFor: HeldFor) {
  if (processState.heldFor === heldFor) return
  processState.heldFor = heldFor
  log().error({ event: 'not_ready', reason: heldFor, hint: HINTS[heldFor] })
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
