import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { fail, note, root, run } from '../../scripts/ensure.mjs'
import { runSuites, skip } from '../../scripts/suites.ts'

// The last release and this one on one database, upgraded, rolled back and upgraded again under load.
const LAST_RELEASE = '926f062'
const folder = path.join(root, '.data/last-release')

if (spawnSync('git', ['cat-file', '-e', `${LAST_RELEASE}^{commit}`]).status !== 0)
  skip(`this clone has no commit ${LAST_RELEASE}, the last release`)
if (!existsSync(path.join(folder, 'dist/server.mjs'))) await buildLastRelease()
process.exit(await runSuites('lab', ['lab/upgrade/upgrade.spec.ts'], { LAST_RELEASE: folder, TZ: 'UTC' }))

async function buildLastRelease() {
  note(`Building ${LAST_RELEASE} in ${folder} …`)
  mkdirSync(folder, { recursive: true })
  execFileSync('sh', ['-c', `git archive ${LAST_RELEASE} | tar -x -C "$0"`, folder])
  for (const args of [['ci'], ['run', 'build']])
    if ((await run('npm', ['--prefix', folder, ...args])) !== 0)
      fail(`npm ${args.join(' ')} of the last release failed.`)
}
