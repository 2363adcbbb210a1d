import { stripVTControlCharacters } from 'node:util'
import { describeError, log } from './log'

const LEVELS = { debug: 'debug', trace: 'debug', log: 'debug', info: 'debug', warn: 'warn', error: 'error' } as const
const MAX_TEXT = 200

/** Turns the output of packages and the warnings of Node into lines of the log, so that the log is nothing but JSON. */
export function captureForeignLines(): void {
  for (const [method, level] of Object.entries(LEVELS)) {
    console[method as keyof typeof LEVELS] = (...said: unknown[]) =>
      log()[level]({ event: 'console', ...factsOf(said) })
  }
  // Node's own listener prints several lines.
  process.removeAllListeners('warning')
  process.on('warning', (warning) => log().warn({ event: 'node_warning', ...factsOf([warning.message, warning]) }))
}

function factsOf(said: unknown[]) {
  const text = said.filter((each) => typeof each === 'string').join(' ')
  const error = said.find((each) => each instanceof Error)
  return { ...(text && { text: harmless(text) }), ...(error && describeError(error)) }
}

/** The first line without what may be an address, a code or a token, because nobody knows what a package prints. */
const harmless = (text: string): string =>
  (stripVTControlCharacters(text).trim().split('\n', 1)[0] ?? '')
    .replaceAll(/\S*@\S*|[\w-]{20,}|\d{6,}/g, '…')
    .slice(0, MAX_TEXT)
