import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { root, run } from '../scripts/ensure.mjs'
import { skip } from '../scripts/suites.ts'

/** Installs what `lab/<name>/package.json` names in a folder below `.data`, because one suite alone needs it. Resolves with the folder. */
export async function installBeside(name: string, ...options: string[]): Promise<string> {
  const directory = join(root, '.data', name)
  mkdirSync(directory, { recursive: true })
  cpSync(join(root, 'lab', name, 'package.json'), join(directory, 'package.json'))
  const install = ['install', '--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error', ...options]
  if ((await run('npm', install, { cwd: directory, quiet: true })) !== 0)
    skip(`what lab/${name}/package.json names cannot be installed here`)
  return directory
}
