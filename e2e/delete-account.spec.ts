import { CATEGORIES } from '@/contract/vocabulary'
import { expect, expectAccessible, linkIn, submitSignIn, test } from './fixtures'
import { SERVICE_URL } from './service-urls'

const SUBJECT = 'Confirm that you want to delete your account'

test('somebody who cannot sign in deletes the account by mail, and asks for it with scripts off', async ({
  browser,
  page,
  operator,
  user,
  inbox,
}) => {
  const still = await (await browser.newContext({ javaScriptEnabled: false, baseURL: SERVICE_URL })).newPage()
  await still.goto('/sign-in')
  await still.getByRole('link', { name: 'Can’t sign in and want to delete your account?' }).click()
  await expect(still.getByRole('heading', { level: 1 })).toHaveText(/^Delete your .* account$/)
  for (const category of CATEGORIES) await expect(still.locator(`[data-category="${category}"]`).first()).toBeAttached()
  await still.getByText('Show everything').first().click()
  await expect(still.locator('[data-category="account"]')).toBeVisible()
  await still.getByRole('button', { name: 'Email me the link' }).click()
  await expect(still.getByLabel('Email address of your account')).toBeFocused()
  await expect(still.getByLabel('Email address of your account')).toHaveAccessibleDescription(/^Enter your account/)
  await still.getByLabel('Email address of your account').fill('nobody@nowhere')
  await still.getByRole('button', { name: 'Email me the link' }).click()
  await expect(still.getByLabel('Email address of your account')).toHaveAccessibleDescription(/isn’t complete/)
  await expect(still.getByLabel('Email address of your account')).toHaveValue('nobody@nowhere')
  await still.getByLabel('Email address of your account').fill(user.email)
  await still.getByRole('button', { name: 'Email me the link' }).click()
  await expect(still.getByRole('heading', { name: 'Check your email' })).toBeFocused()
  await expect(still).toHaveTitle(/^Check your email/)
  await expect(still.getByText(`You entered ${user.email}.`)).toBeVisible()
  expect(still.url()).not.toContain('@')
  await still.getByRole('button', { name: /^Language/ }).click()
  await still.getByRole('link', { name: 'Deutsch' }).click()
  await expect(still.getByRole('heading', { level: 1 })).toHaveText(/^Ihr Konto bei .* löschen$/)

  const link = linkIn(await inbox.latest(user.email, SUBJECT), '/delete-account/confirm')
  await still.goto(link)
  await expect(still.getByText(/braucht JavaScript/)).toBeVisible()
  await expect(still.getByRole('link', { name: /Löschen Sie das Konto in den Einstellungen/ })).toBeVisible()
  await expect(still.getByText(/Der Link wird gelesen/)).toBeHidden()
  await still.context().close()

  const refund = ['--user', user.id, '--title', 'A refund']
  const { transaction_id = '' } = await operator.run('transaction', 'add', ...refund)
  await page.goto(link)
  await expect(page.getByRole('heading', { level: 1, name: /^Delete your .* account\?$/ })).toBeVisible()
  await expect(page.getByRole('heading', { name: 'One payment is still open' })).toBeVisible()
  await expect(page.getByText(/^The link in the email works for 30 minutes\./)).toBeVisible()
  await expectAccessible(page)
  await operator.run('transaction', 'cancel', transaction_id)
  await page.getByRole('button', { name: 'Check again' }).click()
  await expect(page.getByText(`${user.email.slice(0, 1)}••••@`)).toBeVisible()
  await expect(page.getByRole('link', { name: 'Download your data first' })).toHaveAttribute(
    'href',
    '/settings/data?before=deletion',
  )
  await page.getByText('What exactly happens').click()
  await expect(page.getByText(/^the account\b/)).toBeVisible()
  await expectAccessible(page)
  const second = await page.context().newPage()
  await second.goto(link)
  await expect(second.getByLabel('Type “delete my account” to confirm')).toBeVisible()
  await page.getByRole('button', { name: 'Delete my account' }).click()
  await expect(page.getByLabel(/to confirm/)).toHaveAccessibleDescription(/.+/)
  await page.getByLabel(/to confirm/).fill('Delete my account')
  await page.getByRole('button', { name: 'Delete my account' }).click()
  await expect(page).toHaveURL(/\/withdrawal\/wd_/)
  await expect(page.getByText('Your account is being deleted')).toBeVisible()

  await second.getByLabel(/to confirm/).fill('delete my account')
  await second.getByRole('button', { name: 'Delete my account' }).click()
  await expect(second.getByRole('heading', { name: 'This link no longer works' })).toBeVisible()
  await expectAccessible(second)
  await second.getByRole('link', { name: 'Ask for a new link' }).click()
  await expect(second).toHaveURL('/delete-account')
})

test('a request that is sent while the service does not answer keeps the page and what was typed', async ({
  context,
  page,
  inbox,
  user,
}) => {
  await page.goto('/delete-account')
  await page.getByLabel('Email address of your account').fill(user.email)
  await context.setOffline(true)
  await page.getByRole('button', { name: 'Email me the link' }).click()
  await expect(page.getByRole('alert').filter({ hasText: 'nothing was sent' })).toBeVisible()
  await context.setOffline(false)
  await expect(page.getByRole('alert').filter({ hasText: 'We can reach the service again' })).toBeVisible()
  await page.getByRole('button', { name: 'Email me the link' }).click()
  await expect(page.getByRole('heading', { name: 'Check your email' })).toBeFocused()
  await inbox.latest(user.email, SUBJECT)
})

test('whoever signs in to download the data before a deletion is led back to the deletion', async ({ page, user }) => {
  await page.goto('/delete-account')
  await page.getByRole('link', { name: 'Sign in and download it' }).click()
  await submitSignIn(page, user)
  await page.getByLabel('Current password').fill(user.password)
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download', exact: true }).click()
  await download
  await page.getByRole('link', { name: 'Continue to delete account' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Delete account' })).toBeVisible()
})
