import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Page } from '@playwright/test'
import { findBrowser } from '../scripts/browser.ts'
import { root } from '../scripts/ensure.mjs'
import { startUntilAnswer, stopService } from './bench/services.ts'

// Makes the picture of the README from the running service: a pending change of the demo account, and then its deletion.
const PICTURE = join(root, 'docs/screenshots/pages.png')
const PORT = '4475'
const URL = `http://localhost:${PORT}`
/** Narrow enough that both can be read in the column of a README. */
const HALF = { width: 660, height: 1100 }
/** Around each page, so that both stand as windows of their own. */
const GAP = 32
const PASSWORD = 'correct horse battery'

const DATA_DIR = join(root, '.data/picture')
rmSync(DATA_DIR, { recursive: true, force: true })
const env = { PORT, DATA_DIR, APP_URL: URL }
const { child } = await startUntilAnswer({
  nodeArgs: [join(root, 'scripts/start.mjs')],
  env,
  until: { url: `${URL}/api/health/ready` },
})
const executablePath = await findBrowser()
const browser = await chromium.launch(executablePath ? { executablePath } : {})
try {
  const page = await browser.newPage({ viewport: HALF, locale: 'en-GB', reducedMotion: 'reduce' })
  const change = await pictureOfChange(page)
  const deletion = await pictureOfDeletion(page)
  const steps = await page.locator('section').filter({ hasText: 'Step by step' }).last().boundingBox()
  // A page of its own, because the service's policy of content holds for the other.
  const height = Math.round((steps?.y ?? 0) + (steps?.height ?? HALF.height)) + 24
  const whole = await browser.newPage({ viewport: { width: 2 * HALF.width + 3 * GAP, height: height + 2 * GAP } })
  const window = `width: ${HALF.width}px; height: ${height}px; object-fit: cover; object-position: top; border-radius: 12px`
  const images = [change, deletion].map(
    (half) => `<img style="${window}" src="data:image/png;base64,${half.toString('base64')}">`,
  )
  const ground = `margin: 0; padding: ${GAP}px; display: flex; gap: ${GAP}px; background: #dcdad5`
  await whole.setContent(`<body style="${ground}">${images.join('')}</body>`)
  await whole.screenshot({ path: PICTURE })
} finally {
  await browser.close()
  await stopService(child)
}
process.stdout.write(`${PICTURE}\n`)

async function pictureOfChange(page: Page): Promise<Buffer> {
  await page.goto(`${URL}/sign-in`)
  await page.getByLabel('Email', { exact: true }).fill('demo@example.com')
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('button', { name: 'Change address' }).click()
  await page.getByLabel('New email address').fill('demo.new@example.com')
  await page.getByLabel('Current password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Send verification email' }).click()
  await page.getByRole('heading', { name: 'Pending change' }).waitFor()
  return page.screenshot()
}

async function pictureOfDeletion(page: Page): Promise<Buffer> {
  await page.goto(`${URL}/settings/withdraw`)
  await page.getByLabel(/to confirm/).fill('DELETE_MY_ACCOUNT')
  await page.getByLabel('Current password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Delete my account' }).click()
  await page.getByText('1 of 4 steps done', { exact: true }).waitFor()
  return page.screenshot()
}
