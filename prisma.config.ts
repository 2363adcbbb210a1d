import { defineConfig } from 'prisma/config'
import { urlOfRunning } from './server/local/embedded-postgres.ts'

// Prisma fetches its schema engine before every command, and `generate` never runs it. With any program in its place the first start needs
// no download. Only `migrate` and `db` run it.
if (!process.argv.some((word) => word === 'migrate' || word === 'db')) {
  process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath
}

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  // Without DATABASE_URL the database of a running `npm start`, so that `npx prisma studio` shows it.
  datasource: {
    url: process.env.DATABASE_URL || urlOfRunning(process.env.DATA_DIR || '.data'),
    shadowDatabaseUrl: process.env.SHADOW_DATABASE_URL,
  },
})
