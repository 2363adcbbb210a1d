import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Page } from '@playwright/test'
import { findBrowser } from '../scripts/browser.ts'
import { root } from '../scripts/ensure.mjs'
import { packParts } from '../scripts/pack-parts.ts'
import { startUntilAnswer, stopService } from './bench/services.ts'

// Makes the pictures of the README from the running service: a change of the demo account, its deletion, and the parts in a shop.
const PICTURE = join(root, 'docs/screenshots/pages.png')
const PICTURE_OF_PARTS = join(root, 'docs/screenshots/parts.png')
const PORT = '4475'
const URL = `http://localhost:${PORT}`
/** Narrow enough that both can be read in the column of a README. */
const HALF = { width: 660, height: 1100 }
/** Around each page, so that both stand as windows of their own. */
const GAP = 32
const SHOP = 'http://localhost:4476'
const PASSWORD = 'correct horse battery'

const DATA_DIR = join(root, '.data/picture')
rmSync(DATA_DIR, { recursive: true, force: true })
const env = { PORT, DATA_DIR, APP_URL: URL, ALLOWED_ORIGINS: SHOP }
const { child } = await startUntilAnswer({
  nodeArgs: [join(root, 'scripts/start.mjs')],
  env,
  until: { url: `${URL}/api/health/ready` },
})
const executablePath = await findBrowser()
// No server sends the page of the shop, and such a page may call nothing on this machine.
const args = ['--disable-features=LocalNetworkAccessChecks']
const browser = await chromium.launch({ args, ...(executablePath && { executablePath }) })
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
  await pictureOfParts(await browser.newPage({ viewport: { width: 1416, height: 620 }, locale: 'en-GB' }))
} finally {
  await browser.close()
  await stopService(child)
}
process.stdout.write(`${PICTURE}\n${PICTURE_OF_PARTS}\n`)

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

async function pictureOfParts(page: Page): Promise<void> {
  await packParts(join(DATA_DIR, 'parts'))
  const words = ['service-token', 'create', '--name=shop', '--scope=users:write', '--scope=pages:issue']
  const command = [join(root, 'scripts/account.mjs'), ...words, '--only=service_token']
  const serviceToken = execFileSync(process.execPath, command, {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  }).trim()
  const { createServiceClient, issuePageToken, putUser } = await import(join(DATA_DIR, 'parts/client.js'))
  const call = createServiceClient({ baseUrl: URL, serviceToken })
  const liv = { externalId: 'liv' }
  await call(putUser, liv, { email: 'liv@example.com', email_verified: true, name: 'Liv' })
  const part = `service="${URL}" user="~liv" token-url="/page-token" product="Corner Shop" support-email="help@example.com"`
  const shop = `<!doctype html><html lang="en"><script type="module" src="/element/element.js"></script>
<style>:root { --account-accent: #9a3412; --account-action: #9a3412; --account-gap: 0; font: 17px Georgia, serif; background: #fdf8ef }
body { margin: 0 } header { background: #431407; color: #ffedd5; padding: 18px 40px; font-size: 22px }
main { display: grid; grid-template-columns: 1fr 1fr; gap: 40px; padding: 32px 40px }</style><header><b>Corner Shop</b></header>
<main><account-email ${part}></account-email><account-deletion ${part}></account-deletion></main></html>`
  await page.route(`${SHOP}/**`, async (route) => {
    const path = route.request().url().slice(SHOP.length)
    if (path.startsWith('/element/')) return route.fulfill({ path: join(DATA_DIR, 'parts', path) })
    if (path === '/') return route.fulfill({ contentType: 'text/html; charset=utf-8', body: shop })
    const proof = { origin: SHOP, authenticated_at: new Date().toISOString() }
    const token = await call(issuePageToken, liv, { ...proof, scopes: ['email:manage', 'account:manage'] })
    await route.fulfill({ json: { ...token, ...proof } })
  })
  await page.goto(`${SHOP}/`)
  await page.getByRole('button', { name: 'Change address' }).waitFor()
  await page.getByRole('button', { name: 'Delete my account' }).waitFor()
  await page.screenshot({ path: PICTURE_OF_PARTS, fullPage: true })
}
