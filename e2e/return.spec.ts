import { expect, expectAccessible, signInByForm, test } from './fixtures'
import { DEMO_URL } from './service-urls'

test.use({ baseURL: DEMO_URL })

// components/session/return-target.test.ts names every address that is no way back.
const BACK = 'myshop://settings?from=accounts'

test('L33 somebody who comes from the app finds the way back, also after the sign-in, on other pages and after a reload', async ({
  page,
  user,
}) => {
  await signInByForm(page, user, `/settings?return_to=${encodeURIComponent(BACK)}`)
  const back = page.getByRole('link', { name: 'Back to the app' })
  await expect(back).toHaveAttribute('href', BACK)
  await expectAccessible(page)
  await page.getByRole('navigation').getByRole('link', { name: 'Sessions' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Sessions' })).toBeVisible()
  await expect(back).toHaveAttribute('href', BACK)
  await page.reload()
  await expect(back).toHaveAttribute('href', BACK)

  await page.goto('/settings/withdraw?return_to=https://shop.example.test/account')
  await expect(page.getByRole('link', { name: 'Back to shop.example.test' })).toHaveAttribute(
    'href',
    'https://shop.example.test/account',
  )
})
