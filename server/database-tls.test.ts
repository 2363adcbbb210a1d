import { chownSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql, statement, text } from '@/domain/sql'
import { type Certificate, createCertificate } from '@/testing/certificate'
import { runAt } from '@/testing/raw-sql'
import { until } from '@/testing/until'
import { openDatabase } from './adapters/database'
import { logEventOf } from './adapters/database-away'
import { startEmbeddedPostgres } from './local/embedded-postgres'
import { prepareDatabase } from './prepare-database'
import { parseEnv } from './settings/env'

// One PostgreSQL, whose certificate changes from test to test.
const directory = mkdtempSync(path.join(tmpdir(), 'account-tls-'))
const own = createCertificate(directory)
let postgres: Awaited<ReturnType<typeof startEmbeddedPostgres>>

beforeAll(async () => {
  postgres = await startEmbeddedPostgres({ dataDir: directory })
})
afterAll(async () => {
  await postgres?.stop()
  rmSync(directory, { recursive: true })
})

/** What PostgreSQL reads must belong to its user. */
function writeForServer(name: string, content: string) {
  const file = path.join(directory, 'pg', name)
  const { uid, gid } = statSync(path.join(directory, 'pg'))
  writeFileSync(file, content, { mode: 0o600 })
  chownSync(file, uid, gid)
}

/** When the settings were read with which a new connection begins. */
async function loadedAt(): Promise<string> {
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  const { rows } = await client.query('SELECT pg_conf_load_time()::text AS at')
  await client.end()
  return rows[0].at
}

/** `rule` stands before the other rules of pg_hba.conf. */
async function serve(certificate: Certificate | null, rule = '') {
  const rules = readFileSync(path.join(directory, 'pg/pg_hba.conf'), 'utf8').split('# ours\n').at(-1)
  writeForServer('pg_hba.conf', `${rule}\n# ours\n${rules}`)
  writeForServer('server.key', certificate?.key ?? '')
  writeForServer('server.crt', certificate?.cert ?? '')
  writeForServer('clients.crt', own.cert)
  const before = await loadedAt()
  await runAt(
    postgres.url,
    `ALTER SYSTEM SET ssl_ca_file = 'clients.crt'`,
    `ALTER SYSTEM SET ssl = ${certificate ? 'on' : 'off'}`,
    'SELECT pg_reload_conf()',
  )
  await until('the server has read its settings', async () => (await loadedAt()) !== before)
}

const readEncryption = statement(
  'read-encryption',
  {},
  { ssl: text },
  () => sql`SELECT ssl::text AS ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`,
)

/** How the service is connected with these parameters, or the sentence that ends its start. */
async function connect(parameters: string, url = postgres.url): Promise<string> {
  try {
    const { databaseUrl = '', dataDir } = parseEnv({ DATABASE_URL: `${url}?${parameters}` })
    await prepareDatabase({ databaseUrl, dataDir }, [])
    const database = openDatabase(databaseUrl, 1)
    const [row] = await database.sql(readEncryption, {}).finally(() => database.close())
    return row?.ssl === 'true' ? 'encrypted' : 'in the clear'
  } catch (error) {
    return (error as Error).message
  }
}

test.each([
  ['sslmode=disable', 'in the clear'],
  ['sslmode=no-verify', 'encrypted'],
  ['sslmode=require', /: self-signed certificate\. No authority that is known here .* by sslrootcert=/],
  ['sslmode=verify-full', /: self-signed certificate\. No authority/],
  ['sslmode=require&sslrootcert=OURS', 'encrypted'],
  ['sslmode=verify-ca&sslrootcert=OURS', 'encrypted'],
  ['sslmode=verify-full&sslrootcert=OURS', 'encrypted'],
])('B130 with a certificate of an authority of one’s own, %s', async (parameters, outcome) => {
  await serve(own)
  expect(await connect(parameters.replace('OURS', own.file))).toMatch(outcome)
})

test('B130 a certificate for another name passes without a check of the name alone', async () => {
  const other = createCertificate(directory, 'db.example.com')
  await serve(other)
  expect(await connect(`sslmode=verify-ca&sslrootcert=${other.file}`)).toBe('encrypted')
  for (const mode of ['require', 'verify-full']) {
    expect(await connect(`sslmode=${mode}&sslrootcert=${other.file}`)).toMatch(/Its certificate is for another name\./)
  }
})

test('B130 a certificate that has ended is refused by its own sentence', async () => {
  const ended = createCertificate(directory, 'localhost', -1)
  await serve(ended)
  const sentence = await connect(`sslmode=verify-full&sslrootcert=${ended.file}`)
  expect(sentence).toMatch(/^DATABASE_URL: no connection to .*expired\. Renew its certificate/)
})

test('B130 a certificate that is no longer good while the service runs is a database that is away, not a bug', async () => {
  await serve(createCertificate(directory))
  const database = openDatabase(`${postgres.url}?sslmode=verify-full&sslrootcert=${own.file}`, 1)
  const failed = await database.sql(readEncryption, {}).catch((error) => error)
  await database.close()
  expect(logEventOf(failed)).toBe('database_away')
})

test('B130 a server that wants TLS, or a certificate of the client, says what to set', async () => {
  await runAt(postgres.url, `CREATE ROLE guarded SUPERUSER LOGIN PASSWORD 'guarded'`)
  const url = Object.assign(new URL(postgres.url), { username: 'guarded', password: 'guarded' }).href
  await serve(null)
  expect(await connect('sslmode=require', url)).toMatch(/It has no TLS\. .*sslmode=disable/)
  await serve(own, 'hostnossl all guarded all reject\nhostssl all guarded all scram-sha-256 clientcert=verify-ca')
  expect(await connect('', url)).toMatch(/It refuses connections in the clear\. Set sslmode=verify-full/)
  const verified = `sslmode=verify-full&sslrootcert=${own.file}`
  expect(await connect(verified, url)).toMatch(/It wants another certificate of the client\./)
  const key = path.join(directory, 'client.key')
  writeFileSync(key, own.key)
  expect(await connect(`${verified}&sslcert=${own.file}&sslkey=${key}`, url)).toBe('encrypted')
})
