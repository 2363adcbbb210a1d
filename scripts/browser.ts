import { existsSync } from 'node:fs'
import { fail, run, tool } from './ensure.mjs'

/** The variables that name a Chromium to Playwright's configuration. */
export async function browser(): Promise<Record<string, string>> {
  const CHROMIUM_PATH = await findBrowser()
  return CHROMIUM_PATH ? { CHROMIUM_PATH } : { PLAYWRIGHT_USE_BUNDLED: '1' }
}

/** The headless shell comes first: a browser that cannot open a window takes two thirds of the time. */
const INSTALLED = ['chromium-headless-shell', 'chromium', 'chromium-browser'].map((name) => `/usr/bin/${name}`)

export const installedBrowser = (): string | undefined => INSTALLED.find((path) => existsSync(path))

/** The path of a Chromium, or undefined for the one that Playwright has installed itself. */
export async function findBrowser(): Promise<string | undefined> {
  const { CHROMIUM_PATH } = process.env
  if (CHROMIUM_PATH) {
    return existsSync(CHROMIUM_PATH) ? CHROMIUM_PATH : fail(`CHROMIUM_PATH names no file: ${CHROMIUM_PATH}`)
  }
  const installed = installedBrowser()
  if (installed) return installed
  process.stdout.write('Looking for the browser of Playwright …\n')
  const install = ['install', 'chromium-headless-shell']
  if ((await tool('playwright', install, { quiet: true, timeout: 300_000 })) === 0) return undefined
  const { chromium } = await import('@playwright/test')
  if (existsSync(chromium.executablePath())) return chromium.executablePath()
  await installFromDebian()
  return (
    installedBrowser() ??
    fail('No browser: install Chromium (apt-get install chromium-headless-shell) or set CHROMIUM_PATH.')
  )
}

async function installFromDebian() {
  const admin = process.getuid?.() === 0 ? [] : ['sudo', '-n']
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', 'chromium-headless-shell']]) {
    const [command = '', ...rest] = [...admin, 'apt-get', ...args]
    await run(command, rest, { quiet: true, env: { DEBIAN_FRONTEND: 'noninteractive' } }).catch(() => {})
  }
}
