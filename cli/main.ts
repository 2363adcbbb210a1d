import { createInterface } from 'node:readline'
import { buffer } from 'node:stream/consumers'
import type { SystemContext } from '@/domain/context'
import { startEmbeddedPostgres } from '@/server/local/embedded-postgres'
import { migrateDeploy } from '@/server/migrate'
import { openContext } from '@/server/open-context'
import { processState } from '@/server/process-state'
import { getEnv, setDatabaseUrl } from '@/server/settings/env'
import { createLog } from '@/server/watch/log'
import { type Answer, parseCall, UsageError } from './command.ts'
import { COMMANDS } from './commands.ts'
import { execute, sentenceOf, splitWords } from './execute.ts'
import { helpFor } from './help.ts'
import { showAnswer } from './show.ts'

const print = (...values: object[]) =>
  process.stdout.write(values.map((value) => `${JSON.stringify(value)}\n`).join(''))

async function readStandardInput(): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await buffer(process.stdin))
  } catch {
    throw new UsageError('Standard input is not UTF-8.')
  }
}

/** False where a line of many tells an error. */
async function printAnswer(answer: Answer, { json, wide }: { json: boolean; wide: boolean }): Promise<boolean> {
  if (!(Symbol.asyncIterator in answer)) {
    if (json) print(answer)
    else process.stdout.write(showAnswer(answer, { now: new Date(), width: process.stdout.columns || 100, wide }))
    return !('error' in answer)
  }
  let allGood = true
  for await (const values of answer) {
    print(...values)
    if (values.some((value) => 'error' in value)) allGood = false
  }
  return allGood
}

async function runBatch(ctx: SystemContext): Promise<boolean> {
  let allGood = true
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === '') continue
    try {
      print(await execute(ctx, splitWords(line), null))
    } catch (error) {
      allGood = false
      print({ error: sentenceOf(error) })
    }
  }
  return allGood
}

async function main(args: string[]): Promise<boolean> {
  const help = helpFor(COMMANDS, args)
  if (help) {
    process.stdout.write(help)
    return true
  }
  // Before the database is opened, so that a wrong command is refused at once.
  const call = args[0] === 'batch' ? null : parseCall(COMMANDS, args, { inBatch: false })
  const env = getEnv()
  // Standard output is for answers alone.
  processState.log = createLog(env.logLevel, process.stderr)
  const database = env.databaseUrl ? undefined : await startEmbeddedPostgres({ dataDir: env.dataDir })
  if (database) setDatabaseUrl(database.url)
  await migrateDeploy(getEnv().databaseUrl as string)
  const ctx = await openContext()
  try {
    if (!call) return await runBatch(ctx)
    return await printAnswer(await call.run(ctx, readStandardInput), {
      json: call.json || !process.stdout.isTTY,
      wide: call.wide,
    })
  } finally {
    await ctx.close()
    await database?.stop()
  }
}

main(process.argv.slice(2)).then(
  (allGood) => process.exit(allGood ? 0 : 1),
  (error) => {
    process.stderr.write(`${sentenceOf(error)}\n`)
    process.exit(1)
  },
)
