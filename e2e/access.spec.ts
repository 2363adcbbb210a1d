import type { Page } from '@playwright/test'
import {
  bearer,
  expect,
  expectAccessible,
  expectGoodInEachLook,
  expectSignInPage,
  requestChange,
  signIn,
  startSession,
  submitSignIn,
  test,
  type User,
} from './fixtures'

async function createToken(page: Page, user: User, name: string): Promise<string> {
  await page.goto('/settings/access-tokens')
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Read and change your email address').check()
  await page.getByLabel('7 days', { exact: true }).check()
  await page.getByLabel('Current password').fill(user.password)
  await page.getByRole('button', { name: 'Create token' }).click()
  await expect(page.getByRole('heading', { name: `“${name}” is ready` })).toBeFocused()
  return (await page.getByText(/^uat_[\w-]{43}$/).textContent()) ?? 'no token'
}

const readStatus = (page: Page, user: User, token: string) =>
  page.request.get(`/api/v1/users/${user.id}/email/status`, {
    headers: bearer(token, 'email:manage'),
  })

test('a new token is shown once and told by mail, works, and is refused after it is revoked', async ({
  page,
  signedInUser: user,
  inbox,
}) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const token = await createToken(page, user, 'Nightly export')
  await page.getByRole('button', { name: 'Copy the access token' }).click()
  await expect(page.getByRole('status').filter({ hasText: 'Copied' })).toBeVisible()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(token)
  await expect(page.getByText(`export USER_ID=${user.id}`)).toBeVisible()
  const { text } = await inbox.latest(user.email, 'A new access token was created')
  expect(text).toMatch(/^Name: Nightly export$/m)
  expect(text).toMatch(/^Permissions: Read and change your email address$/m)
  expect(text).toMatch(/^Works until: .+ UTC$/m)
  expect(text).toMatch(/^Date: .+ UTC$/m)
  expect(text).toMatch(/^Device: Chrome on .+$/m)
  expect(text).toMatch(/^IP address: 127\.0\.0\.1$/m)
  expect(text).toContain('/settings/access-tokens')
  expect(text).not.toContain(token)
  const row = page.getByRole('listitem').filter({ hasText: 'Nightly export' })
  await expect(row).toContainText(/Last used\s*never/)

  const status = await readStatus(page, user, token)
  expect((await status.json()).data.current_email).toBe(user.email)
  await page.getByRole('button', { name: 'Done', exact: true }).click()
  await expect(page.getByRole('heading', { name: 'New token' })).toBeFocused()
  await expect.poll(() => page.content()).not.toContain(token)
  await expect
    .poll(async () => {
      await page.reload()
      return row.textContent()
    })
    .toMatch(/Last used\s*now/)
  expect(await page.content()).not.toContain(token)

  await page.getByRole('button', { name: 'Revoke Nightly export' }).click()
  await page.getByRole('button', { name: 'Keep it' }).click()
  expect((await readStatus(page, user, token)).status()).toBe(200)
  await page.getByRole('button', { name: 'Revoke Nightly export' }).click()
  await page.getByRole('button', { name: 'Yes, revoke it' }).click()
  await expect(page.locator(':focus')).toContainText('“Nightly export” no longer works')
  await expect(page.getByText('No tokens yet')).toBeVisible()
  expect((await readStatus(page, user, token)).status()).toBe(401)
})

test('the form reports a missing name or scope at its field', async ({ page, userWithSession }) => {
  await page.goto('/settings/access-tokens')
  await page.getByRole('button', { name: 'Create token' }).click()
  await expect(page.getByText('Give the token a name.')).toBeVisible()
  await expect(page.getByText('Choose at least one permission.')).toBeVisible()
  await expect(page.getByLabel('Name')).toBeFocused()
  await expectAccessible(page)
  await page.getByLabel('Delete this account and download its data').check()
  await expect(page.getByText('can delete your account for good')).toBeVisible()
  await expect(page.getByText('Choose at least one permission.')).toBeHidden()
  await page.getByLabel('Delete this account and download its data').uncheck()
  await page.getByLabel('Name').fill(`Of ${userWithSession.id}`)
  await page.getByLabel('Current password').fill(userWithSession.password)
  await page.getByRole('button', { name: 'Create token' }).click()
  await expect(page.getByText('Choose at least one permission.')).toBeVisible()
  await expect(page.getByLabel('Read and change')).toBeFocused()
})

test('a person ends the session of another browser, and this one stays signed in', async ({
  page,
  browser,
  userWithSession: user,
}) => {
  const elsewhere = await (await browser.newContext({ userAgent: FIREFOX })).newPage()
  await signIn(elsewhere, user)
  await page.goto('/settings/sessions')
  await expect(page.getByRole('listitem').filter({ hasText: 'This browser' })).toContainText(
    /Chrome on .*From IP address 127\.0\.0\.1/s,
  )
  await page.getByRole('button', { name: /^Sign out Firefox on Windows, .*20\d\d/ }).click()
  await expect(page.getByRole('dialog')).toContainText(
    /Active in the last hour.*Last confirmed on .*From IP address 127\.0\.0\.1/s,
  )
  await page.getByRole('button', { name: 'Yes, sign it out' }).click()
  await expect(page.locator(':focus')).toContainText('Firefox on Windows is signed out')
  await expect(page.getByText('Only in this browser.')).toBeVisible()
  await elsewhere.goto('/settings/email')
  await expectSignInPage(elsewhere)
  await page.reload()
  await expect(page.getByRole('heading', { level: 1, name: 'Sessions' })).toBeVisible()
})

