import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '../server/local/embedded-postgres.ts'
import { migrateDeploy } from '../server/migrate.ts'
import { fail, note, projectNode, root, stopWithNpm, tool } from './ensure.mjs'

if ((await tool('prisma', ['generate'], { quiet: true })) !== 0) fail('prisma generate failed.')

// An empty variable counts as not set, as in server/settings/env.ts.
const given = process.env.DATABASE_URL || undefined
const postgres = given ? null : await startEmbeddedPostgres({ dataDir: process.env.DATA_DIR || '.data', onLog: note })
const url = given ?? (postgres?.url as string)
let code = 1
try {
  for (const name of await migrateDeploy(url, join(root, 'prisma/migrations'))) note(`Applied migration ${name}`)
  code = await serve({ DATABASE_URL: url, NODE_ENV: 'development', NEXT_TELEMETRY_DISABLED: '1' })
} finally {
  await postgres?.stop()
}
process.exit(code)

function serve(env: Record<string, string>): Promise<number> {
  const child = spawn(projectNode(), [...process.execArgv, join(root, 'scripts/dev-server.ts')], {
    stdio: 'inherit',
    env: { ...process.env, ...env } as NodeJS.ProcessEnv,
  })
  stopWithNpm(() => child.kill('SIGTERM'))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  return new Promise((done) => child.on('exit', (exit) => done(exit ?? 0)))
}
