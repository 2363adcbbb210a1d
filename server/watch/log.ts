import { randomBytes } from 'node:crypto'
import pino, { type DestinationStream, type Logger } from 'pino'
import { isDatabaseAway } from '../adapters/database-away'
import { processState } from '../process-state'
import { getEnv } from '../settings/env'
import { standardOutput } from './log-destination'

const { currentRequestId } = processState

/** Writes one JSON line for each event to standard output. Callers pass ids and error codes, never addresses, names, verification codes or tokens. */
export function log(): Logger {
  processState.log ??= createLog(getEnv().logLevel)
  return processState.log
}

export function createLog(level: string, destination: DestinationStream = standardOutput(logLostLines)): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (name) => ({ level: name }) },
      mixin: nameRequest,
    },
    destination,
  )
}

const logLostLines = (lines: number) => log().warn({ event: 'log_lines_lost', lines })

const nameRequest = () => {
  const requestId = currentRequestId.getStore()
  return requestId ? { requestId } : {}
}

/** The caller's request id when it is harmless text, else a new one. */
export function requestIdOf(given: string | string[] | null | undefined): string {
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given)
    ? given
    : `req_${randomBytes(12).toString('base64url')}`
}

/** Every line that `work` logs carries the request's id, also after the answer was sent. */
export const inRequest = <T>(requestId: string, work: () => T): T => currentRequestId.run(requestId, work)

/** Logs without a request's id: for events of something that requests share, such as a connection. */
export const outsideRequest = <T>(work: () => T): T => currentRequestId.exit(work)

/** The parts of an error that may be logged. Its message and parameters are left out because they could carry an address. */
export function describeError(error: unknown): { kind: string; code?: string; at?: string } {
  if (!(error instanceof Error)) return { kind: typeof error }
  if (error instanceof AggregateError && error.errors.length > 0) return describeError(error.errors[0])
  // A time-out of the database has no code.
  const code = 'code' in error ? String(error.code) : isDatabaseAway(error) ? 'database_away' : undefined
  // The stack begins with the message, whose lines may look like stack frames.
  const at = error.stack
    ?.replace(error.message, '')
    .split('\n')
    .find((line) => line.startsWith('    at '))
    ?.trim()
  return { kind: error.name, code, at }
}
