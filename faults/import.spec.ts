import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { until } from '@/testing/until'
import { givenWorld, holdLock, isBlocked, KEYS, type World } from '@/testing/world'

const LINES = 3_500
/** This line is in the second batch of a thousand. */
const HELD = 'customer-1700'

async function givenFile(world: World): Promise<string> {
  const file = path.join(world.dataDir, 'users.ndjson')
  const lines = Array.from({ length: LINES }, (_, n) => {
    const address = `person.${n}@example.test`
    return JSON.stringify({ external_id: `customer-${n}`, email: address, name: `Person ${n}` })
  })
  await writeFile(file, lines.join('\n'))
  return file
}

/** An import in a process of its own; `results` counts what it has printed. */
function startImport(world: World, file: string) {
  const child = spawn(process.execPath, ['dist/account.mjs', 'user', 'import', '--file', file], {
    env: { ...process.env, ...KEYS, DATA_DIR: world.dataDir, DATABASE_URL: world.databaseUrl },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const results: Record<string, number> = {}
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => {
    const { result } = JSON.parse(line)
    results[result] = (results[result] ?? 0) + 1
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return {
    results,
    ended,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

async function countAccounts(world: World) {
  const [counts] = await world.query<{ accounts: number; ids: number; audited: number }>(
    `SELECT count(*)::int AS accounts, count(DISTINCT external_id)::int AS ids,
            (SELECT count(*)::int FROM audit_events WHERE action = 'user.imported') AS audited
     FROM users WHERE external_id LIKE 'customer-%'`,
  )
  return counts
}

const untilItsConnectionsEnd = (world: World) =>
  until('the server has ended the connections of the import', async () => {
    const others = await world.query(
      `SELECT FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%users%' AND state <> 'idle'`,
    )
    return others.length === 0
  })

test('an import that is killed inside a batch and run again makes every account once', async (context) => {
  const world = await givenWorld(context)
  const file = await givenFile(world)
  const release = await holdLock(
    world,
    `INSERT INTO users (id, external_id, name, email, email_key, created_at) VALUES ('usr_held', $1, 'Held', 'held@example.test', 'held@example.test', now())`,
    [HELD],
  )
  const first = startImport(world, file)
  await until('the second batch waits', () => isBlocked(world, 'INSERT INTO users'))
  await first.kill()
  await release()
  await untilItsConnectionsEnd(world)
  expect(await countAccounts(world)).toEqual({ accounts: 1000, ids: 1000, audited: 1000 })

  const second = startImport(world, file)
  await until('the second run makes accounts', () => second.results.created)
  await second.kill()
  await untilItsConnectionsEnd(world)
  const left = await countAccounts(world)
  expect(left).toMatchObject({ ids: left?.accounts, audited: left?.accounts })

  const third = startImport(world, file)
  expect(await third.ended).toBe(0)
  expect((third.results.created ?? 0) + (third.results.unchanged ?? 0)).toBe(LINES)
  expect(third.results.unchanged).toBe(left?.accounts)
  expect(await countAccounts(world)).toEqual({ accounts: LINES, ids: LINES, audited: LINES })
})
