import type { Page } from '@playwright/test'
import {
  createUser,
  expect,
  expectAccessible,
  expectFitsLarge,
  expectGoodInEachLook,
  makeOperator,
  signIn,
  startWithdrawal,
  test,
} from './fixtures'
import { SERVICE_URL } from './service-urls'

const SEARCH = 'Find a deletion, person or app'

async function find(page: Page, text: string) {
  await page.getByLabel(SEARCH).fill(text)
  await page.getByRole('button', { name: 'Find', exact: true }).click()
}

async function expectGoodEverywhere(page: Page) {
  await expectGoodInEachLook(page)
  await expectFitsLarge(page)
  await page.setViewportSize({ width: 1280, height: 800 })
}

test('an operator finds a person by address, and follows their withdrawal step by step', async ({
  page,
  operator,
  user,
}) => {
  await makeOperator(operator, user)
  const leaver = await createUser(operator)
  await signIn(page, user)
  await page.getByRole('button', { name: 'Account menu' }).click()
  await page.getByRole('link', { name: 'Operations' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible()

  await find(page, ' ')
  await expect(page.getByLabel(SEARCH)).toHaveAccessibleDescription(/^Type an ID/)
  await find(page, `nobody-${leaver.email}`)
  await expect(page.getByLabel(SEARCH)).toHaveAccessibleDescription(/^No account has this address/)
  await expectAccessible(page)
  await find(page, leaver.email)
  // The address stands in no URL.
  await expect(page).toHaveURL(`${SERVICE_URL}/admin/users/${leaver.id}`)
  await expect(page.getByText(leaver.email)).toBeVisible()
  await expect(page.getByText('Active', { exact: true })).toBeVisible()
  await expectGoodEverywhere(page)

  const { withdrawal_id: withdrawalId } = await startWithdrawal(operator, leaver.id)

  await page.getByRole('link', { name: 'Deletions', exact: true }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Deletions' })).toBeVisible()
  await expect(page.locator('main').getByRole('link', { name: /^wd_/ }).first()).toBeVisible()
  await expectGoodEverywhere(page)
  for (const [state, sentence] of [
    ['Completed', 'No completed deletion still has records.'],
    ['Fully erased', 'No deletion is fully erased yet.'],
  ] as const) {
    await page.getByRole('navigation', { name: 'State' }).getByRole('link', { name: state }).click()
    const listed = page.locator('main').getByRole('link', { name: /^wd_/ })
    await expect(listed.or(page.getByText(sentence)).first()).toBeVisible()
  }

  await find(page, withdrawalId)
  await expect(page).toHaveURL(`${SERVICE_URL}/admin/withdrawals/${withdrawalId}`)
  for (const title of [`Deletion ${withdrawalId}`, 'State', 'Deletion steps', 'Events', 'Mails', 'Audit log']) {
    await expect(page.getByRole('heading', { name: title, exact: true })).toBeVisible()
  }
  for (const step of [
    'Account switched off',
    'Profile and sign-in data',
    'Connected apps',
    'Archives, logs and caches',
  ])
    await expect(page.getByText(step, { exact: true }).first()).toBeVisible()
  await expect(page.getByText(leaver.id, { exact: true })).toHaveCount(1)
  await expect(page.getByRole('button', { name: 'Copy the account’s ID' })).toBeVisible()
  for (const personal of [leaver.email, leaver.name]) await expect(page.locator('main')).not.toContainText(personal)
  // Its time comes days later.
  await expect(page.getByRole('row', { name: /^Archives, logs and caches/ }).getByText('Waiting')).toBeVisible()
  await expect(page.getByRole('table', { name: 'Audit log' })).toContainText('Deletion began')
  await expect(page.getByRole('button', { name: 'Copy the ID' })).toBeVisible()
  await expectGoodEverywhere(page)

  await page.goto('/admin')
  await page.locator('dl a[href^="/admin/"]').first().click()
  await expect(page).toHaveURL(/\/admin\/(withdrawals|undeliverable|apps)/)
  await page.goto('/admin')
  await find(page, leaver.id)
  await expect(page).toHaveURL(`${SERVICE_URL}/admin/withdrawals/${withdrawalId}`)
  await page.goto(`/admin/users/${leaver.id}`)
  await expect(page.getByText('This account is being deleted:')).toBeVisible()
  await page.getByRole('link', { name: withdrawalId }).click()
  await expect(page).toHaveURL(`${SERVICE_URL}/admin/withdrawals/${withdrawalId}`)
})

test('a search that is sent before the page’s script is ready waits for it, and the beginning of an id is enough', async ({
  page,
  operator,
  user,
}) => {
  await makeOperator(operator, user)
  await signIn(page, user)
  const scripts = Promise.withResolvers<void>()
  await page.route('**/_next/static/**/*.js', (route) => scripts.promise.then(() => route.continue()))
  await page.goto('/admin', { waitUntil: 'commit' })
  await expect(page.getByRole('contentinfo')).toBeVisible()
  await page.getByLabel(SEARCH).fill(user.id.slice(0, 12))
  await page.getByLabel(SEARCH).press('Enter')
  scripts.resolve()
  await expect(page).toHaveURL(`${SERVICE_URL}/admin/users/${user.id}`)
})
