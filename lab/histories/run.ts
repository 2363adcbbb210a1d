import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { ensureBuilt, root } from '../../scripts/ensure.mjs'
import { need, runSuites, skip } from '../../scripts/suites.ts'

// What clients were answered, judged by Porcupine. Exits with 77 without Go, or without the
// programs that a failover needs.
const NEEDED = { histories: ['go'], failover: ['go', 'patroni', 'etcd', 'haproxy'] }

/** Resolves with the exit code of the suite. */
export async function judge(suite: keyof typeof NEEDED): Promise<number> {
  process.env.PATH = `${process.env.PATH}:/usr/sbin`
  need(...NEEDED[suite])
  const program = path.join(root, '.data/histories/judge')
  mkdirSync(path.dirname(program), { recursive: true })
  const built = spawnSync('go', ['build', '-o', program, '.'], {
    cwd: path.join(root, 'lab/histories'),
    stdio: 'inherit',
  })
  if (built.status !== 0) skip('the judge could not be built')
  await ensureBuilt('build')
  return runSuites('lab', [`lab/histories/${suite}.spec.ts`], { JUDGE: program })
}
