import { fileURLToPath } from 'node:url'
import { defineConfig } from 'prisma/config'

// The native engine is a download; the script runs the WebAssembly build from npm instead. Windows cannot spawn a script.
if (process.platform !== 'win32' && !process.env.PRISMA_NATIVE_ENGINE) {
  process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= fileURLToPath(
    new URL('./prisma/offline/schema-engine.mjs', import.meta.url),
  )
}

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.DATABASE_URL, shadowDatabaseUrl: process.env.SHADOW_DATABASE_URL },
})
