import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fail, root, run } from './ensure.mjs'

/**
 * The path of a command of a Python package, or the one that the setting gives. The package is installed once below .data/; undefined
 * where Python or the package is not available.
 */
export async function pythonCommand(requirement, command, setting) {
  const given = process.env[setting]
  if (given) return existsSync(given) ? given : fail(`${setting} names no file.`)
  const environment = join(root, '.data', requirement.replaceAll(/\W+/g, '-'))
  const bin = (name) => join(environment, process.platform === 'win32' ? `Scripts/${name}.exe` : `bin/${name}`)
  const marker = join(environment, '.installed')
  if (existsSync(marker)) return bin(command)
  const succeeds = async (name, ...args) => (await run(name, args, { quiet: true }).catch(() => 1)) === 0
  process.stdout.write(`Installing ${requirement} …\n`)
  if (!(await succeeds('python3', '-m', 'venv', '--clear', environment))) return undefined
  if (!(await succeeds(bin('python'), '-m', 'pip', 'install', '--quiet', requirement))) return undefined
  writeFileSync(marker, '')
  return bin(command)
}

export function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
}
