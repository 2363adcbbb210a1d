import type { Page } from '@playwright/test'
import { bearer, codeIn, expect, expectAccessible, test } from './fixtures'
import { DEMO_PROVIDER_URL, DEMO_URL } from './service-urls'

const PROVIDER = 'Demo ID'

test.use({ baseURL: DEMO_URL })
test.describe.configure({ mode: 'serial' })

/** Chooses a person at the demo provider, which stands in for the adopter's own. */
async function choose(page: Page, person: RegExp) {
  await expect(page.getByRole('heading', { name: 'Demo identity provider' })).toBeVisible()
  await expect(page).toHaveURL((url) => url.href.startsWith(DEMO_PROVIDER_URL))
  await page.getByRole('button', { name: person }).click()
}

async function signIn(page: Page, { at = '/sign-in', as = /Ida Demo/ } = {}) {
  await page.goto(at)
  await page.getByRole('button', { name: `Sign in with ${PROVIDER}` }).click()
  await choose(page, as)
}

async function confirm(page: Page) {
  await page.getByRole('button', { name: `Confirm with ${PROVIDER}` }).click()
  await choose(page, /Ida Demo/)
  await expect(page.getByText('You’ve confirmed that it’s you.')).toBeVisible()
}

test('the sign-in page says that this service does not know a person whom the provider knows', async ({ page }) => {
  await signIn(page, { as: /Sam Stranger/ })
  // The page opens itself once more, with the path that was asked for.
  await expect(page).toHaveURL(/\/sign-in\?error=NoAccount&next=/)
  await expect(page.getByRole('alert').filter({ hasText: 'isn’t linked to one here' })).toBeVisible()
  await expectAccessible(page)
})

test('the sign-in page says that a sign-in was cancelled at the provider', async ({ page }) => {
  await signIn(page, { as: /Cancel/ })
  await expect(page.getByRole('alert').filter({ hasText: 'It was cancelled' })).toBeVisible()
})

test('after a cancelled sign-in the next one leads to the page that was asked for, with the fragment of its link', async ({
  page,
}) => {
  await signIn(page, { at: '/sign-in?next=/settings/sessions#request=x&code=y', as: /Cancel/ })
  await expect(page.getByRole('alert').filter({ hasText: 'It was cancelled' })).toBeVisible()
  await expect(page).toHaveURL(/next=%2Fsettings%2Fsessions#request=x&code=y$/)
  await page.getByRole('button', { name: `Sign in with ${PROVIDER}` }).click()
  await choose(page, /Ida Demo/)
  await expect(page).toHaveURL(/\/settings\/sessions#request=x&code=y$/)
})

test('a person who begins to sign in at the provider in two tabs finishes both, the older one first', async ({
  page,
}) => {
  const other = await page.context().newPage()
  const begin = async (tab: Page, path: string) => {
    await tab.goto(`/sign-in?next=${path}`)
    await tab.getByRole('button', { name: `Sign in with ${PROVIDER}` }).click()
    await expect(tab.getByRole('heading', { name: 'Demo identity provider' })).toBeVisible()
  }
  await begin(page, '/settings/sessions')
  await begin(other, '/settings/data')
  await choose(page, /Ida Demo/)
  await expect(page).toHaveURL(/\/settings\/sessions$/)
  await choose(other, /Ida Demo/)
  await expect(other).toHaveURL(/\/settings\/data$/)
  // A page that asks who is signed in must not bring the cookie of an earlier session back.
  const session = await page.request.get('/api/auth/session')
  expect(await session.json()).toHaveProperty('accessToken')
  expect(session.headers()).not.toHaveProperty('set-cookie')
  await page.reload()
  await expect(page.getByRole('heading', { level: 1, name: 'Sessions' })).toBeVisible()
})

test('a confirmation that is cancelled, or made by another person, confirms nothing and signs nobody else in', async ({
  page,
}) => {
  await signIn(page)
  await forgetFreshness(page)
  for (const [who, sentence] of [
    [/Sam Stranger/, 'with a different account'],
    [/Cancel/, 'You cancelled'],
  ] as const) {
    await page.goto('/settings/access-tokens')
    await page.getByRole('button', { name: `Confirm with ${PROVIDER}` }).click()
    await choose(page, who)
    await expect(page.getByRole('alert').filter({ hasText: sentence })).toBeVisible()
    await expect(page.getByRole('button', { name: `Confirm with ${PROVIDER}` })).toBeVisible()
    await expectAccessible(page)
  }
})

test('a person without a password changes the address, creates a token and withdraws', async ({ page, inbox }) => {
  const newEmail = `ida-${Date.now()}@example.test`
  await signIn(page)
  await forgetFreshness(page)

  await page.goto('/settings/email')
  await page.getByRole('button', { name: 'Change address' }).click()
  await page.getByLabel('New email').fill(newEmail)
  await page.getByRole('button', { name: 'Send verification' }).click()
  await expect(page.getByRole('alert').filter({ hasText: `First confirm with ${PROVIDER}` })).toBeVisible()
  await expectAccessible(page)
  await confirm(page)
  // What was typed before is still there.
  await expect(page.getByLabel('New email')).toHaveValue(newEmail)
  await page.getByRole('button', { name: 'Send verification' }).click()
  await page.getByLabel('Verification code').fill(codeIn(await inbox.latest(newEmail, 'Verify Your New Email Address')))
  await expect(page.getByText(newEmail).first()).toBeVisible()

  // A confirmation for one purpose is not valid for another.
  await page.goto('/settings/access-tokens')
  await page.getByLabel('Name').fill('Nightly export')
  await page.getByLabel('Read and change your email address').check()
  await confirm(page)
  await expect(page.getByLabel('Name')).toHaveValue('Nightly export')
  await page.getByRole('button', { name: 'Create token' }).click()
  await expect(page.getByText(/uat_[\w-]{43}/).first()).toBeVisible()

  await page.goto('/settings/withdraw')
  await page.getByText('Optional: tell us why, or have some data kept longer').click()
  await page.getByLabel('Another reason').check()
  await page.getByLabel('Tell us more').fill('It was only a demo.')
  await confirm(page)
  await expect(page.getByLabel('Tell us more')).toHaveValue('It was only a demo.')
  await expect(page.getByLabel('Tell us more')).toBeVisible()
  await expect(page.getByLabel('to confirm')).toBeFocused()
  await page.getByLabel('to confirm').fill('delete my account')
  await page.getByRole('button', { name: 'Delete my account' }).click()
  await expect(page).toHaveURL(/\/withdrawal\/wd_/)
})

/** Makes the confirmation count for another purpose only, so that the next action needs a new one. */
async function forgetFreshness(page: Page) {
  await expect(page.getByRole('heading', { level: 1, name: 'Email address' })).toBeVisible()
  const { user, accessToken } = await (await page.request.get('/api/auth/session')).json()
  const answer = await page.request.post(`/api/v1/users/${user.id}/reauthentication`, {
    headers: bearer(accessToken, 'account:manage'),
    data: { purpose: 'withdraw' },
  })
  await page.goto((await answer.json()).data.authorization_url)
  await choose(page, /Ida Demo/)
  await expect(page.getByRole('heading', { level: 1, name: 'Delete account' })).toBeVisible()
  await expect(page.getByText('You’ve confirmed that it’s you.')).toBeVisible()
}
