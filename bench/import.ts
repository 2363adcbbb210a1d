import { createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { importUsers } from '@/scripts/account/import-users'
import { openFreshContext } from './fresh-context'

/**
 * `npm run bench:import [-- lines]`, on a fresh database: a file of so many accounts (a million without a number) is checked, imported
 * and imported again. Half of the passwords are bcrypt's, the others of the other formats and none.
 */
const LINES = Number(process.argv[2] ?? 1_000_000)

const PASSWORDS = [
  { format: 'bcrypt', value: `$2b$12$${'.'.repeat(53)}` },
  { format: 'pbkdf2-sha256-django', value: `pbkdf2_sha256$1000000$salt$${'A'.repeat(43)}=` },
  { format: 'bcrypt', value: `$2y$10$${'.'.repeat(53)}` },
  { format: 'scrypt-better-auth', value: `${'0'.repeat(32)}:${'0'.repeat(128)}` },
  { format: 'bcrypt', value: `$2a$10$${'.'.repeat(53)}` },
  undefined,
]

const { ctx, dataDir, close } = await openFreshContext('import', { LOG_LEVEL: 'warn' })
const FILE = path.join(dataDir, 'users.ndjson')
await pipeline(Readable.from(lines()), createWriteStream(FILE))
try {
  await measured('Checked', true)
  await measured('Imported', false)
  await measured('Imported again', false)
} finally {
  await close()
}
process.exit(0)

function* lines() {
  for (let n = 1; n <= LINES; n++) {
    const password = PASSWORDS[n % PASSWORDS.length]
    const of = { external_id: `customer-${n}`, email: `person.${n}@example.test`, email_verified: n % 3 > 0 }
    const rest = { name: `Person ${n}`, locale: 'en-GB', created_at: '2020-02-29T12:00:00.000Z', password }
    yield `${JSON.stringify({ ...of, ...rest })}\n`
  }
}

async function measured(what: string, check: boolean) {
  const counts: Record<string, number> = {}
  const tell = (line: string) => process.stderr.write(`${line}\n`)
  const begun = performance.now()
  let peakMiB = 0
  for await (const results of importUsers(ctx, { file: await open(FILE), check, tell })) {
    // As the command prints them.
    for (const result of results) {
      const name = 'result' in result ? String(result.result) : 'told'
      counts[name] = (counts[name] ?? 0) + (JSON.stringify(result).length > 0 ? 1 : 0)
    }
    peakMiB = Math.max(peakMiB, Math.round(process.memoryUsage.rss() / 1024 / 1024))
  }
  const seconds = (performance.now() - begun) / 1000
  const figures = {
    ...counts,
    seconds: Number(seconds.toFixed(1)),
    linesPerSecond: Math.round(LINES / seconds),
    peakMiB,
  }
  process.stdout.write(`${what}: ${JSON.stringify(figures)}\n`)
}
