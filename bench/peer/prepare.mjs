import { getMigrations } from 'better-auth/db/migration'
import { auth, hashPassword } from './auth.mjs'

// Makes the peer's tables; prints the hash of the password that every seeded user has.
const { runMigrations } = await getMigrations(auth.options)
await runMigrations()
process.stdout.write(await hashPassword(process.env.BENCH_PASSWORD))
process.exit(0)
