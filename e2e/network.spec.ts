import type { Page } from '@playwright/test'
import { textsOf } from '@/testing/message-texts'
import { expect, expectAccessible, expectSignInPage, linkIn, requestChange, submitSignIn, test } from './fixtures'

/** The paths of all further requests that are not reads. */
function writesOf(page: Page): string[] {
  const writes: string[] = []
  page.on('request', (request) => request.method() !== 'GET' && writes.push(new URL(request.url()).pathname))
  return writes
}

/** Waits until the page has read the status again. A request that was queued while offline would have been sent before. */
async function comeBackTo(page: Page) {
  await expect(async () => {
    const answered = page.waitForResponse('**/email/status', { timeout: 2_000 })
    await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')))
    await answered
  }).toPass()
}

test('a withdrawal that is submitted offline is refused and does not start when the network returns', async ({
  page,
  context,
  userWithSession: user,
}) => {
  await page.goto('/settings/withdraw')
  await page.getByLabel('to confirm').fill('delete my account')
  await page.getByLabel('Current password').fill(user.password)
  await context.setOffline(true)
  await page.getByRole('button', { name: 'Delete my account' }).click()
  await expect(
    page.getByRole('alert').filter({ hasText: 'We couldn’t reach the service, so nothing was deleted.' }),
  ).toBeVisible()
  const writes = writesOf(page)
  await context.setOffline(false)
  await expect(page.getByRole('alert').filter({ hasText: 'We can reach the service again.' })).toBeVisible()
  // A navigation inside the page keeps queued requests.
  await page.getByRole('link', { name: 'Email' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Email address' })).toBeVisible()
  await comeBackTo(page)
  expect(writes).toEqual([])
  await page.reload()
  await expect(page.getByText(user.email, { exact: true }).first()).toBeVisible()
})

test('a withdrawal whose password could not be checked says why, and does not blame the connection', async ({
  page,
  userWithSession: user,
}) => {
  await page.goto('/settings/withdraw')
  await page.getByLabel('to confirm').fill('delete my account')
  await page.getByLabel('Current password').fill(user.password)
  await page.route('**/api/auth/csrf', (route) => route.fulfill({ status: 502, body: 'Bad gateway' }))
  await page.getByRole('button', { name: 'Delete my account' }).click()
  await expect(page.getByRole('alert').filter({ hasText: /./ })).toHaveText(/^Something went wrong on our side/)
})

test('a deletion that could not be sent begins nothing, and one whose answer is lost shows its progress by itself', async ({
  page,
  context,
  signedInUser: user,
}) => {
  await page.goto('/settings/withdraw')
  await page.getByLabel('to confirm').fill('delete my account')
  await page.getByLabel('Current password').fill(user.password)
  const button = page.getByRole('button', { name: 'Delete my account' })
  const refusal = page.getByRole('alert').filter({ hasText: /./ })
  await context.setOffline(true)
  await button.click()
  await expect(refusal).toContainText('nothing was deleted')
  await context.setOffline(false)
  const begin = '**/api/v1/users/*/withdraw'
  await page.route(begin, async (route) => {
    await route.fetch()
    await route.abort()
  })
  await button.click()
  await expect(refusal).toContainText('the deletion may have started')
  // What else the page reads would now find no session.
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')))
  await expect(button).toHaveAttribute('aria-busy')
  await page.unroute(begin)
  await expect(page.getByRole('heading', { level: 1, name: 'Account deletion' })).toBeVisible()
})

test('a page says that the service is away, its links lose nothing that was typed, and it says when the service is back', async ({
  page,
  signedInUser: user,
}) => {
  await requestChange(page, user)
  const main = page.getByRole('main')
  // The form of the address, which is closed by now, may still wait for its own read.
  const trying = main.getByText('This page keeps trying.').filter({ visible: true })
  await page.route('**/api/**', (route) => route.abort())
  await page.getByLabel('Verification code').fill('000000')
  await expect(trying).toBeVisible()
  await page.getByRole('link', { name: 'Sessions' }).click()
  await expect(page.getByText('so this page stays as it is')).toBeVisible()
  await expect(page.getByLabel('Verification code')).toHaveValue('000000')
  await page.unroute('**/api/**')
  await expect(trying).toBeHidden()
  await expect(main.getByText('4 attempts left')).toBeVisible()
  await page.getByRole('link', { name: 'Sessions' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Sessions' })).toBeVisible()
})

test('a link keeps the page, and its typed text, while a service that went away a moment ago does not answer', async ({
  page,
  signedInUser: _,
}) => {
  await page.setViewportSize({ width: 320, height: 568 })
  await page.route('**/*', (route) => route.abort())
  await page.getByRole('link', { name: 'Password' }).click()
  const notice = page.getByText('so this page stays as it is')
  await expect(notice).toBeInViewport({ ratio: 1 })
  const controls = page.locator('footer :is(a, button)').filter({ visible: true })
  await expect(controls).not.toHaveCount(0)
  for (const control of await controls.all()) {
    await control.focus()
    const bottom = await control.evaluate((element) => element.getBoundingClientRect().bottom)
    expect(bottom).toBeLessThanOrEqual(await notice.evaluate((element) => element.getBoundingClientRect().top))
  }
  await page.unroute('**/*')
  await page.getByRole('button', { name: 'Change address' }).click()
  await page.getByLabel('New email address').fill('typed@example.com')
  await page.route('**/*', (route) => route.abort())
  await page.getByRole('link', { name: 'Sessions' }).click()
  await expect(page.getByText('so this page stays as it is')).toBeVisible()
  await expect(page.getByLabel('New email address')).toHaveValue('typed@example.com')
  await page.unroute('**/*')
  await page.getByRole('link', { name: 'Sessions' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Sessions' })).toBeVisible()
})

test('a change that got no answer is sent until there is one, and only once takes effect', async ({
  page,
  signedInUser: user,
  inbox,
}) => {
  const newEmail = `new-${user.email}`
  await page.route('**/api/**', async (route) => {
    if (route.request().method() === 'POST') await route.fetch()
    await route.abort()
  })
  await page.getByRole('button', { name: 'Change address' }).click()
  await page.getByLabel('New email address').fill(newEmail)
  await page.getByLabel('Current password').fill(user.password)
  await page.getByRole('button', { name: 'Send verification email' }).click()
  await expect(page.getByRole('status').filter({ hasText: 'This page keeps trying.' })).toBeVisible()
  await expect(page.getByLabel('New email address')).not.toBeEditable()
  await expect(page.getByRole('button', { name: 'Close' })).toBeDisabled()
  await page.unroute('**/api/**')
  await expect(page.getByLabel('Verification code')).toBeVisible()
  await expect(page.getByText('was replaced')).toHaveCount(0)
  expect(await inbox.all(newEmail)).toHaveLength(1)
})

test('a code that is submitted offline was not sent, and of a cancellation without an answer nobody knows, visibly on a small phone', async ({
  page,
  context,
  signedInUser: user,
}) => {
  await page.setViewportSize({ width: 390, height: 664 })
  await requestChange(page, user)
  await context.setOffline(true)
  await page.getByLabel('Verification code').fill('000000')
  const refusal = page.getByRole('alert')
  await expect(refusal.filter({ hasText: 'so nothing was sent' })).toBeInViewport({ ratio: 1 })
  await context.setOffline(false)
  await expect(refusal.filter({ hasText: 'We can reach the service again.' })).toBeVisible()
  await page.route('**/api/**', (route) => route.abort())
  await page.getByRole('button', { name: 'Cancel change' }).click()
  await page.getByRole('button', { name: 'Yes, cancel the change' }).click()
  await expect(refusal.filter({ hasText: 'so we don’t know whether that worked' })).toBeInViewport({ ratio: 1 })
})

test('“Try again” reloads a page that could not be shown', async ({ page, signedInUser: _ }) => {
  // Before the page is interactive, the link would be followed by the browser itself.
  await expect(page.getByRole('button', { name: 'Change address' })).toBeEnabled()
  const script = '**/_next/static/chunks/*.js'
  await page.route(script, (route) => route.abort())
  await page.getByRole('link', { name: 'Delete account' }).click()
  await expect(page.getByRole('heading', { name: 'We couldn’t show this page' })).toBeVisible()
  await page.unroute(script)
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Delete account' })).toBeVisible()
})

test('where not even the layout can be shown, the page has a title, the product and the language of the reader', async ({
  page,
  signedInUser: user,
}) => {
  const { Failure } = textsOf('de')
  await page.request.post('/api/language', {
    form: { language: 'de' },
    headers: { Origin: new URL(page.url()).origin },
  })
  // React Query listens to this event around every page.
  await page.addInitScript(() => {
    const listen = window.addEventListener.bind(window)
    window.addEventListener = (...[type, listener, options]: Parameters<typeof window.addEventListener>) => {
      if (type === 'visibilitychange' && !sessionStorage.getItem('mended')) throw new Error('The layout is broken')
      listen(type, listener, options)
    }
  })
  await page.reload()
  await expect(page.getByRole('heading', { level: 1, name: Failure.serverTitle })).toBeVisible()
  await expect(page).toHaveTitle(`${Failure.serverTitle} · User Account Service`)
  await expect(page.locator('html')).toHaveAttribute('lang', 'de')
  await expect(page.getByRole('main').getByText('User Account Service', { exact: true })).toBeVisible()
  await expectAccessible(page)
  await page.evaluate(() => sessionStorage.setItem('mended', 'yes'))
  await page.getByRole('button', { name: Failure.tryAgain }).click()
  await expect(page.getByText(user.email, { exact: true }).first()).toBeVisible()
})

for (const [what, status, said] of [
  ['a proxy that fails', 502, 'Something went wrong on our side'],
  ['a network that is away', 0, 'We can’t sign you in right now'],
] as const) {
  test(`the sign-in page survives ${what} and keeps the secret of its link`, async ({
    page,
    browser,
    signedInUser,
    inbox,
  }) => {
    const newEmail = await requestChange(page, signedInUser)
    const link = linkIn(await inbox.latest(newEmail, 'Verify Your New Email Address'), '/verify-email')
    const elsewhere = await (await browser.newContext()).newPage()
    await elsewhere.goto(link)
    await elsewhere.getByText('Sign in to continue').click()
    await expect(elsewhere.getByRole('button', { name: 'Sign in' })).toBeEnabled()
    const address = elsewhere.url()
    const auth = '**/api/auth/**'
    await elsewhere.route(auth, (route) =>
      status ? route.fulfill({ status, contentType: 'text/html', body: '<h1>Bad gateway</h1>' }) : route.abort(),
    )
    await submitSignIn(elsewhere, signedInUser)
    await expect(elsewhere.getByRole('alert').filter({ hasText: said })).toBeVisible()
    expect(elsewhere.url()).toBe(address)
    await expectAccessible(elsewhere)
    await elsewhere.unroute(auth)
    await elsewhere.getByRole('button', { name: 'Sign in' }).click()
    const verify = elsewhere.getByRole('button', { name: 'Verify my new address' })
    await expect(verify).toBeVisible()
    // The service verifies the address, and its answer is lost.
    await elsewhere.route('**/api/**', async (route) => {
      if (route.request().method() === 'POST') await route.fetch()
      await route.abort()
    })
    await verify.click()
    await expect(elsewhere.getByRole('status').filter({ hasText: 'This page keeps trying.' })).toBeVisible()
    await elsewhere.unroute('**/api/**')
    await expect(elsewhere.getByRole('heading', { name: 'Your email address has been changed' })).toBeVisible()
  })
}

test('B133 the sign-in page of a browser that keeps no cookies asks for them', async ({ page, user }) => {
  await page.route('**/api/auth/callback/**', async (route) => {
    await page.context().clearCookies()
    await route.continue()
  })
  await page.goto('/sign-in')
  await submitSignIn(page, user)
  await expect(page.getByRole('alert').filter({ hasText: 'Allow cookies for this site' })).toBeVisible()
  await expectAccessible(page)
})

test('the sign-in page shows the wait after too many tries', async ({ page, user }) => {
  await page.goto('/sign-in')
  await page.route('**/api/auth/callback/credentials', (route) =>
    route.fulfill({
      status: 429,
      headers: { 'Retry-After': '871' },
      json: { url: `${new URL(page.url()).origin}/sign-in?error=RATE_001%3A871` },
    }),
  )
  await submitSignIn(page, user)
  await expect(page.getByRole('alert').filter({ hasText: 'You can try again in 15 minutes.' })).toBeVisible()
})

test('a sign-out that fails says that the session is still open', async ({ page, signedInUser }) => {
  const auth = '**/api/auth/signout'
  await page.route(auth, (route) => route.fulfill({ status: 502, body: 'Bad gateway' }))
  await page.getByRole('button', { name: 'Account menu' }).click()
  const signOut = page.getByRole('button', { name: 'Sign out' })
  await signOut.click()
  await expect(page.getByRole('alert').filter({ hasText: 'so you’re still signed in' })).toBeVisible()
  await expect(page.getByText(signedInUser.email).first()).toBeVisible()
  await expectAccessible(page)
  await page.unroute(auth)
  await signOut.click()
  await expectSignInPage(page)
})
