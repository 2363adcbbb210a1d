import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { startEmbeddedPostgres } from '../../server/local/embedded-postgres.ts'

/** An empty database server below `.data/bench-<name>`. */
export async function openDatabase(name: string) {
  const dataDir = path.resolve(`.data/bench-${name}`)
  await rm(dataDir, { recursive: true, force: true })
  await mkdir(dataDir, { recursive: true })
  const postgres = await startEmbeddedPostgres({ dataDir })
  const db = new pg.Client({ connectionString: postgres.url })
  await db.connect()
  const close = async () => {
    await db.end()
    await postgres.stop()
  }
  return { dataDir, db, url: postgres.url, close }
}

interface Start {
  nodeArgs: string[]
  env: Record<string, string>
  /** The service has started when this is answered with 200. */
  until: { url: string; headers?: Record<string, string> }
}

/** Starts Node with these arguments; `ms` is the time until the first answer. */
export async function startUntilAnswer({ nodeArgs, env, until: { url, headers = {} } }: Start) {
  const startedAt = performance.now()
  const child = spawn(process.execPath, nodeArgs, {
    env: { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1', ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  for (;;) {
    const status = await fetch(url, { headers }).then(
      (response) => response.arrayBuffer().then(() => response.status),
      () => 0,
    )
    const ms = performance.now() - startedAt
    if (status === 200) return { child, startedAt, ms }
    if (child.exitCode !== null || ms > 60_000) {
      await stopService(child)
      throw new Error(`${url} answers ${status} after ${Math.round(ms)} ms`)
    }
    await sleep(4)
  }
}

export async function stopService(child: ChildProcess) {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await new Promise((resolve) => child.once('exit', resolve))
}

/** The access token of the n-th seeded user. */
export const tokenOf = (n: number) => `uat_${String(n).padStart(43, 'a')}`

/** So many users from `usr_bench<first>` on, each with an access token that was used just now. */
export async function seedUsers(db: pg.Client, count: number, passwordHash = 'none', first = 1) {
  const range = [first, first + count - 1]
  await db.query(
    `INSERT INTO users (id, name, email, email_key, email_verified_at, password_hash, created_at)
     SELECT 'usr_bench' || n, 'Bench', 'u' || n || '@example.test', 'u' || n || '@example.test', now(), $3, now()
     FROM generate_series($1::int, $2::int) n`,
    [...range, passwordHash],
  )
  await db.query(
    `INSERT INTO access_tokens (id, user_id, name, token_hash, scopes, created_at, expires_at, last_used_at)
     SELECT 'tok_bench' || n, 'usr_bench' || n, 'bench', sha256(convert_to('uat_' || lpad(n::text, 43, 'a'), 'UTF8')),
            ARRAY['email:manage', 'account:manage'], now(), now() + interval '1 day', now() + interval '1 hour'
     FROM generate_series($1::int, $2::int) n`,
    range,
  )
}

export const rssMib = (pid: number | undefined): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024)

export const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
