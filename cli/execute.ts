import { AppError, ERRORS, type ErrorCode } from '@/contract/errors'
import type { SystemContext } from '@/domain/context'
import { NO_ACCOUNT } from '@/domain/lock-account'
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
  WITHDRAWAL_004: 'There is no withdrawal with this id.',
}

/** A refusal as a line of a batch: by its code a program tells one from another. */
export const refusalOf = (error: unknown) => ({
  error: sentenceOf(error),
  ...(error instanceof AppError && { code: error.code }),
})

/** Which command shows the ids of what a sentence does not find by one. */
const SHOWN_BY: Record<string, string> = {
  'access token': 'give the whole id that token list shows',
  application: 'app list shows the ids',
  'deletion task': 'give the whole id that task list shows',
  event: 'give the whole id that event list shows',
  'receipt of a withdrawal': 'withdrawal list shows the ids',
  'service token': 'give the whole id that service-token list shows',
  session: 'give the whole id that session list shows',
  transaction: 'give the whole id that transaction list shows',
  withdrawal: 'withdrawal list shows the ids',
}

/** Whoever gives no id, or a name in its place, learns where ids are. */
function withWhereIdsAre(sentence: string): string {
  const [, missing] = /^(\S+) \S+ takes exactly one id(?: or name)?\./.exec(sentence) ?? []
  const shown = missing
    ? Object.values(SHOWN_BY).find((list) => list.includes(`${missing === 'receipt' ? 'withdrawal' : missing} list `))
    : SHOWN_BY[/^There is no (.+?) with this id/.exec(sentence)?.[1] ?? '']
  return shown ? sentence.replace(missing ? '.' : /\.$/, `: ${shown}.`) : sentence
}

/** What people and services read; the lines below it say it by commands. */
const SETTLE_FIRST = / Settle or cancel (it|them) first\./

/** The words of the pool, whose connections are all taken or do not open. */
const isPoolBusy = ({ message }: Error) => message.includes('timeout exceeded when trying to connect')
const NO_CONNECTION_IN_TIME =
  'DATABASE_URL: no connection in time: the database is too busy, or does not answer. What was not done by then is not done: look, and give the command again.'

export function sentenceOf(error: unknown): string {
  if (error instanceof UsageError) return withWhereIdsAre(error.message)
  if (error instanceof AppError) {
    const { code, details, blockers = [] } = error
    const ownWords = details === ERRORS[code].details && OWN_WORDS[code]
    const sentence = withWhereIdsAre(ownWords || details.replace(/^new_password /, 'The password '))
    return [
      blockers.length > 0 ? `Held back: ${sentence.replace(SETTLE_FIRST, '')}` : sentence,
      ...blockers.flatMap(linesOfBlocker),
    ].join('\n')
  }
  if (!(error instanceof Error)) return String(error)
  // The errors of several addresses have no message of their own.
  const [first = error] = error instanceof AggregateError ? error.errors : []
  if (isPoolBusy(first)) return NO_CONNECTION_IN_TIME
  return first.syscall === 'connect' ? `DATABASE_URL: no connection: ${first.message}.` : error.message
}
