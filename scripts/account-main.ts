import { createInterface } from 'node:readline'
import type { SystemContext } from '@/domain/context'
import { getEnv, setDatabaseUrl } from '@/server/env'
import { startEmbeddedPostgres } from '@/server/local/embedded-postgres'
import { migrateDeploy } from '@/server/migrate'
import { openContext } from '@/server/open-context'
import { type Answer, execute, helpFor, readStandardInput, sentenceOf, splitWords } from './account.ts'

const print = (...values: object[]) =>
  process.stdout.write(values.map((value) => `${JSON.stringify(value)}\n`).join(''))

/** False where a line of many tells an error. */
async function printAnswer(answer: Answer): Promise<boolean> {
  if (!(Symbol.asyncIterator in answer)) {
    print(answer)
    return true
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
  const help = helpFor(args)
  if (help) {
    process.stdout.write(help)
    return true
  }
  const env = getEnv()
  const database = env.databaseUrl ? undefined : await startEmbeddedPostgres({ dataDir: env.dataDir })
  if (database) setDatabaseUrl(database.url)
  await migrateDeploy(getEnv().databaseUrl as string)
  const ctx = await openContext()
  try {
    if (args[0] === 'batch') return await runBatch(ctx)
    return await printAnswer(await execute(ctx, args, readStandardInput))
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
