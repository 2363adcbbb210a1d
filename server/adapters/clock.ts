import type { Clock } from '@/domain/ports'
import { type Sql, sql, statement, time } from '@/domain/sql'
import { onceDatabaseAnswers } from './database-away'

const FOLLOW_MS = 15_000
/** With a slower answer it is too uncertain when the database read its clock. */
const MAX_ANSWER_MS = 200
/** Nobody sets a clock so wrong on purpose; which of the two is wrong nobody knows. */
const MAX_SKEW_MS = 5 * 60_000

const readTime = statement('database-time', {}, { now: time }, () => sql`SELECT clock_timestamp() AS now`)

/**
 * The database's time, so that all instances agree on what has expired. Between two readings the process's monotonic clock is added,
 * so the host's wall clock has no influence, but for the doubt that a large difference raises.
 */
export function createClock(
  sql: Sql,
  onSkew: (skewMs: number, isOff: boolean) => void = () => {},
): Clock & { isOff(): boolean; follow(): Promise<void>; stop(): void } {
  let isOff = false
  let origin = Date.now() - performance.now()
  let isKnown = false
  async function readDatabaseTime() {
    const asked = performance.now()
    const [row] = await sql(readTime, {})
    const answered = performance.now()
    if (!row || (isKnown && answered - asked > MAX_ANSWER_MS)) return
    origin = row.now.getTime() - (asked + answered) / 2
    isKnown = true
    const skewMs = row.now.getTime() - Date.now() + (answered - asked) / 2
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
      timer ??= setInterval(() => readDatabaseTime().catch(() => {}), FOLLOW_MS).unref()
      await onceDatabaseAnswers(readDatabaseTime)
    },
    stop: () => clearInterval(timer),
  }
}
