import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEmbeddedPostgres } from '@/server/local/embedded-postgres'
import { migrateDeploy } from '@/server/migrate'
import { openContext } from '@/server/open-context'

/** The service without its server, on a fresh database below `.data/bench-<name>`. */
export async function openFreshContext(name: string, settings: Record<string, string> = {}) {
  const dataDir = path.resolve(`.data/bench-${name}`)
  await rm(dataDir, { recursive: true, force: true })
  await mkdir(dataDir, { recursive: true })
  const postgres = await startEmbeddedPostgres({ dataDir: path.join(dataDir, 'database') })
  await migrateDeploy(postgres.url)
  Object.assign(process.env, {
    DATA_DIR: dataDir,
    DATABASE_URL: postgres.url,
    AUTH_SECRET: 'auth-secret-of-the-bench',
    CODE_SECRET: 'code-secret-of-the-bench',
    LOG_LEVEL: 'error',
    ...settings,
  })
  const ctx = await openContext()
  const close = async () => {
    // What the calls began in the background.
    await sleep(500)
    await ctx.close()
    await postgres.stop()
  }
  return { ctx, dataDir, databaseUrl: postgres.url, close }
}
