import { describeError, log } from './log'

const WINDOW_MS = 10_000

type Level = 'debug' | 'info' | 'warn' | 'error'

/** Of what the SDK says only these texts are known to be the same for every call; the others could quote one. */
const EVENTS: Record<string, string> = {
  'Signature validation failed': 'engine_call_refused',
  'Failed to register': 'engine_sync_failed',
  "Couldn't unpack register response": 'engine_sync_failed',
  'Invalid register response schema': 'engine_sync_failed',
  'Inngest step error': 'engine_step_failed',
  'Inngest function error': 'engine_function_failed',
}

/** Repetitions of an event since its last line. */
const repeated = new Map<string, number>()

/**
 * The logger of the Inngest SDK, which hands it payloads, and an error with its stack for each unsigned call of anybody.
 * An event writes two lines in ten seconds at most: the first at once, then how often it came again.
 */
export const engineLog: Record<Level, (...said: unknown[]) => void> = {
  debug: (...said) => tell('debug', said),
  info: (...said) => tell('info', said),
  warn: (...said) => tell('warn', said),
  error: (...said) => tell('error', said),
}

function tell(said: Level, details: unknown[]) {
  const text = details.find((detail) => typeof detail === 'string') ?? ''
  const event = EVENTS[text] ?? 'engine_sdk'
  // Anybody can make an unsigned call.
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
