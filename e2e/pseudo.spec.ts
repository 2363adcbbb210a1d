import type { APIRequestContext, Page } from '@playwright/test'
import { PSEUDO_LANGUAGE, pseudoTexts as t, textsOf } from '@/testing/message-texts'
import type { Operator } from '@/testing/operator'
import { createUser, expect, expectAccessible, linkIn, signIn, test } from './fixtures'
import { DEMO_URL, IMPATIENT_URL } from './service-urls'

const en = textsOf('en')

test.use({ baseURL: DEMO_URL, locale: PSEUDO_LANGUAGE })

test.beforeEach(({ page }) =>
  page.addInitScript(() =>
    addEventListener('DOMContentLoaded', () => {
      document.documentElement.dir = 'rtl'
    }),
  ),
)

const WIDE = { width: 1280, height: 800 }
const SMALLEST_PHONE = { width: 320, height: 640 }

/** Looks at the whole page, folded parts too. */
async function expectRoom(page: Page) {
  await page.evaluate(() => {
    for (const details of document.querySelectorAll<HTMLDetailsElement>('details:not(:has(> summary[hidden]))'))
      details.open = true
  })
  for (const size of [WIDE, SMALLEST_PHONE]) {
    await page.setViewportSize(size)
    expect(await tooNarrow(page), `${page.url()} at ${size.width} px`).toEqual([])
  }
  // Not in both sizes, because it takes most of the time of this file.
  await expectAccessible(page)
}

/** What is wider than its place, and neither scrolls nor ends in an ellipsis. */
const tooNarrow = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('html, body :not(.sr-only, svg *)')]
      .filter((element) => element.clientWidth > 0 && element.scrollWidth > element.clientWidth)
      .filter((element) => element.checkVisibility() && element.textContent?.trim())
      .filter((element) => {
        const { clipPath, textOverflow } = getComputedStyle(element)
        return !element.closest('.overflow-x-auto') && clipPath === 'none' && textOverflow !== 'ellipsis'
      })
      .map((element) => `${element.scrollWidth - element.clientWidth}: ${element.outerHTML.slice(0, 200)}`),
  )

async function open(page: Page, path: string, title?: string) {
  // Else a page that differs by its fragment alone would not be loaded.
  await page.goto('about:blank')
  await page.goto(path)
  await expect(page.getByRole('heading', { level: 1, name: title })).toBeVisible()
}

async function look(page: Page, path: string, title?: string) {
  await open(page, path, title)
  await expectRoom(page)
}

test('the pages without an account show every text whole in a longer language from right to left', async ({ page }) => {
  await look(page, '/')
  await look(page, '/sign-in?ended=1&error=other&next=/verify-email')
  await look(page, '/no-such-page', t.Failure.notFoundTitle)
  await look(page, '/verify-email', t.VerifyEmail.incompleteTitle)
  await look(page, `/reset-password#token=prt_${'A'.repeat(22)}.${'A'.repeat(43)}`, t.Passwords.noLongerTitle)
  await look(page, '/forgot-password')
  await page.getByLabel(t.Passwords.email).fill('nobody@example.test')
  await page.getByRole('button', { name: t.Passwords.sendLink }).click()
  await expect(page.getByText(t.Passwords.sentTitle)).toBeVisible()
  await expectRoom(page)
})

test('the settings show every text whole in a longer language from right to left', async ({ page, user, inbox }) => {
  await signIn(page, user, '/sign-in', t)
  await expectRoom(page)
  await look(page, '/settings/password')

  const newEmail = `new-${user.email}`
  await open(page, '/settings/email')
  await page.getByLabel(t.EmailSettings.newEmail).fill(newEmail)
  await page.getByLabel(t.Identity.currentPassword).fill(user.password)
  await page.getByRole('button', { name: t.EmailSettings.submit }).click()
  await expect(page.getByRole('heading', { name: t.EmailSettings.pendingTitle })).toBeVisible()
  await page.getByLabel(t.EmailSettings.codeLabel).fill('000000')
  await expect(page.getByLabel(t.EmailSettings.codeLabel)).toHaveAttribute('aria-invalid', 'true')
  await expectRoom(page)
  await page.getByRole('button', { name: t.EmailSettings.cancel }).click()
  await expectRoom(page)

  const linkTo = async (to: string, subject: string, path: string) =>
    linkIn(await inbox.latest(to, subject), path).replace(/^https?:..[^/]*/, '')
  await look(page, await linkTo(newEmail, en.Mails.verifyNewEmail.subject, '/verify-email'), t.VerifyEmail.confirmTitle)
  await look(page, await linkTo(user.email, en.Mails.emailChangeRequested.subject, '/not-me'), t.NotMe.stopTitle)
})

