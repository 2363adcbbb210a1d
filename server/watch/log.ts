import pino, { type DestinationStream, type Logger } from 'pino'
import { randomText } from '../adapters/random'
import { getEnv } from '../env'
import { processState } from '../process-state'
import { standardOutput } from './log-destination'

const { currentRequestId } = processState

/** One JSON line an event on standard output. Callers pass ids and codes, never addresses, names, codes or tokens. */
export function log(): Logger {
  processState.log ??= createLog(getEnv().logLevel)
  return processState.log
}

export function createLog(level: string, destination: DestinationStream = standardOutput(tellLost)): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, mixin: nameRequest }, destination)
}

const tellLost = (lines: number) => log().warn({ event: 'log_lines_lost', lines })

const nameRequest = () => {
  const requestId = currentRequestId.getStore()
  return requestId ? { requestId } : {}
}

/** What the caller calls the request, where that is harmless; else a new name. */
export function requestIdOf(given: string | string[] | null | undefined): string {
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : `req_${randomText(12)}`
}

/** Every line that the work writes carries the request's id, also what goes on after the answer. */
export const inRequest = <T>(requestId: string, work: () => T): T => currentRequestId.run(requestId, work)

/** For what a request only happens to come by, such as a connection that many share. */
export const outsideRequest = <T>(work: () => T): T => currentRequestId.exit(work)

/** What of an error may be logged: its kind and place. A message or a parameter could carry an address. */
export function describeError(error: unknown): { kind: string; code?: string; at?: string } {
  if (!(error instanceof Error)) return { kind: typeof error }
  if (error instanceof AggregateError && error.errors.length > 0) return describeError(error.errors[0])
  const code = 'code' in error ? String(error.code) : undefined
  // The stack begins with the message, whose lines may look like places.
  const at = error.stack
    ?.replace(error.message, '')
    .split('\n')
    .find((line) => line.startsWith('    at '))
    ?.trim()
  return { kind: error.name, code, at }
}
