import { type ChildProcess, spawn } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'

/** What the measurements have in common: starting a service, filling its database, counting its statements. */

/** Starts a script of this directory tree under this Node; resolves when it has written `Ready`. */
export async function startService(script: string, env: Record<string, string>, nodeArgs: string[] = []) {
  const child = spawn(process.execPath, [...nodeArgs, script], {
    env: { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk) => String(chunk).includes('Ready') && resolve())
    child.once('exit', (code) => reject(new Error(`${script} ended with ${code} before it was ready`)))
  })
  return child
}

/** Starts Node with these arguments and asks until it is 200; `ms` since the start. */
export async function startUntilAnswer(
  nodeArgs: string[],
  env: Record<string, string>,
  { url, headers }: { url: string; headers: Record<string, string> },
) {
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
    if (status === 200) return { child, startedAt, ms: performance.now() - startedAt }
    if (child.exitCode !== null || performance.now() - startedAt > 30_000) throw new Error(`${url} answers ${status}`)
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
  const last = first + count - 1
  await db.query(
    `INSERT INTO users (id, name, email, email_key, email_verified_at, password_hash, created_at)
     SELECT 'usr_bench' || n, 'Bench', 'u' || n || '@example.test', 'u' || n || '@example.test', now(), $3, now()
     FROM generate_series($1::int, $2::int) n`,
    [first, last, passwordHash],
  )
  await db.query(
    `INSERT INTO access_tokens (id, user_id, name, token_hash, scopes, created_at, expires_at, last_used_at)
     SELECT 'tok_bench' || n, 'usr_bench' || n, 'bench', sha256(convert_to('uat_' || lpad(n::text, 43, 'a'), 'UTF8')),
            ARRAY['email:manage', 'account:manage'], now(), now() + interval '1 day', now() + interval '1 hour'
     FROM generate_series($1::int, $2::int) n`,
    [first, last],
  )
}

/** How often PostgreSQL itself, in its log, says that it ran each statement meanwhile. */
export async function countStatements(db: pg.Client, logFile: string, work: () => Promise<void>) {
  const logStatements = async (which: 'all' | 'none') => {
    await db.query(`ALTER SYSTEM SET log_statement = '${which}'`)
    await db.query('SELECT pg_reload_conf()')
    await sleep(200)
  }
  const { size } = await stat(logFile)
  await logStatements('all')
  await work()
  await logStatements('none')
  const log = (await readFile(logFile)).subarray(size).toString()
  const names = [...log.matchAll(/(?:execute ([^:\s]+)|statement): *(\w*)/g)].map(
    ([, name, word]) => name ?? word ?? '',
  )
  return new Map([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]))
}

export const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
