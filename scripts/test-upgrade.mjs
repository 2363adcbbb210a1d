import { existsSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { ensureBuilt, ensureInstalled, fail, note, root, run, tool, underProjectNode } from './ensure.mjs'

// npm run test:upgrade: the last release and this one on one database, upgraded, rolled back and upgraded again under load.
const LAST_RELEASE = '926f062'
const SKIPPED = 77
const folder = path.join(root, '.data/last-release')

process.chdir(root)
await ensureInstalled()
await underProjectNode()
await ensureBuilt('build')
if (!existsSync(path.join(folder, 'dist/server.mjs'))) await buildLastRelease()
process.exit(
  await tool('vitest', ['run', '--config', 'faults/vitest.config.ts', 'faults/upgrade.spec.ts'], {
    env: { LAST_RELEASE: folder, TZ: 'UTC' },
  }),
)

async function buildLastRelease() {
  if ((await run('git', ['cat-file', '-e', `${LAST_RELEASE}^{commit}`])) !== 0) {
    process.stdout.write(`SKIPPED: this clone has no commit ${LAST_RELEASE}, the last release.\n`)
    process.exit(SKIPPED)
  }
  note(`Building ${LAST_RELEASE} in ${folder} …`)
  mkdirSync(folder, { recursive: true })
  const commands = [
    ['sh', '-c', `git archive ${LAST_RELEASE} | tar -x -C "${folder}"`],
    ['npm', '--prefix', folder, 'ci'],
    ['npm', '--prefix', folder, 'run', 'build'],
  ]
  for (const [name, ...args] of commands) if ((await run(name, args)) !== 0) fail(`${name} ${args[0]} failed.`)
}
