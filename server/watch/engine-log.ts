import { describeError, log } from './log'

const WINDOW_MS = 10_000

type Level = 'debug' | 'info' | 'warn' | 'error'

/** The texts of the SDK that are constant. Any other text could quote a payload, so it is not logged. */
const EVENTS: Record<string, string> = {
  'Signature validation failed': 'engine_call_refused',
  'Failed to register': 'engine_sync_failed',
  "Couldn't unpack register response": 'engine_sync_failed',
  'Invalid register response schema': 'engine_sync_failed',
  'Inngest step error': 'engine_step_failed',
  'Inngest function error': 'engine_function_failed',
}

/** How often each event was repeated since its last line. */
const repeated = new Map<string, number>()

/**
 * The logger of the Inngest SDK. The SDK hands it payloads, and an error with a stack for each unsigned call that anybody makes.
 * So an event writes at most two lines in ten seconds: the first at once, then the number of its repetitions.
 */
export const engineLog: Record<Level, (...said: unknown[]) => void> = {
  debug: (...said) => logLine('debug', said),
  info: (...said) => logLine('info', said),
  warn: (...said) => logLine('warn', said),
  error: (...said) => logLine('error', said),
}

function logLine(said: Level, details: unknown[]) {
  const text = details.find((detail) => typeof detail === 'string') ?? ''
  const event = EVENTS[text] ?? 'engine_sdk'
  // Anybody can make an unsigned call, so it is no error of ours.
  const level = event === 'engine_call_refused' ? 'warn' : said
  if (!log().isLevelEnabled(level)) return
  const known = `${level} ${event}`
  const count = repeated.get(known)
  if (count !== undefined) return void repeated.set(known, count + 1)
  repeated.set(known, 0)
  log()[level]({ event, ...kindOf(details) })
  setTimeout(() => {
    const more = repeated.get(known)
    repeated.delete(known)
    if (more) log()[level]({ event, repeated: more })
  }, WINDOW_MS).unref()
}

function kindOf(details: unknown[]) {
  const [first] = details
  const error = typeof first === 'object' && first !== null && 'err' in first ? first.err : first
  if (!(error instanceof Error)) return {}
  const { kind, code } = describeError(error)
  return { kind, code }
}
