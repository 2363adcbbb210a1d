import type { Page } from '@playwright/test'
import { REFERENCE_PATHS } from '@/app/docs/api/reference'
import {
  expect,
  expectAccessible,
  expectFits,
  expectFitsLarge,
  expectSignInPage,
  inEachLook,
  requestChange,
  startSession,
  startWithdrawal,
  test,
} from './fixtures'

const [, , ...OTHER_GROUPS] = REFERENCE_PATHS

const secret = (kind: string) => `#token=${kind}_${'A'.repeat(22)}.${'A'.repeat(43)}`

const PAGES = {
  public: ['/', '/sign-in', '/verify-email', '/forgot-password', '/accessibility', '/receipt', '/no-such-page'],
  linked: [
    '/reset-password',
    `/reset-password${secret('prt')}`,
    '/delete-account',
    '/delete-account?outcome=sent',
    `/delete-account/confirm${secret('wrt')}`,
    '/dev/mailbox',
    '/withdrawal/wd_unknown',
  ],
  documentation: REFERENCE_PATHS,
  'signed-in': ['/settings/email', '/settings/password', '/settings/data', '/settings/withdraw', '/verify-email'],
}

for (const [kind, paths] of Object.entries(PAGES)) {
  test(`no ${kind} page has an accessibility fault or a sideways scroll`, async ({ page, user }) => {
    if (kind === 'signed-in') await startSession(page, user)
    for (const path of paths) {
      await page.goto(path)
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
      await inEachLook(page, async () => {
        // One component draws every group of the reference, and looking at one takes seconds: outside the long suite the first stands for all.
        if (process.env.SECOND_ENGINE || !OTHER_GROUPS.includes(path)) await expectAccessible(page)
        await expectFits(page)
      })
      await expectFitsLarge(page)
      await page.setViewportSize({ width: 320, height: 640 })
      await expectFits(page)
      if (kind !== 'documentation') await expectFitsLarge(page)
    }
  })
}

test('whoever is not signed in finds the sign-in on pages for everybody', async ({ page }) => {
  for (const path of ['/accessibility', '/no-such-page', '/docs/api']) {
    await page.goto(path)
    await expect(page.getByRole('banner').getByRole('link', { name: 'Sign in' })).toBeVisible()
  }
})

test('a signed-in person reads on the pages for everybody that they are signed in', async ({
  page,
  userWithSession: user,
}) => {
  for (const path of ['/accessibility', '/receipt']) {
    await page.goto(path)
    await page.getByRole('button', { name: 'Account menu' }).click()
    await expect(page.getByText(user.email)).toBeVisible()
  }
  await page.goto('/delete-account')
  // A link and a form of the page name a language, which comes before the account's own.
  await page.getByRole('button', { name: /^Language/ }).click()
  await page.getByRole('link', { name: 'Deutsch' }).click()
  await expect(page.locator('html')).toHaveAttribute('lang', 'de')
  await expect(page.getByRole('banner').getByRole('link', { name: 'Einstellungen öffnen' })).toBeVisible()
  await expect(page.getByRole('link', { name: 'Anmelden', exact: true })).toHaveCount(0)
})

/** Also inside its card, where the page need not scroll. */
async function expectFitsInCards(page: Page) {
  await expectFits(page)
  const wider = () =>
    page.locator('section time, section button').evaluateAll((elements) =>
      elements.flatMap((element) => {
        const card = element.closest('section')?.getBoundingClientRect()
        return card && element.getBoundingClientRect().right > card.right ? [element.textContent] : []
      }),
    )
  await expect.poll(wider).toEqual([])
}

test('the code and its button fit a phone whose reader has text of twice the size', async ({
  page,
  userWithSession: user,
}) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto('/settings/email')
  await requestChange(page, user)
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Page.setFontSizes', { fontSizes: { standard: 32, fixed: 26 } })
  await page.reload()
  const code = page.getByLabel('Verification code')
  await expect(code).toHaveCSS('font-size', '44px')
  await expectFitsInCards(page)
  // What is wrong stands between the code and a button that has no room beside it.
  await page.setViewportSize({ width: 1280, height: 900 })
  await code.evaluate((field) => field.closest('form')?.style.setProperty('width', '30rem'))
  const verify = page.getByRole('button', { name: 'Verify', exact: true })
  await verify.click()
  const tops = [code, page.getByText('Enter the 6 digits from the latest email.'), verify].map(
    async (shown) => (await shown.boundingBox())?.y ?? Number.NaN,
  )
  const [first = 0, wrong = 0, last = 0] = await Promise.all(tops)
  expect([first < wrong, wrong < last]).toEqual([true, true])
})

test('the sections of the settings take three rows of a phone whose reader has text of twice the size', async ({
  page,
  userWithSession: _,
}) => {
  await page.setViewportSize({ width: 390, height: 844 })
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Page.setFontSizes', { fontSizes: { standard: 32, fixed: 26 } })
  await page.goto('/settings/email')
  const links = page.getByRole('navigation', { name: 'Settings' }).getByRole('link')
  await expect(links).toHaveCount(6)
  const rows = () => links.evaluateAll((all) => new Set(all.map((link) => link.getBoundingClientRect().top)).size)
  await expect.poll(rows).toBe(3)
})

