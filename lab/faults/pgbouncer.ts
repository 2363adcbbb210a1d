import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestContext } from 'vitest'
import { freePort, takesConnections } from '@/testing/listening'
import { until } from '@/testing/until'

const PROGRAM = [process.env.PGBOUNCER, '/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find(
  (file) => file && existsSync(file),
)
export const hasPgBouncer = PROGRAM !== undefined

/** PgBouncer refuses to run as root. */
const NOBODY = 65_534

/** Starts a PgBouncer in front of this database, and returns its URL. */
export async function startPgBouncer(
  test: Pick<TestContext, 'onTestFinished'>,
  databaseUrl: string,
  mode: 'session' | 'transaction',
): Promise<string> {
  const { hostname, port: target, password } = new URL(databaseUrl)
  const port = await freePort()
  const directory = await mkdtemp(path.join(tmpdir(), 'pgbouncer-'))
  const file = path.join(directory, 'pgbouncer.ini')
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: mode,
    default_pool_size: 40,
    // Like most installations, it drops the options of a connecting client.
    ignore_startup_parameters: 'options',
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  const database = `* = host=${hostname} port=${target} user=postgres password=${decodeURIComponent(password)}`
  await writeFile(file, `[databases]\n${database}\n[pgbouncer]\n${lines.join('\n')}\n`, { mode: 0o600 })
  const isRoot = process.geteuid?.() === 0
  if (isRoot) {
    await chmod(directory, 0o755)
    await chown(file, NOBODY, NOBODY)
  }
  const child = spawn(PROGRAM ?? '', [file], { stdio: 'ignore', ...(isRoot && { uid: NOBODY, gid: NOBODY }) })
  test.onTestFinished(async () => {
    child.kill('SIGKILL')
    await rm(directory, { recursive: true })
  })
  await until('PgBouncer answers', () => takesConnections(port), 10_000)
  return Object.assign(new URL(databaseUrl), { port: String(port) }).href
}
