import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { startEmbeddedPostgres } from '../server/local/embedded-postgres.ts'
import { rssMib } from './load.ts'
import { median, seedUsers, startService, startUntilAnswer, stopService, tokenOf } from './start-up.ts'

/**
 * `npm run bench:start [-- --rounds=10 --against=<a directory of another version, built>]`: how long a start takes until a status
 * read, and then a page, is answered, beside the floor and Next alone, in alternating starts.
 */
const { values: args } = parseArgs({
  options: { rounds: { type: 'string', default: '10' }, against: { type: 'string' } },
})
const PORT = 4470
const DATA_DIR = path.resolve('.data/bench-start')
const BENCH_DIR = import.meta.dirname

await rm(DATA_DIR, { recursive: true, force: true })
await mkdir(DATA_DIR, { recursive: true })
const postgres = await startEmbeddedPostgres({ dataDir: DATA_DIR })
const env = { PORT: String(PORT), DATA_DIR, DATABASE_URL: postgres.url }
const subjects: Record<string, string> = {
  'npm start': path.resolve('scripts/start.mjs'),
  'dist/server.mjs': path.resolve('dist/server.mjs'),
  floor: path.join(BENCH_DIR, 'floor.ts'),
  'Next alone': path.join(BENCH_DIR, 'next-alone.mjs'),
  ...(args.against && { before: path.resolve(args.against, 'scripts/start.mjs') }),
}

// The first start applies the migrations and fills the cache of compiled code.
for (const script of [subjects['npm start'], subjects.before]) {
  if (script) await stopService(await startService(script, env))
}
const db = new pg.Client({ connectionString: postgres.url })
await db.connect()
await seedUsers(db, 100)
await db.query('ANALYZE')
await db.end()

const status = {
  url: `http://127.0.0.1:${PORT}/api/v1/users/usr_bench1/email/status`,
  headers: { Authorization: `Bearer ${tokenOf(1)}`, 'X-Required-Scope': 'email:manage' },
}
const rounds: Record<string, { status: number; page: number; rssMib: number }>[] = []
for (let round = 0; round < Number(args.rounds); round++) {
  const times: (typeof rounds)[number] = {}
  for (const [name, script] of Object.entries(subjects)) {
    const { child, startedAt, ms } = await startUntilAnswer([script], env, status)
    const page = name === 'floor' ? null : await fetch(`http://127.0.0.1:${PORT}/sign-in`)
    await page?.text()
    times[name] = { status: ms, page: performance.now() - startedAt, rssMib: rssMib(child.pid as number) }
    await stopService(child)
  }
  rounds.push(times)
}
for (const name of Object.keys(subjects)) {
  const all = (key: 'status' | 'page' | 'rssMib') => rounds.map((times) => times[name]?.[key] ?? Number.NaN)
  const ratios = rounds.map((times) => (times[name]?.status ?? Number.NaN) / (times.floor?.status ?? Number.NaN))
  process.stdout.write(
    `${name}: first status ${Math.round(median(all('status')))} ms (${Math.round(Math.min(...all('status')))} to ${Math.round(Math.max(...all('status')))}), ` +
      `${median(ratios).toFixed(2)} of the floor; then a page at ${Math.round(median(all('page')))} ms; ${median(all('rssMib'))} MiB\n`,
  )
}
await postgres.stop()
