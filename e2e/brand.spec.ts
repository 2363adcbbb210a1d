import type { Page } from '@playwright/test'
import { BRAND, LOGO } from './brand'
import { expect, expectAccessible, linkIn, requestChange, startSession, test } from './fixtures'
import { DEMO_URL } from './service-urls'

test.use({ baseURL: DEMO_URL })

const OURS = 'User Account Service'
const { PRODUCT_NAME: name } = BRAND

async function expectBrand(page: Page, path: string) {
  await page.goto(path)
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await expect(page).toHaveTitle(new RegExp(name))
  expect((await page.content()).includes(OURS), path).toBe(false)
  await expect(page.getByRole('banner').getByRole('link', { name })).toBeVisible()
  const footer = page.getByRole('contentinfo')
  for (const [label, href] of [
    [name, BRAND.PRODUCT_URL],
    ['Support', BRAND.SUPPORT_URL],
    ['Privacy', BRAND.PRIVACY_URL],
    ['Terms', BRAND.TERMS_URL],
  ] as const) {
    await expect(footer.getByRole('link', { name: label, exact: true })).toHaveAttribute('href', href)
  }
}

test('a second brand dresses pages, mails and the OpenAPI document, and nothing has our name', async ({
  page,
  user,
  request,
  inbox,
}) => {
  for (const path of ['/', '/sign-in', '/forgot-password', '/accessibility', '/receipt', '/docs/api', '/no-such-page'])
    await expectBrand(page, path)

  await page.goto('/sign-in')
  const icon = await page.locator('link[rel=icon]').getAttribute('href')
  for (const path of [icon ?? 'no icon', '/brand/logo']) {
    const picture = await request.get(path)
    expect([picture.headers()['content-type'], await picture.text()]).toEqual(['image/svg+xml', LOGO])
  }
  // A mail in a browser is a page of another site.
  expect((await request.get('/brand/logo')).headers()['cross-origin-resource-policy']).toBe('cross-origin')
  await page.emulateMedia({ colorScheme: 'light' })
  await expect(page.getByRole('link', { name: 'Forgot password?' })).toHaveCSS('color', 'rgb(138, 21, 56)')
  await expectAccessible(page)

  await startSession(page, user)
  for (const path of ['/settings/email', '/settings/sessions', '/settings/withdraw']) await expectBrand(page, path)
  await page.goto('/settings/email')
  const newEmail = await requestChange(page, user)
  await expectAccessible(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  await expectAccessible(page)
  const notice = await inbox.latest(user.email, 'Email change requested')
  for (const { html, text } of [await inbox.latest(newEmail, 'Verify Your New Email Address'), notice]) {
    expect((html + text).includes(OURS)).toBe(false)
    expect(html).toContain(`<img alt="" height="28" src="${DEMO_URL}/brand/logo"`)
    for (const link of [BRAND.PRODUCT_URL, BRAND.SUPPORT_URL]) expect(html).toContain(`href="${link}"`)
    expect(text).toContain(`${name} ${BRAND.PRODUCT_URL}`)
    expect(html).toContain(BRAND.ACCENT_COLOR)
  }
  await expectBrand(page, linkIn(notice, '/not-me').replace(DEMO_URL, ''))

  const document = await request.get('/api/v1/openapi.json')
  expect(await document.text()).not.toContain(OURS)
  expect(await document.json()).toMatchObject({
    info: { title: name, termsOfService: BRAND.TERMS_URL, contact: { name, url: BRAND.SUPPORT_URL } },
    servers: [{ url: DEMO_URL }],
  })
})

test('B112 the page /delete-account, settings, refusal, progress and mail name the authority to complain to', async ({
  page,
  user,
  operator,
  inbox,
}) => {
  const { AUTHORITY_NAME, AUTHORITY_URL } = BRAND
  const expectAuthority = async () => {
    await expect(page.getByRole('link', { name: AUTHORITY_NAME }).first()).toHaveAttribute('href', AUTHORITY_URL)
    await expectAccessible(page)
  }
  await page.goto('/delete-account')
  await expectAuthority()
  const pending = ['--status', 'pending', '--title', 'Refund of an order']
  const { transaction_id = '' } = await operator.run('transaction', 'add', '--user', user.id, ...pending)
  await startSession(page, user)
  await page.goto('/settings/withdraw')
  await expect(page.getByRole('heading', { name: 'One payment is still open' })).toBeVisible()
  await expectAuthority()
  await operator.run('transaction', 'settle', transaction_id)
  await page.getByRole('button', { name: 'Check again' }).click()
  await page.getByLabel('Type “delete my account” to confirm').fill('delete my account')
  await expectAuthority()
  await page.getByLabel('Current password').fill(user.password)
  await page.getByRole('button', { name: 'Delete my account' }).click()
  await expect(page.getByText('Your account is being deleted')).toBeVisible()
  await expectAuthority()
  const { html } = await inbox.latest(user.email, 'Account deletion started')
  expect(html).toContain(`href="${AUTHORITY_URL}"`)
})
