import pino, { type Logger } from 'pino'
import { getEnv } from './env'

const shared = globalThis as { __accountLog?: Logger }

/** One JSON line an event on standard output. Callers pass ids and codes, never addresses, names, codes or tokens. */
export function log(): Logger {
  shared.__accountLog ??= pino({ level: getEnv().logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime })
  return shared.__accountLog
}

/** What of an error may be logged: its kind and place. A message or a parameter could carry an address. */
export function describeError(error: unknown): { kind: string; code?: string; at?: string } {
  if (!(error instanceof Error)) return { kind: typeof error }
  const code = 'code' in error ? String(error.code) : undefined
  const at = error.stack
    ?.split('\n')
    .find((line) => line.startsWith('    at '))
    ?.trim()
  return { kind: error.name, code, at }
}
