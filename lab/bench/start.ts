import path from 'node:path'
import { parseArgs } from 'node:util'
import { median, openDatabase, rssMib, seedUsers, startUntilAnswer, stopService, tokenOf } from './services.ts'

/**
 * `npm run lab -- bench-start [-- --rounds=10 --against=<a directory of another version, built>]`: how long a start takes until a status
 * read, and then a page, is answered, and the memory after it, beside the floor, in alternating starts.
 */
const { values: args } = parseArgs({
  options: { rounds: { type: 'string', default: '10' }, against: { type: 'string' } },
})
const PORT = '4470'
const ORIGIN = `http://127.0.0.1:${PORT}`

const { dataDir, db, url, close } = await openDatabase('start')
const env = { PORT, DATA_DIR: dataDir, DATABASE_URL: url }
const scripts = {
  service: path.resolve('scripts/start.mjs'),
  floor: path.join(import.meta.dirname, 'floor.ts'),
  ...(args.against && { before: path.resolve(args.against, 'scripts/start.mjs') }),
}

// The first start applies the migrations and fills the cache of compiled code.
for (const [name, script] of Object.entries(scripts)) {
  if (name === 'floor') continue
  const ready = { url: `${ORIGIN}/api/health/ready` }
  const { child } = await startUntilAnswer({ nodeArgs: [script], env, until: ready })
  await fetch(`${ORIGIN}/sign-in`)
  await stopService(child)
}
await seedUsers(db, 100)
await db.query('ANALYZE')

const status = {
  url: `${ORIGIN}/api/v1/users/usr_bench1/email/status`,
  headers: { Authorization: `Bearer ${tokenOf(1)}`, 'X-Required-Scope': 'email:manage' },
}
const rounds: Record<string, { status: number; page: number; memory: number }>[] = []
for (let round = 0; round < Number(args.rounds); round++) {
  const times: (typeof rounds)[number] = {}
  for (const [name, script] of Object.entries(scripts)) {
    const { child, startedAt, ms } = await startUntilAnswer({ nodeArgs: [script], env, until: status })
    if (name !== 'floor') await fetch(`${ORIGIN}/sign-in`).then((page) => page.text())
    times[name] = { status: ms, page: performance.now() - startedAt, memory: rssMib(child.pid) }
    await stopService(child)
  }
  rounds.push(times)
}
const table = Object.keys(scripts).map((name) => {
  const all = (key: 'status' | 'page' | 'memory') => rounds.map((times) => times[name]?.[key] ?? Number.NaN)
  const [first, page, memory] = [all('status'), all('page'), all('memory')]
  return {
    name,
    'first status, ms': Math.round(median(first)),
    from: Math.round(Math.min(...first)),
    to: Math.round(Math.max(...first)),
    'then a page, ms': name === 'floor' ? '' : Math.round(median(page)),
    'memory, MiB': median(memory),
  }
})
console.table(table)
await close()
