import { setTimeout as sleep } from 'node:timers/promises'
import { isDatabaseAway } from '../adapters/database-away'
import { processState } from '../process-state'
import { currentHealth } from './health'
import { describeError, log } from './log'

const LOOK_AGAIN_MS = 1_000

let isAwayLogged = false

/**
 * Logs work that failed and that nobody waits for. While the database is away all of it fails, again and again: then one line says that
 * it is away, and one that it is back.
 */
export async function logFailedWork(event: string, error: unknown, facts: { job?: string } = {}): Promise<void> {
  // An application or a store that refuses a connection fails with the same codes.
  const isAway = isDatabaseAway(error)
  if (isAway && isAwayLogged) return
  if (!isAway || !(await isGone())) return log().error({ event, ...facts, ...describeError(error) })
  if (isAwayLogged) return
  isAwayLogged = true
  log().error({ event: 'database_away', ...describeError(error) })
  while (await isGone()) await sleep(LOOK_AGAIN_MS, undefined, { ref: false })
  isAwayLogged = false
  log().warn({ event: 'database_back' })
}

const isGone = async () => !processState.isStopping && (await currentHealth()).parts.database === 'away'
