import type { Clock } from '@/domain/ports'
import { type Sql, sql, statement, time } from '@/domain/sql'
import { onceDatabaseAnswers } from './database-away'

const READ_INTERVAL_MS = 15_000
/** With a slower answer it is too uncertain when the database read its clock, unless the answer in use was slower still. */
const MAX_ANSWER_MS = 200
/** A larger difference means that one of the two clocks is wrong, and nobody knows which. */
const MAX_SKEW_MS = 5 * 60_000

const readTime = statement('database-time', {}, { now: time }, () => sql`SELECT clock_timestamp() AS now`)

/**
 * The database's time, so that all instances agree on what has expired. Between two readings the process's monotonic clock is added,
 * so the host's wall clock has no influence. A large difference between the two is reported.
 */
export function createClock(
  sql: Sql,
  onSkew: (skewMs: number, isOff: boolean) => void = () => {},
): Clock & { isOff(): boolean; follow(): Promise<void>; stop(): void } {
  let isOff = false
  let origin = Date.now() - performance.now()
  /** The time that the answer behind `origin` took. */
  let usedMs = Number.POSITIVE_INFINITY
  async function readDatabaseTime() {
    const sentAt = performance.now()
    const [row] = await sql(readTime, {})
    const tookMs = performance.now() - sentAt
    if (!row || tookMs > Math.max(MAX_ANSWER_MS, usedMs)) return
    usedMs = tookMs
    origin = row.now.getTime() - sentAt - tookMs / 2
    const skewMs = row.now.getTime() - Date.now() + tookMs / 2
    const wasOff = isOff
    isOff = Math.abs(skewMs) > MAX_SKEW_MS
    if (isOff !== wasOff) onSkew(skewMs, isOff)
  }
  let timer: NodeJS.Timeout | undefined
  return {
    isOff: () => isOff,
    now: () => new Date(origin + performance.now()),
    async follow() {
      // While the database is away, the time is extrapolated from the last reading.
      timer ??= setInterval(() => readDatabaseTime().catch(() => {}), READ_INTERVAL_MS).unref()
      await onceDatabaseAnswers(readDatabaseTime)
      // The first answer may have waited for a connection.
      if (usedMs > MAX_ANSWER_MS) await onceDatabaseAnswers(readDatabaseTime)
    },
    stop: () => clearInterval(timer),
  }
}
