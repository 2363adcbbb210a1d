import { existsSync } from 'node:fs'
import { fail, run, tool } from './ensure.mjs'

/** The variables that name a Chromium to Playwright's configuration. */
export async function browser(): Promise<Record<string, string>> {
  const CHROMIUM_PATH = await findBrowser()
  return CHROMIUM_PATH ? { CHROMIUM_PATH } : { PLAYWRIGHT_USE_BUNDLED: '1' }
}

/** The path of a Chromium, or undefined for the one that Playwright has installed itself. */
export async function findBrowser(): Promise<string | undefined> {
  const { CHROMIUM_PATH } = process.env
  if (CHROMIUM_PATH) {
    return existsSync(CHROMIUM_PATH) ? CHROMIUM_PATH : fail(`CHROMIUM_PATH names no file: ${CHROMIUM_PATH}`)
  }
  const system = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path))
  if (system) return system
  process.stdout.write('No browser found, installing one …\n')
  const { chromium } = await import('@playwright/test')
  if (existsSync(chromium.executablePath())) return undefined
  if ((await tool('playwright', ['install', 'chromium'], { quiet: true, timeout: 300_000 })) === 0) return undefined
  await installFromDebian()
  if (existsSync('/usr/bin/chromium')) return '/usr/bin/chromium'
  return fail('No browser: install Chromium (apt-get install chromium) or set CHROMIUM_PATH.')
}

async function installFromDebian() {
  const admin = process.getuid?.() === 0 ? [] : ['sudo', '-n']
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', 'chromium']]) {
    const [command = '', ...rest] = [...admin, 'apt-get', ...args]
    await run(command, rest, { quiet: true, env: { DEBIAN_FRONTEND: 'noninteractive' } }).catch(() => {})
  }
}
