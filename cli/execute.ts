import { AppError, ERRORS, type ErrorCode } from '@/contract/errors'
import type { SystemContext } from '@/domain/context'
import { NO_ACCOUNT } from '@/domain/lock-account'
import { countHeld } from '@/domain/withdrawal/blockers'
import { type Answer, parseCall, type ReadInput, UsageError } from './command.ts'
import { COMMANDS } from './commands.ts'
import { linesOfBlocker } from './refusal.ts'

/** Runs one command; what it answers is printed. Without `readInput` it is one of a batch. */
export async function execute(ctx: SystemContext, args: string[], readInput: ReadInput): Promise<Answer> {
  return parseCall(COMMANDS, args, { inBatch: readInput === null }).run(ctx, readInput)
}

/** Splits a line into words with the shell's quoting: single quotes, double quotes, backslash. */
export function splitWords(line: string): string[] {
  const words: string[] = []
  let word: string | undefined
  for (let at = 0; at < line.length; at++) {
    const char = line[at] as string
    if (char === "'") {
      const end = line.indexOf("'", at + 1)
      if (end < 0) throw new UsageError('A single quote is not closed.')
      word = (word ?? '') + line.slice(at + 1, end)
      at = end
    } else if (char === '"') {
      word ??= ''
      for (at++; line[at] !== '"'; at++) {
        if (at >= line.length) throw new UsageError('A double quote is not closed.')
        if (line[at] === '\\' && /["\\$`]/.test(line[at + 1] ?? '')) at++
        word += line[at]
      }
    } else if (char === '\\') {
      word = (word ?? '') + (line[++at] ?? '')
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + char
  }
  return word === undefined ? words : [...words, word]
}

/** What the sentence of a code says in the words of a command. A more exact sentence of a verb stands alone. */
const OWN_WORDS: Partial<Record<ErrorCode, string>> = {
  EMAIL_002: 'This address belongs to another account.',
  TASK_002: 'The task is completed or waived already.',
  USER_001: NO_ACCOUNT,
  WITHDRAWAL_002: 'The account is withdrawn already.',
  WITHDRAWAL_004: 'There is no withdrawal with this ID.',
}

/** By its code a program tells a refusal from another: wrong words are a wrong request, and what is away is the database. */
function codeOf(error: unknown): ErrorCode {
  if (error instanceof AppError) return error.code
  if (error instanceof UsageError) return 'REQUEST_001'
  return error instanceof Error && isDatabaseAway(error) ? 'SERVER_002' : 'SERVER_001'
}

/** A refusal as a line of a batch. */
export const refusalOf = (error: unknown) => ({ error: sentenceOf(error), code: codeOf(error) })

/** A refusal where JSON was asked for. */
export const jsonOfRefusal = (error: unknown) => JSON.stringify({ code: codeOf(error), message: sentenceOf(error) })

/** Which command shows the ids of what a sentence does not find by one. */
const SHOWN_BY: Record<string, string> = {
  'access token': 'give the whole ID that token list shows',
  application: 'app list shows the IDs',
  'deletion task': 'give the whole ID that task list shows',
  event: 'give the whole ID that event list shows',
  'receipt of a withdrawal': 'withdrawal list shows the IDs',
  'service token': 'give the whole ID that service-token list shows',
  session: 'give the whole ID that session list shows',
  transaction: 'give the whole ID that transaction list shows',
  withdrawal: 'withdrawal list shows the IDs',
}

/** Whoever gives no id, or a name in its place, learns where ids are. */
function withWhereIdsAre(sentence: string): string {
  const [, missing] = /^(\S+) \S+ takes exactly one ID(?: or name)?\./.exec(sentence) ?? []
  const shown = missing
    ? Object.values(SHOWN_BY).find((list) => list.includes(`${missing === 'receipt' ? 'withdrawal' : missing} list `))
    : SHOWN_BY[/^There is no (.+?) with this ID/.exec(sentence)?.[1] ?? '']
  return shown ? sentence.replace(missing ? '.' : /\.$/, `: ${shown}.`) : sentence
}

/** The words of the pool, whose connections are all taken or do not open. */
const isPoolBusy = ({ message }: Error) => message.includes('timeout exceeded when trying to connect')
const NO_CONNECTION_IN_TIME =
  'DATABASE_URL: no connection in time: the database is too busy, or does not answer. What was not done by then is not done: look, and give the command again.'

export function sentenceOf(error: unknown): string {
  if (error instanceof UsageError) return withWhereIdsAre(error.message)
  if (error instanceof AppError) {
    const { code, details, blockers = [] } = error
    // The lines below say by commands how each ends.
    if (blockers.length > 0)
      return [`Held back: ${countHeld(blockers)}.`, ...blockers.flatMap(linesOfBlocker)].join('\n')
    const ownWords = details === ERRORS[code].details && OWN_WORDS[code]
    return withWhereIdsAre(ownWords || details.replace(/^new_password /, 'The password '))
  }
  if (!(error instanceof Error)) return String(error)
  const first = firstOf(error)
  if (isPoolBusy(first)) return NO_CONNECTION_IN_TIME
  return isUnconnected(first) ? `DATABASE_URL: no connection: ${first.message}.` : error.message
}

/** The errors of several addresses have no message of their own. */
const firstOf = (error: Error): Error => (error instanceof AggregateError ? (error.errors[0] ?? error) : error)
const isUnconnected = (error: Error) => 'syscall' in error && error.syscall === 'connect'
const isDatabaseAway = (error: Error) => isPoolBusy(firstOf(error)) || isUnconnected(firstOf(error))