test('“Sign out everywhere else” cancels a pending change', async ({ page, browser, userWithSession: user }) => {
  const elsewhere = await (await browser.newContext()).newPage()
  await signIn(elsewhere, user)
  await requestChange(elsewhere, user)
  await page.goto('/settings/sessions')
  await page.getByRole('button', { name: 'Sign out everywhere else' }).click()
  await expect(page.getByRole('dialog')).toContainText(`change to new-${user.email} is cancelled too`)
  await page.getByRole('button', { name: 'Yes, sign out' }).click()
  await expect(page.getByText('You’re signed out everywhere else')).toBeVisible()
  await expect(page.getByText('Only in this browser.')).toBeVisible()
  await page.getByRole('link', { name: 'Email' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Email address' })).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Pending change' })).toBeHidden()
  // It reads while the change is pending, and so leads to the sign-in by itself.
  await expectSignInPage(elsewhere)
})

test('a person who ends the session of this browser is signed out here', async ({ page, userWithSession: _ }) => {
  await page.goto('/settings/sessions')
  await page.getByRole('button', { name: /^Sign out Chrome/ }).click()
  const signOut = page.waitForResponse('**/api/auth/signout')
  await page.getByRole('button', { name: 'Yes, sign out' }).click()
  expect(await (await signOut).headerValue('clear-site-data')).toBe('"cache"')
  await expectSignInPage(page)
  await page.goto('/settings/sessions')
  await expectSignInPage(page)
})

test('pages and dialogs have no accessibility fault', async ({ page, browser, baseURL, user }) => {
  test.slow()
  const check = () => expectGoodInEachLook(page)
  const checkDialog = async (opener: string, keep: string) => {
    await page.getByRole('button', { name: opener }).first().click()
    await check()
    await page.getByRole('button', { name: keep }).click()
  }
  await startSession(page, user)
  await page.goto('/settings/access-tokens')
  await expect(page.getByText('No tokens yet')).toBeVisible()
  await check()
  await createToken(page, user, 'A name with a verylongwordthatfitsonnotelephoneandhasnoplacetobreakatall')
  await check()
  await checkDialog('Revoke', 'Keep it')

  const elsewhere = await (await browser.newContext({ baseURL, userAgent: FIREFOX })).newPage()
  await signIn(elsewhere, user)
  await page.goto('/settings/sessions')
  await expect(page.getByText('Firefox on Windows').first()).toBeVisible()
  await check()
  await checkDialog('Sign out Chrome', 'Stay signed in')
  await checkDialog('Sign out Firefox', 'Keep it')
  await checkDialog('Sign out everywhere else', 'Keep them signed in')
})

const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0'

test('what was typed is still there after the session has ended elsewhere and the person has signed in again', async ({
  page,
  browser,
  signedInUser: user,
}) => {
  await expect(page.getByRole('button', { name: 'Account menu' })).toBeEnabled()
  await page.getByRole('button', { name: 'Change address' }).click()
  await page.getByLabel('New email').fill(`new-${user.email}`)
  await page.getByLabel('Current password').fill(user.password)
  const other = await (await browser.newContext()).newPage()
  await startSession(other, user)
  await other.goto('/settings/sessions')
  await other.getByRole('button', { name: 'Sign out everywhere else' }).click()
  await other.getByRole('button', { name: 'Yes, sign out' }).click()
  await expect(other.getByText('Only in this browser.')).toBeVisible()

  await page.getByRole('button', { name: 'Send verification' }).click()
  await expectSignInPage(page)
  await expect(page.getByText('Your session has ended')).toBeVisible()
  await submitSignIn(page, user)
  await expect(page.getByLabel('New email')).toHaveValue(`new-${user.email}`)
  await expect(page.getByLabel('Current password')).toHaveValue('')

  // A page that reads nothing by itself says it when somebody comes back to it, and one that is reloaded says it too.
  await page.goto('/settings/sessions')
  await other.goto('/settings/password')
  await expect(other.getByRole('button', { name: 'Account menu' })).toBeEnabled()
  await page.getByRole('button', { name: 'Sign out everywhere else' }).click()
  await page.getByRole('button', { name: 'Yes, sign out' }).click()
  await expect(page.getByText('Only in this browser.')).toBeVisible()
  await other.evaluate(() => window.dispatchEvent(new Event('visibilitychange')))
  await expect(other.getByText('Your session has ended')).toBeVisible()
  await other.goto('/settings/password')
  await expect(other.getByText('Your session has ended')).toBeVisible()
})

test('whoever signs out is not told that the session has ended', async ({ page, signedInUser }) => {
  await page.goto('/settings/password')
  await page.getByRole('button', { name: 'Account menu' }).click()
  await expect(page.getByText(signedInUser.email)).toBeVisible()
  // The page reads on while the sign-in is loading.
  await page.evaluate(() => setInterval(() => window.dispatchEvent(new Event('visibilitychange')), 100))
  await page.route('**/sign-in', async (route) => {
    await (await page.waitForResponse('**/api/auth/session')).finished()
    // What does not come can only be waited for so long.
    await page.waitForRequest('**/sign-in?*', { timeout: 1_000 }).catch(() => {})
    await route.continue()
  })
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expectSignInPage(page)
  await expect(page).toHaveURL(/\/sign-in$/)
})