test('the pages of sessions and tokens show every text whole in a longer language from right to left', async ({
  page,
  browser,
  user,
}) => {
  const elsewhere = await browser.newPage({ locale: PSEUDO_LANGUAGE, userAgent: 'curl/8.5.0' })
  await signIn(elsewhere, user, `${DEMO_URL}/sign-in`, t)
  await elsewhere.close()
  await signIn(page, user, '/sign-in', t)
  await look(page, '/settings/sessions')
  await page.getByRole('button', { name: t.Sessions.others }).click()
  await expectRoom(page)

  await open(page, '/settings/access-tokens')
  await page.getByLabel(t.AccessTokens.name, { exact: true }).fill('Nightly export')
  await page.getByLabel(t.AccessTokens.scopes.account).check()
  await page.getByLabel(t.Identity.currentPassword).fill(user.password)
  await page.getByRole('button', { name: t.AccessTokens.create }).click()
  await expect(page.getByText(t.AccessTokens.copyNow)).toBeVisible()
  await expectRoom(page)
  await look(page, '/settings/access-tokens')
})

test('the pages of a deletion show every text whole in a longer language from right to left', async ({
  page,
  operator,
  user,
  request,
}) => {
  const deleted = await startDeletion(request, operator)
  await signIn(page, user, '/sign-in', t)
  await page.getByRole('button', { name: t.Common.accountMenu }).click()
  await expectRoom(page)
  await look(page, '/settings/withdraw')
  await page.getByRole('button', { name: t.DeleteAccount.begin }).click()
  await page.getByLabel(t.DeleteAccount.phrase).fill(t.DeleteAccount.phrase)
  await page.getByLabel(t.Identity.currentPassword).fill(user.password)
  await expectRoom(page)
  await page.getByRole('button', { name: t.DeleteAccount.continue }).click()
  await expect(page.getByRole('dialog')).toBeVisible()
  await expectRoom(page)
  await page.getByRole('button', { name: t.DeleteAccount.confirm }).click()
  await expect(page.getByRole('heading', { name: t.Deletion.progressTitle })).toBeVisible()
  await expectRoom(page)

  const { withdrawal_id: id, status_token: token } = deleted
  await open(page, `/withdrawal/${id}#token=${token}`)
  await expect(page.getByText(t.Deletion.deletedText)).toBeVisible({ timeout: 40_000 })
  await expectRoom(page)
  const answer = await request.get(`/api/v1/withdrawals/${id}/receipts`, { headers: headersOf(token) })
  const receipts: { receipt: string }[] = (await answer.json()).data.receipts
  await open(page, '/receipt')
  await page.getByLabel(t.Receipts.receipt, { exact: true }).fill(receipts.map(({ receipt }) => receipt).join('\n'))
  await expect(page.getByText(t.Receipts.genuine)).toHaveCount(2)
  await expectRoom(page)
})

const headersOf = (token: string) => ({ Authorization: `Bearer ${token}`, 'X-Required-Scope': 'account:manage' })

/** Where the seven days pass in twelve seconds. */
async function startDeletion(request: APIRequestContext, operator: Operator) {
  const { id } = await createUser(operator)
  const { access_token = '' } = await operator.run('token', 'create', '--user', id, '--scope', 'account:manage')
  const answer = await request.post(`${IMPATIENT_URL}/api/v1/users/${id}/withdraw`, {
    headers: headersOf(access_token),
    data: { confirmation: 'DELETE_MY_ACCOUNT' },
  })
  return (await answer.json()).data as { withdrawal_id: string; status_token: string }
}