test('the cards of the settings end where header and footer end', async ({ page, userWithSession: _ }) => {
  await page.goto('/settings/password')
  const right = (selector: string) =>
    page.locator(selector).evaluate((element) => {
      const { right } = element.getBoundingClientRect()
      return right - Number.parseFloat(getComputedStyle(element).paddingRight)
    })
  const edge = await right('header > div')
  expect(await right('footer')).toBe(edge)
  expect(await page.locator('main section').evaluate((card) => card.getBoundingClientRect().right)).toBe(edge)
})

test('on a phone, the time of a sign-in and its IP address take a line each', async ({ page, userWithSession: _ }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto('/settings/sessions')
  for (const text of [/^Last confirmed on .*20\d\d/, /^From IP address /]) {
    const lines = () =>
      page
        .getByText(text)
        .evaluate((line) => line.getBoundingClientRect().height / Number.parseFloat(getComputedStyle(line).lineHeight))
    await expect.poll(lines).toBeCloseTo(1, 1)
  }
})

test('the first page leads to every section of the settings, or to its public page', async ({ page }) => {
  await page.goto('/')
  const main = page.getByRole('main')
  await expect(page.getByRole('link', { name: 'Delete account' })).toHaveAttribute('href', '/delete-account')
  for (const section of ['Password', 'Sessions', 'Access tokens', 'Your data'])
    await expect(main.getByRole('link', { name: section })).toBeVisible()
  await main.getByRole('link', { name: 'Your data' }).click()
  await expectSignInPage(page)
})

test('long dates fit the smallest phone', async ({ page, userWithSession: user, operator, baseURL }) => {
  await page.setViewportSize({ width: 320, height: 640 })
  const headers = { Origin: baseURL ?? '' }
  await page.request.post('/api/language', { form: { language: 'es' }, headers })
  await page.goto('/settings/sessions')
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await expectFitsInCards(page)
  // The page of the sessions would lead to the sign-in by itself.
  await page.goto('about:blank')
  const { withdrawal_id, status_token } = await startWithdrawal(operator, user.id)
  await page.goto(`/withdrawal/${withdrawal_id}#token=${status_token}`)
  await expect(page.locator('time').first()).toBeVisible()
  await expectFitsInCards(page)
})

test('no page sends a request to another host', async ({ page, signedInUser: _ }) => {
  const foreign: string[] = []
  const origin = new URL(page.url()).origin
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) foreign.push(request.url())
  })
  for (const path of ['/', '/settings/email', '/settings/password', '/forgot-password', '/docs/api', '/dev/mailbox'])
    await page.goto(path)
  expect(foreign).toEqual([])
})

test('the not-found page shows who is signed in', async ({ page, userWithSession }) => {
  expect((await page.goto('/no-such-page'))?.status()).toBe(404)
  await page.getByRole('button', { name: 'Account menu' }).click()
  await expect(page.getByText(userWithSession.email)).toBeVisible()
})

test('a settings section that loads slowly is marked as loading', async ({ page, signedInUser: _ }) => {
  const section = page.getByRole('link', { name: 'Sessions' })
  const isMarked = () => section.evaluate((link) => link.querySelector('span') !== null)
  let answer = () => {}
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  await page.route('**/settings/sessions?_rsc=*', async (route) => {
    await answered
    await route.continue()
  })
  await expect.poll(isMarked).toBe(false)
  await section.click()
  await expect.poll(isMarked).toBe(true)
  answer()
  await expect(page.getByRole('heading', { level: 1, name: 'Sessions' })).toBeVisible()
  await expect.poll(isMarked).toBe(false)
})

test('the settings fit the smallest phone, and a dialog does not shift the page', async ({
  page,
  userWithSession: _,
}) => {
  await page.goto('/settings/sessions')
  const heading = page.getByRole('heading', { level: 1 })
  const before = await heading.boundingBox()
  await page
    .getByRole('button', { name: /^Sign out/ })
    .first()
    .click()
  await expect(page.getByRole('dialog')).toBeVisible()
  await expect.poll(async () => (await heading.boundingBox())?.x).toBe(before?.x)
  await page.keyboard.press('Escape')
  await page.setViewportSize({ width: 320, height: 640 })
  const sections = page.getByRole('navigation', { name: 'Settings' })
  await expect.poll(() => sections.evaluate((nav) => nav.scrollWidth - nav.clientWidth)).toBe(0)
})

test('every form that asks for the password names its account', async ({ page, userWithSession }) => {
  for (const section of ['email', 'password', 'access-tokens', 'data', 'withdraw']) {
    await page.goto(`/settings/${section}`)
    const form = page.locator('form').filter({ has: page.getByLabel('Current password') })
    await expect(form.locator('input[autocomplete="username"]')).toHaveValue(userWithSession.email)
  }
})
