import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { begin, ensureBuilt, need, root, runSuites, skip } from './ensure.mjs'

// npm run test:histories, npm run test:failover: what clients were answered, judged by Porcupine. Exits with 77 without Go, or without the
// programs that a failover needs.
const [suite = 'histories'] = process.argv.slice(2)
const NEEDED = { histories: ['go'], failover: ['go', 'patroni', 'etcd', 'haproxy'] }

await begin()

process.env.PATH = `${process.env.PATH}:/usr/sbin`
need(...NEEDED[suite])
const judge = path.join(root, '.data/histories/judge')
mkdirSync(path.dirname(judge), { recursive: true })
const built = spawnSync('go', ['build', '-o', judge, '.'], {
  cwd: path.join(root, 'proof/histories'),
  stdio: 'inherit',
})
if (built.status !== 0) skip('the judge could not be built')
await ensureBuilt('build')
process.exit(await runSuites('proof/load', [`proof/load/${suite}.ts`], { JUDGE: judge }))
