import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureBuilt, fail, note, root, run } from '../../scripts/ensure.mjs'
import { need, runSuites, skip } from '../../scripts/suites.ts'

// What moto tells in the place of Amazon SES, and real bounces of Debian's mail servers, each in a copy of this system
// that lasts as long as the run, without a network.
const INSIDE = 'BOUNCES_INSIDE'
const SYSTEMS = { postfix: 'postfix', exim: 'exim4-daemon-light', opensmtpd: 'opensmtpd' }
const MOTO = 'moto[server]==5.2.5'
const dir = join(root, '.data/bounces')

process.chdir(root)
if (process.env[INSIDE]) process.exit(await inside())
const MOTO_SERVER = installMoto()
if (MOTO_SERVER === null) note('SKIPPED: Amazon SES, because moto could not be installed.')
else if ((await runSuites('lab', ['lab/bounces/moto.spec.ts'], { MOTO_SERVER })) !== 0) process.exit(1)
need('unshare', 'chroot', 'ip', 'curl', 'apt-get')
if (spawnSync('unshare', ['--mount', '--pid', '--fork', '--net', 'true']).status !== 0) skip('it needs root on Linux')
await ensureBuilt('build')
// Whatever the mail servers leave behind ends with the process that comes first here.
const args = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc', process.execPath, import.meta.filename]
process.exit(await run('unshare', args, { env: { [INSIDE]: '1' } }))

async function inside() {
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(dir, { recursive: true })
  // The copies lie in memory: a file system of layers takes no other one of its kind as its upper layer.
  execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', dir])
  for (const [name, packageName] of Object.entries(SYSTEMS)) install(join(dir, name), packageName)
  const script = 'ip link set lo up && exec "$@"'
  const suite = ['--config', 'lab/vitest.config.ts', 'lab/bounces/bounces.spec.ts']
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', ...suite]
  return run('unshare', ['--net', 'sh', '-c', script, 'sh', process.execPath, ...vitest], {
    env: { FAULTS_DIR: '.data/bounces-run', BOUNCES_DIR: dir },
  })
}

/** Its program, in an environment of its own; null where there is no Python or no package registry. */
function installMoto(): string | null {
  const environment = join(root, '.data/moto')
  const program = join(environment, 'bin/moto_server')
  if (existsSync(program)) return program
  const ready =
    spawnSync('python3', ['-m', 'venv', environment]).status === 0 &&
    spawnSync(join(environment, 'bin/pip'), ['install', '--quiet', MOTO]).status === 0
  return ready ? program : null
}

/** The mail servers cannot be installed beside each other, and none is to be left here. */
function install(place: string, packageName: string) {
  const [upper, work, merged] = [join(place, 'upper'), join(place, 'work'), join(place, 'root')]
  for (const path of [upper, work, merged]) mkdirSync(path, { recursive: true })
  const layers = `lowerdir=/,upperdir=${upper},workdir=${work}`
  if (spawnSync('mount', ['-t', 'overlay', 'overlay', '-o', layers, merged]).status !== 0)
    skip('it needs overlay mounts')
  for (const path of ['/proc', '/dev']) execFileSync('mount', ['--rbind', path, join(merged, path)])
  writeFileSync(join(merged, 'usr/sbin/policy-rc.d'), '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  const apt = (...words: string[]) =>
    spawnSync('chroot', [merged, 'apt-get', '-qq', ...words], {
      encoding: 'utf8',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
  const wanted = ['install', '-y', '--no-install-recommends', packageName]
  let installed = apt(...wanted)
  if (installed.status !== 0 && apt('update').status === 0) installed = apt(...wanted)
  if (installed.error) fail(String(installed.error))
  if (installed.status !== 0)
    skip(`${packageName} could not be installed: ${installed.stderr.trim().split('\n').at(-1)}`)
  note(`${packageName} is installed in a copy of this system`)
}
