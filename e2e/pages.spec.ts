import { expect, expectAccessible, signIn, test } from './fixtures'

for (const colorScheme of ['light', 'dark'] as const) {
  for (const viewport of [
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
  ]) {
    test(`no page has an accessibility fault or a sideways scroll (${colorScheme}, ${viewport.width} px)`, async ({
      browser,
      baseURL,
      user,
    }) => {
      const context = await browser.newContext({ colorScheme, viewport, baseURL })
      const page = await context.newPage()
      const check = async (path: string) => {
        await page.goto(path)
        await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
        await expectAccessible(page)
        const overflow = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        )
        expect(overflow, `sideways scroll on ${path}`).toBe(0)
      }
      for (const path of [
        '/',
        '/sign-in',
        '/verify-email',
        '/docs/api',
        '/dev/mailbox',
        '/withdrawal/wd_unknown',
        '/no-such-page',
      ]) {
        await check(path)
      }
      await signIn(page, user)
      for (const path of ['/settings/email', '/settings/withdraw', '/verify-email']) await check(path)
      await context.close()
    })
  }
}

test('no page asks anyone else for anything', async ({ page, signedInUser }) => {
  const foreign: string[] = []
  const origin = new URL(page.url()).origin
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) foreign.push(request.url())
  })
  for (const path of ['/', '/settings/email', '/settings/withdraw', '/docs/api', '/dev/mailbox']) await page.goto(path)
  expect(foreign).toEqual([])
  expect(signedInUser.email).toContain('@')
})
