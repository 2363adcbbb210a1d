import { createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { importUsers } from '@/cli/import-users'
import { type Bench, mib, print, rounded, secondsOf } from './harness'

const PASSWORDS = [
  { format: 'bcrypt', value: `$2b$12$${'.'.repeat(53)}` },
  { format: 'pbkdf2-sha256-django', value: `pbkdf2_sha256$1000000$salt$${'A'.repeat(43)}=` },
  { format: 'bcrypt', value: `$2y$10$${'.'.repeat(53)}` },
  { format: 'scrypt-better-auth', value: `${'0'.repeat(32)}:${'0'.repeat(128)}` },
  { format: 'bcrypt', value: `$2a$10$${'.'.repeat(53)}` },
  undefined,
]

/** A file of so many accounts is checked, imported and imported again. Half of the passwords are bcrypt's. */
export async function measureImport({ ctx, dataDir }: Bench, accounts: number) {
  const file = path.join(dataDir, 'users.ndjson')
  await pipeline(Readable.from(linesOf(accounts)), createWriteStream(file))
  for (const what of ['Checked', 'Imported', 'Imported again']) {
    const counts: Record<string, number> = {}
    let peak = 0
    const seconds = await secondsOf(async () => {
      const all = { file: await open(file), check: what === 'Checked', print: () => {} }
      for await (const results of importUsers(ctx, all)) {
        for (const result of results) {
          const name = 'result' in result ? String(result.result) : 'told'
          counts[name] = (counts[name] ?? 0) + 1
        }
        peak = Math.max(peak, process.memoryUsage.rss())
      }
    })
    print(what, { ...counts, seconds: rounded(seconds), perSecond: Math.round(accounts / seconds), peakMiB: mib(peak) })
  }
}

function* linesOf(accounts: number) {
  for (let n = 1; n <= accounts; n++) {
    const password = PASSWORDS[n % PASSWORDS.length]
    const of = { external_id: `customer-${n}`, email: `person.${n}@example.test`, email_verified: n % 3 > 0 }
    const rest = { name: `Person ${n}`, locale: 'en-GB', created_at: '2020-02-29T12:00:00.000Z', password }
    yield `${JSON.stringify({ ...of, ...rest })}\n`
  }
}
