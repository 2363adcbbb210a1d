import { createInterface } from 'node:readline'
import { buffer } from 'node:stream/consumers'
import type { SystemContext } from '@/domain/context'
import { hasCluster } from '@/server/local/embedded-postgres'
import { openContext } from '@/server/open-context'
import { prepareDatabase } from '@/server/prepare-database'
import { processState } from '@/server/process-state'
import { getEnv, ownDataDir } from '@/server/settings/env'
import { createLog } from '@/server/watch/log'
import { type Answer, type Ask, type Call, type Command, findCommand, parseCall, UsageError } from './command.ts'
import { COMMANDS } from './commands.ts'
import { execute, jsonOfRefusal, refusalOf, sentenceOf, splitWords } from './execute.ts'
import { helpFor, whereHelpIs } from './help.ts'
import { linesOf, memberOf, showAnswer, wrapRefusal } from './show.ts'

/** Resolves once it is written, so that a full disk or a reader that has gone ends the command. */
const write = (text: string) =>
  new Promise<void>((resolve, reject) =>
    process.stdout.write(text, (error) => {
      if (!error) return resolve()
      // As other programs end whose reader has enough, such as `head`.
      if ('code' in error && error.code === 'EPIPE') return void end(141)
      reject(new Error(`Standard output cannot be written: ${error.message}.`))
    }),
  )
// Each write tells by itself.
process.stdout.on('error', () => {})

const print = (...values: object[]) => write(values.map((value) => `${JSON.stringify(value)}\n`).join(''))

async function readStandardInput(): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await buffer(process.stdin))
  } catch {
    throw new UsageError('Standard input is not UTF-8.')
  }
}

/** False where a line of many tells an error. */
async function printAnswer(answer: Answer, { json, wide, only, says }: Omit<Call, 'run'>): Promise<boolean> {
  if (!(Symbol.asyncIterator in answer)) {
    if (only !== undefined) await printMember(answer, only)
    else if (json) await print(answer)
    else {
      const said = says && !wide ? await says(answer) : answer
      const look = { now: new Date(), width: process.stdout.columns || 100, wide }
      await write(typeof said === 'string' ? `${linesOf(said, look.width).join('\n')}\n` : showAnswer(said, look))
    }
    return !('error' in answer)
  }
  let isAllGood = true
  for await (const values of answer) {
    await print(...values)
    if (values.some((value) => 'error' in value)) isAllGood = false
  }
  return isAllGood
}

/** Where there is no such member the whole answer is printed, because it may hold a secret that is shown once. */
async function printMember(answer: object, name: string) {
  const member = memberOf(answer, name)
  if (member !== undefined) return write(member)
  await print(answer)
  throw new Error(`The command was carried out, but its answer has no member ${name}: all of it is printed.`)
}

const runLine = async (ctx: SystemContext, line: string) => execute(ctx, splitWords(line), null)

async function runBatch(ctx: SystemContext): Promise<boolean> {
  let isAllGood = true
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === '') continue
    const answer = await runLine(ctx, line).catch(refusalOf)
    if ('error' in answer) isAllGood = false
    await print(answer)
  }
  return isAllGood
}

const ask: Ask = async (question) => {
  process.stderr.write(`${question} No command can undo this. [y/N] `)
  // A terminal gives a line at a time, and what follows may be a password that the command reads.
  const { value = '' } = await process.stdin.iterator({ destroyOnReturn: false }).next()
  if (!/^y(es)?$/i.test(String(value).trim())) throw new Error('Nothing was done.')
}

/**
 * Refuses a command on data that are not there, which would make an empty database in a directory that is named wrongly. What makes one
 * says so by the returned sentence.
 */
function checkData(command: Command | null, dataDir: string | undefined): string {
  if (dataDir === undefined || hasCluster(dataDir)) return ''
  const missing = `DATABASE_URL is not set, and there is no database in ${dataDir} (DATA_DIR).`
  if (command && !command.needsNoData)
    throw new Error(
      `${missing} The start of the service makes one there. Where it runs with another DATA_DIR, set the same here.`,
    )
  return `${missing} It is made now.\n`
}

async function main(args: string[]): Promise<boolean> {
  const help = helpFor(COMMANDS, args)
  if (help) {
    await write(help)
    return true
  }
  // Before the settings are read, which makes secrets in DATA_DIR.
  const making = checkData(args[0] === 'batch' ? null : findCommand(COMMANDS, args), ownDataDir(process.env))
  // Before the database is opened, so that a wrong command is refused at once.
  const call = args[0] === 'batch' ? null : parseCall(COMMANDS, args, { inBatch: false })
  if (!call && args.length > 1)
    throw new UsageError('batch takes nothing after it: its commands come from standard input.')
  process.stderr.write(making)
  const env = getEnv()
  // Standard output is for answers alone.
  processState.log = createLog(env.commandLogLevel, process.stderr)
  await prepareDatabase(env, closers)
  const ctx = await openContext()
  closers.push(() => ctx.close())
  if (!call) return runBatch(ctx)
  const canAsk = process.stdin.isTTY && process.stderr.isTTY
  return printAnswer(await call.run(ctx, readStandardInput, canAsk ? ask : undefined), {
    ...call,
    json: call.json || !(process.stdout.isTTY || call.wide),
  })
}

/** Called at the end, in reverse order. */
const closers: (() => Promise<unknown>)[] = []
let isEnding = false

const args = process.argv.slice(2)

const printError = (error: unknown, more = '') =>
  void process.stderr.write(
    `${args.includes('--json') ? jsonOfRefusal(error) : wrapRefusal(sentenceOf(error) + more, process.stderr)}\n`,
  )

async function end(code: number) {
  if (isEnding) return
  isEnding = true
  // What still runs beside it is found by the service, and its end is no fault.
  processState.isStopping = true
  for (let closer = closers.pop(); closer; closer = closers.pop()) await closer().catch(printError)
  process.exit(code)
}

// The embedded database is a process of its own, and would stay behind.
process.once('SIGINT', () => end(130))
process.once('SIGTERM', () => end(143))

main(args).then(
  (isAllGood) => end(isAllGood ? 0 : 1),
  (error) => {
    const isWrongForm = error instanceof UsageError
    // What a signal interrupts fails because its database is closed.
    if (!isEnding) printError(error, isWrongForm ? whereHelpIs(COMMANDS, args) : '')
    return end(isWrongForm ? 2 : 1)
  },
)
