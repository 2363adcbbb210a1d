import { setTimeout as sleep } from 'node:timers/promises'

const AWAY = /^(08|53|57P|57014|25006|25P03|40001|40P01|55P03)/
const AWAY_SYSTEM = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'P1001',
  'P1002',
  'P1008',
  'P1017',
  'P2024',
])
const AWAY_MESSAGE =
  /timeout exceeded when trying to connect|Connection terminated|connection error|Query read timeout|after calling end/

const TRIES = 5
const PAUSE_MS = 200

/** Retries while the database is away. Used at the start, when a busy machine may accept connections later than the connect timeout. */
export async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask()
    } catch (error) {
      if (tries === TRIES || !isDatabaseAway(error)) throw error
    }
    await sleep(PAUSE_MS)
  }
}

/** Whether an error means that the database is away or overloaded, and not that the statement is wrong. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof AggregateError && error.errors.some(isDatabaseAway)) return true
  const code = 'code' in error ? String(error.code) : ''
  return AWAY.test(code) || AWAY_SYSTEM.has(code) || AWAY_MESSAGE.test(error.message)
}
