import type { Page } from '@playwright/test'
import {
  createUser,
  expect,
  expectAccessible,
  expectSignInPage,
  linkIn,
  signIn,
  startSession,
  startWithdrawal,
  test,
  type User,
} from './fixtures'
import { IMPATIENT_URL } from './service-urls'

/** The seven days pass in twelve seconds on this instance. */
const at = (path: string) => `${IMPATIENT_URL}${path}`

const deleteButton = (page: Page) => page.getByRole('button', { name: 'Delete my account' })

async function fillForm(page: Page, user: User) {
  await page.getByLabel('to confirm').fill('delete my account')
  await page.getByLabel('Current password').fill(user.password)
}

test('a user withdraws, is signed out everywhere, and watches the withdrawal to its end without a session', async ({
  page,
  browser,
  user,
  inbox,
}) => {
  const elsewhere = await (await browser.newContext()).newPage()
  await signIn(elsewhere, user, IMPATIENT_URL)
  await startSession(page, user, IMPATIENT_URL)

  await page.goto(at('/settings/withdraw'))
  await page.getByText('What exactly happens').click()
  await expect(page.getByText(/the account/).first()).toBeVisible()
  await expect(page.getByText(/The transaction itself, with its amount, is deleted\./)).toBeVisible()
  await expectAccessible(page)
  await page.getByText('Optional: tell us why, or have some data kept longer').click()
  await page.getByLabel('I’m concerned about my privacy').check()
  await page.getByLabel('Usage statistics').check()
  await fillForm(page, user)
  await expectAccessible(page)
  const mailed = inbox.latest(user.email, 'Account deletion started')
  await deleteButton(page).click()
  await page.waitForURL(/\/withdrawal\/wd_.*#token=wst_/)
  await expect(page.getByRole('heading', { level: 1, name: 'Account deletion' })).toBeVisible()
  const progress = page.url()
  const mail = await mailed
  expect(new URL(linkIn(mail, '/withdrawal/')).hash).toBe(new URL(progress).hash)

  await elsewhere.goto(at('/settings/email'))
  await expectSignInPage(elsewhere)

  const stranger = await (await browser.newContext()).newPage()
  await stranger.goto(progress)
  const deleted = stranger.getByRole('heading', { name: /^Your account was deleted/ })
  await expect(deleted).toBeVisible({ timeout: 40_000 })
  await expectAccessible(stranger)
  const done = stranger.getByText('Your name, profile, preferences and password are gone')
  await expect(done).toBeHidden()
  await stranger.getByText('Profile and sign-in data').click()
  await expect(done).toBeVisible()
  await expectAccessible(stranger)
  await expect(stranger.getByRole('link', { name: 'Delete account' })).toHaveCount(0)
  // As the receipt, which names nothing for what was asked for and did not exist.
  const chosen = stranger.locator('dl > div').filter({ hasText: 'Usage statistics' })
  await expect(chosen).toContainText('There was none')
  await stranger.reload()
  await expect(deleted).toBeVisible()
  const download = stranger.waitForEvent('download')
  await stranger.getByRole('button', { name: 'Save receipt' }).click()
  // As the mail names it.
  expect((await download).suggestedFilename()).toBe('deletion-receipt-final.jws')
  const receipt = stranger.waitForEvent('popup')
  await stranger.getByRole('link', { name: 'View or print receipt' }).click()
  await expect((await receipt).getByRole('heading', { name: /^Genuine: .+ deleted the account/ })).toBeVisible()
  await expect((await receipt).getByText('The earlier receipt of this deletion')).toBeVisible()
})

test('the progress says when it could not be read, and a second link in the same tab shows nothing of the first', async ({
  page,
  operator,
  user,
}) => {
  const { withdrawal_id, status_token } = await startWithdrawal(operator, user.id)
  const progress = `/withdrawal/${withdrawal_id}#token=${status_token}`
  const steps = page.getByRole('heading', { name: 'Step by step' })
  await page.goto(progress)
  await expect(steps).toBeVisible()
  const stale = page.getByText('This may not be up to date')
  await page.context().setOffline(true)
  await expect(stale).toBeVisible()
  await page.context().setOffline(false)
  await expect(stale).toBeHidden()
  await page.goto(`${progress}x`)
  await expect(page.getByRole('heading', { name: 'This link doesn’t open this deletion' })).toBeVisible()
  await expect(steps).toBeHidden()
  await page.goto(progress)
  await expect(steps).toBeVisible()
})

test('the page of a receipt offers no deletion, and prints as plain lines on light paper, without its controls', async ({
  page,
  operator,
  user,
}) => {
  const { withdrawal_id, receipt } = await startWithdrawal(operator, user.id)
  await page.goto('/receipt')
  await page.getByRole('textbox').fill(receipt ?? '')
  await expect(
    page.getByRole('heading', { name: /^Genuine: User Account Service accepted this deletion on/ }),
  ).toBeVisible()
  await expect(page.getByRole('link', { name: 'Delete account' })).toHaveCount(0)
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  await expect(page.getByText(withdrawal_id)).toBeVisible()
  for (const role of ['banner', 'contentinfo', 'textbox', 'button'] as const) {
    await expect(page.getByRole(role)).toHaveCount(0)
  }
  const ink = () => page.evaluate(() => getComputedStyle(document.body).color)
  const inDark = await ink()
  await page.emulateMedia({ media: 'print', colorScheme: 'light' })
  await expect.poll(ink).toBe(inDark)
})

test('a person downloads a copy of their data without opening the deletion', async ({ page, operator }) => {
  const user = await createUser(operator)
  await signIn(page, user, IMPATIENT_URL)
  await page.getByRole('link', { name: 'Your data' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Your data' })).toBeVisible()
  await expectAccessible(page)
  await page.getByLabel('Current password').fill(user.password)
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download', exact: true }).click()
  expect((await download).suggestedFilename()).toMatch(/\.zip$/)
  const notice = page.locator('[tabindex="-1"]', { hasText: 'Your data was downloaded' }).last()
  await expect(notice).toBeFocused()
  await page.goto(at('/settings/withdraw'))
  await page.getByRole('link', { name: 'Download your data first' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Your data' })).toBeVisible()
  await page.getByLabel('Current password').fill(user.password)
  await page.getByRole('button', { name: 'Download', exact: true }).click()
  await page.getByRole('link', { name: 'Continue to delete account' }).click()
  await expect(page).toHaveURL(at('/settings/withdraw'))
})

test('B123 pending transactions hold the withdrawal back, and the page says so until they are settled', async ({
  page,
  operator,
}) => {
  const user = await createUser(operator)
  const url = 'https://shop.example.com/orders/7'
  const pending = ['--title', 'Order 7', '--amount', '12.50EUR', '--url', url]
  const { transaction_id = '' } = await operator.run('transaction', 'add', '--user', user.id, ...pending)
  const { transaction_id: refund = '' } = await operator.run(
    'transaction',
    'add',
    '--user',
    user.id,
    '--title',
    'A refund',
  )
  await startSession(page, user, IMPATIENT_URL)
  await page.goto(at('/settings/withdraw'))
  await expect(page.getByRole('listitem').filter({ hasText: 'Order 7' })).toContainText('€12.50')
  await expect(page.getByRole('link', { name: 'Pay in User Account Service' })).toHaveAttribute('href', url)
  await expect(page.getByText('A refund')).toBeVisible()
  await expect(page.getByText('See what is pending in User Account Service.')).toBeVisible()
  await expect(page.getByRole('main').getByRole('link', { name: /@/ })).toHaveAttribute('href', /^mailto:/)
  await expect(page.getByText('This can’t be undone')).toBeHidden()
  await expect(deleteButton(page)).toBeHidden()
  await page.getByRole('button', { name: 'Check again' }).click()
  await expect(page.getByRole('status').filter({ hasText: 'Checked just now. Nothing has changed yet.' })).toBeVisible()
  await expectAccessible(page)
  await operator.run('transaction', 'settle', transaction_id)
  await operator.run('transaction', 'cancel', refund)
  // The page checks again by itself, and the button only makes it sooner.
  await page.getByRole('button', { name: 'Check again' }).click()
  await expect(deleteButton(page)).toBeVisible()
  await expect(page.locator(':focus')).toHaveText('You can delete your account now.')
})

test('an application that does not answer keeps the withdrawal open, and the page names it', async ({
  page,
  operator,
}) => {
  const user = await createUser(operator)
  const silent = ['--name', 'Silent Calendar', '--endpoint', 'http://127.0.0.1:9/']
  const { app_id = '' } = await operator.run('app', 'register', ...silent)
  await operator.run('app', 'connect', '--user', user.id, '--app', app_id, '--subject', 'calendar-1')
  const quick = ['--name', 'Quick Notes', '--endpoint', 'http://127.0.0.1:9/', '--event', 'account.withdrawal_started']
  const { app_id: quickId = '' } = await operator.run('app', 'register', ...quick)
  await operator.run('app', 'connect', '--user', user.id, '--app', quickId, '--subject', 'notes-1')
  await startSession(page, user, IMPATIENT_URL)
  await page.goto(at('/settings/withdraw'))
  await expect(
    page.getByText('We also ask these apps to delete your data: Quick Notes and Silent Calendar.'),
  ).toBeVisible()
  await page.getByText('What exactly happens').click()
  await expect(page.getByText('Immediately, that you no longer have access: Quick Notes')).toBeVisible()
  await expect(page.getByText('Then, to delete your data: Quick Notes and Silent Calendar')).toBeVisible()
  await fillForm(page, user)
  await deleteButton(page).click()
  await page.waitForURL(/\/withdrawal\/wd_/)
  const id = /wd_[\w-]+/.exec(page.url())?.[0] as string
  // On a busy machine a command may not get its connection in time.
  let shown: object = {}
  await expect(async () => {
    shown = await operator.run('withdrawal', 'show', id)
    expect(JSON.stringify(shown)).toMatch(/"step":"data_archives","status":"completed"/)
  }).toPass({ timeout: 30_000 })
  expect(shown).toMatchObject({
    status: 'processing',
    tasks: [
      { name: 'Quick Notes', completed_at: null },
      { name: 'Silent Calendar', completed_at: null },
    ],
    deliveries: [{ type: 'account.withdrawal_started', app_id: quickId, delivered_at: null }],
  })
  const named = page.getByRole('listitem').filter({ hasText: /^Silent Calendar/ })
  await expect(page.getByText('we’re still waiting for Quick Notes and Silent Calendar, and keep asking')).toBeVisible()
  await expect(named.last()).toContainText('No answer yet')
  await expect(page.getByText(/has to be done by .* our support decides whether we finish without it/)).toBeVisible()
  await expectAccessible(page)
})

test('the link of a deletion whose records are gone still offers its receipts', async ({ page }) => {
  await page.goto('/withdrawal/wd_gone#token=wst_unknown')
  await expect(page.getByRole('heading', { name: 'We couldn’t find this deletion' })).toBeVisible()
  const receipts = [{ kind: 'purge', issued_at: '2026-11-20T09:00:00.000Z', receipt: 'eyJ.a.b' }]
  await page.route('**/api/v1/withdrawals/wd_gone/receipts', (route) =>
    route.fulfill({ json: { success: true, data: { receipts }, timestamp: '2026-11-20T09:00:00.000Z' } }),
  )
  await page.reload()
  await expect(page.getByRole('heading', { name: 'This page has closed' })).toBeVisible()
  await expect(page.getByRole('link', { name: 'View or print receipt' })).toHaveAttribute('href', /#eyJ\.a\.b$/)
  await expectAccessible(page)
})
