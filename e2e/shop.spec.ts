import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from '@playwright/test'
import { checkReceiver } from '@/cli/app-check'
import { webhookSignature } from '@/testing/webhook'
import { bearer, expectAccessible, submitSignIn } from './fixtures'
import { SHOP_SERVICE_URL, SHOP_URL } from './service-urls'

const DATA_DIR = path.resolve('.data/e2e-shop')
const PASSWORD = 'correct horse battery'

test.describe.configure({ mode: 'serial' })

let demo: ChildProcessWithoutNullStreams
let printed = ''

test.beforeAll(async () => {
  await rm(DATA_DIR, { recursive: true, force: true })
  demo = spawn('npm', ['run', 'demo'], {
    // A group of its own, as a terminal has.
    detached: true,
    env: {
      ...process.env,
      DATA_DIR,
      PORT: new URL(SHOP_SERVICE_URL).port,
      SHOP_PORT: new URL(SHOP_URL).port,
      // The day passes in nine seconds, and ten orders in five.
      WITHDRAWAL_TIME_SCALE: '0.0001',
      SHOP_PACE_MS: '500',
    },
  })
  for (const output of [demo.stdout, demo.stderr]) {
    output.setEncoding('utf8').on('data', (chunk: string) => {
      printed += chunk
    })
  }
  await expect.poll(() => printed, { timeout: 60_000 }).toContain('Ctrl-C ends both')
})

test.afterAll(async () => {
  const ended = new Promise((resolve) => demo.once('close', resolve))
  process.kill(-(demo.pid as number), 'SIGINT')
  await ended
  for (const url of [SHOP_SERVICE_URL, SHOP_URL]) await expect(fetch(url)).rejects.toThrow('fetch failed')
})

const shopProcesses = () => [...printed.matchAll(/The shop runs as process (\d+)/g)].map(([, pid]) => Number(pid))

const shopSettings = async () => JSON.parse(await readFile(path.join(DATA_DIR, 'shop.json'), 'utf8'))

/** The account of a customer, once the shop has created it. */
async function accountOf(customer: string): Promise<string> {
  const { service_token } = await shopSettings()
  const headers = bearer(service_token, 'users:read')
  let user: { user_id: string } | undefined
  await expect
    .poll(async () => {
      const answer = await fetch(`${SHOP_SERVICE_URL}/api/v1/admin/users/${customer}`, { headers })
      user = (await answer.json()).data
      return answer.ok
    })
    .toBe(true)
  return user?.user_id ?? ''
}

/** Sends the shop a message with the signature of the service, and returns the status of the answer. */
async function sendToShop(message: object, id = 'dlv_by_hand'): Promise<number> {
  const { signing_secret } = await shopSettings()
  const [at, body] = [Math.floor(Date.now() / 1000), JSON.stringify(message)]
  const signature = webhookSignature(signing_secret, id, at, body)
  const headers = { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': signature }
  return (await fetch(`${SHOP_URL}/account-messages`, { method: 'POST', headers, body })).status
}

test('the demo shop passes every call of app check', async () => {
  const { signing_secret: secret } = await shopSettings()
  const noor = { subject: 'customer-8', account: await accountOf('customer-8') }
  const receiver = { url: `${SHOP_URL}/account-messages`, secret, appUrl: SHOP_SERVICE_URL, checks: true, person: noor }
  expect((await checkReceiver(receiver)).filter(({ mend }) => mend)).toEqual([])
})

test('the demo shop follows a change of address, and an older event changes nothing', async ({ page, request }) => {
  const noor = page.getByRole('region', { name: 'Noor' })
  await expect(async () => {
    await page.goto(SHOP_URL)
    await expect(noor).toContainText('noor@example.com')
  }).toPass()
  const { service_token } = await shopSettings()
  const account = `${SHOP_SERVICE_URL}/api/v1/admin/users/customer-8`
  const look = () => request.get(account, { headers: bearer(service_token, 'users:read') })
  await expect.poll(async () => (await look()).ok()).toBe(true)
  const { user_id } = (await (await look()).json()).data
  const changed = { email: 'noor.new@example.com', email_verified: true, name: 'Noor' }
  expect((await request.put(account, { headers: bearer(service_token, 'users:write'), data: changed })).status()).toBe(
    200,
  )
  await expect(noor).toContainText('noor.new@example.com')
  const data = { subject: 'customer-8', account: user_id, version: 0, new_email: 'noor.older@example.com' }
  expect(await sendToShop({ type: 'account.email_changed', timestamp: new Date().toISOString(), data })).toBe(200)
  await page.reload()
  await expect(noor).toContainText('noor.new@example.com')
})

test('the demo shop deletes nothing of a customer for an order that is about a former account', async ({ page }) => {
  const task = {
    id: 'msg_former',
    due_by: '',
    report_to: `${SHOP_SERVICE_URL}/api/v1/tasks/msg_former`,
    report_token: 'dtk_x',
  }
  const data = { subject: 'customer-8', account: `usr_${'A'.repeat(22)}`, withdrawal_id: 'wd_former', task }
  const message = { type: 'account.withdrawn', timestamp: new Date().toISOString(), data }
  expect(await sendToShop(message, 'msg_former')).toBe(200)
  await page.goto(SHOP_URL)
  const noor = page.getByRole('region', { name: 'Noor' })
  await expect(noor).not.toContainText('being deleted')
  await expect(noor.getByRole('listitem')).toHaveCount(10)
})

test('B123 an open order holds a withdrawal back, and a demo shop that is killed during its deletion completes it', async ({
  page,
  context,
}) => {
  const shop = await context.newPage()
  await expect(async () => {
    await shop.goto(SHOP_URL)
    await expect(shop.getByRole('region', { name: 'Mia' })).toContainText('mia@example.com')
  }).toPass()
  await expectAccessible(shop)

  await page.goto(`${SHOP_SERVICE_URL}/settings/withdraw`)
  await submitSignIn(page, { email: 'mia@example.com', password: PASSWORD })
  await expect(page.getByText('Order 10 (Stool) is not paid.', { exact: true })).toBeVisible()
  const toPay = page.getByRole('link', { name: 'Pay in Corner Shop' })
  await expect(toPay).toHaveAttribute('href', `${SHOP_URL}/#order-10`)
  await shop.getByRole('button', { name: 'Pay order 10' }).click()
  await page.getByRole('button', { name: 'Check again' }).click()

  await page.getByLabel(/to confirm/).fill('DELETE_MY_ACCOUNT')
  await page.getByLabel('Current password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Delete my account' }).click()
  const participant = page.getByRole('listitem').filter({ hasText: 'Corner Shop' }).last()
  await expect(shop.getByText('signed out of the shop')).toBeVisible()

  await expect(shop.getByText(/\b[2-8] of 10 orders deleted/)).toBeVisible()
  const [first = 0] = shopProcesses()
  process.kill(first, 'SIGKILL')
  await expect(participant).toContainText(/\b[2-9] of 10\b/)
  await expect.poll(shopProcesses).toHaveLength(2)

  await expect(participant).toContainText(/Keeps invoices until .*: tax law/, { timeout: 30_000 })
  // Asked once more whether Mia is gone, it confirms it.
  await expect(participant).toContainText('Being checked')
  await expect(page.getByRole('heading', { name: /^Your account was deleted/ })).toBeVisible({ timeout: 30_000 })
  const deletions = shop.getByRole('region', { name: 'Deletions' })
  await expect(deletions).toContainText('10 of 10 orders deleted, reported as done')
  await expect(deletions).toContainText('10 invoices kept until')
  await expect(shop.getByRole('region', { name: 'Mia' })).toHaveCount(0)
})
