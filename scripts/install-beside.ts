import { cpSync, mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { root, run } from './ensure.mjs'
import { skip } from './suites.ts'

/** Installs what the `package.json` of a folder names below `.data`, because one command alone needs it. Resolves with where it is. */
export async function installBeside(folder: string, ...options: string[]): Promise<string> {
  const directory = join(root, '.data', basename(folder))
  mkdirSync(directory, { recursive: true })
  cpSync(join(root, folder, 'package.json'), join(directory, 'package.json'))
  const install = ['install', '--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error', ...options]
  if ((await run('npm', install, { cwd: directory, quiet: true })) !== 0)
    skip(`what ${folder}/package.json names cannot be installed here`)
  return directory
}
