import type { Page } from '@playwright/test'
import { textsOf } from '@/testing/message-texts'
import {
  chooseLanguage,
  codeIn,
  expect,
  expectAccessible,
  makeOperator,
  requestChange,
  signInByForm,
  test,
  type User,
} from './fixtures'

const de = textsOf('de')
const en = textsOf('en')

const signInInGerman = (page: Page, user: User) => signInByForm(page, user, '/sign-in', de)

test.describe('with a browser that asks for German', () => {
  test.use({ locale: 'de-DE' })

  test('a person signs in and changes the address in German, and mails keep the language of the account', async ({
    page,
    user,
    inbox,
  }) => {
    const newEmail = `neu-${user.email}`
    await signInInGerman(page, user)
    await expect(page.locator('html')).toHaveAttribute('lang', 'de')
    await requestChange(page, user, newEmail, de)
    // The account has no language, and a mail never uses that of the caller.
    const mail = await inbox.latest(newEmail, en.Mails.verifyNewEmail.subject)
    await page.getByLabel(de.EmailSettings.codeLabel).fill(codeIn(mail))
    await expect(page.getByRole('heading', { name: `Ihre E-Mail-Adresse ist jetzt ${newEmail}` })).toBeVisible()
    await expectAccessible(page)
  })

  test('a page that exists in English alone has an English header and footer', async ({ page, user, operator }) => {
    await page.goto('/docs/api')
    await expect(page.getByRole('banner').getByRole('link', { name: en.Common.signIn })).toBeVisible()
    await makeOperator(operator, user)
    await signInInGerman(page, user)
    await page.getByRole('button', { name: de.Common.accountMenu }).click()
    await expect(page.getByRole('link', { name: 'Operations' })).toHaveAttribute('lang', 'en')
    for (const path of ['/docs/api', '/dev/mailbox', '/admin', '/admin/withdrawals', `/admin/users/${user.id}`]) {
      await page.goto(path)
      const spoken = page.locator('[lang=en]', { has: page.getByRole('heading', { level: 1 }) })
      await expect(spoken.getByRole('contentinfo')).toContainText(en.Common.accessibility)
      await expect(spoken.getByRole('contentinfo')).not.toContainText(de.Common.accessibility)
      // On this page the control would change nothing.
      for (const texts of [de, en])
        await expect(page.getByRole('button', { name: new RegExp(`^${texts.Common.language}`) })).toBeHidden()
    }
    await expect(page.locator('main time').first()).toHaveText(/^\d{1,2} [A-Z][a-z]+ \d{4}/)
    await page.goto('/docs/api')
    await page.getByRole('button', { name: en.Common.accountMenu }).click()
    await expect(page.getByRole('banner').getByText(user.email)).toBeVisible()
    await expect(page.getByText(`export USER_ID=${user.id}`)).toBeVisible()
  })

  test('a choice of language that does not arrive says so, and the control shows the language of the page', async ({
    page,
  }) => {
    await page.route('**/api/language', (route) => route.abort())
    await page.goto('/sign-in')
    await chooseLanguage(page, 'fr', de)
    await expect(page.getByRole('contentinfo').getByRole('alert')).toHaveText(de.Errors.rules.noConnection)
    await expect(page.getByRole('button', { name: new RegExp(`^${de.Common.language}`) })).toContainText('Deutsch')
    await page.unroute('**/api/language')
    await page.route('**/api/language', (route) => route.fulfill({ status: 503 }))
    await chooseLanguage(page, 'fr', de)
    await expect(page.getByRole('contentinfo').getByRole('alert')).toHaveText(de.Errors.page)
    await expectAccessible(page)
  })

  test('a distance in time has the exact time in its title', async ({ page, user, operator }) => {
    await operator.run('token', 'create', '--user', user.id, '--scope', 'email:manage')
    await signInInGerman(page, user)
    await page.goto('/settings/access-tokens')
    const time = page
      .locator('main time')
      .filter({ hasText: /^in \d+ Tagen/ })
      .first()
    await expect(time).toHaveAttribute(
      'title',
      /^(?:[A-Z][a-z]+tag|Mittwoch), \d{1,2}\. [A-Z][a-zä]+ \d{4} um \d{2}:\d{2}:\d{2}/,
    )
  })

  test('a date inside a sentence is in the language of the sentence', async ({ page, user }) => {
    await signInInGerman(page, user)
    await page.goto('/settings/withdraw')
    await page.getByText(de.DeleteAccount.detailsTitle).click()
    await expect(page.getByText(/all das am \d{1,2}\. [A-Z][a-zä]+ \d{4} gelöscht/)).toBeVisible()
    await page.goto('/settings/sessions')
    await expect(page.getByText(/Zuletzt bestätigt am \d{1,2}\.\d{2}\.\d{4}/)).toBeVisible()
  })
})

test('the language control changes the language of pages and mails, and a sign-out keeps it', async ({
  page,
  signedInUser: user,
  inbox,
}) => {
  await chooseLanguage(page, 'de')
  await expect(page.getByRole('heading', { level: 1, name: de.EmailSettings.title })).toBeVisible()
  await expect(page.getByRole('contentinfo').getByRole('status')).toHaveText(de.Common.languageOfMails)
  await requestChange(page, user, `neu-${user.email}`, de)
  await inbox.latest(`neu-${user.email}`, /^\d{6} ist Ihr Code für .+: neue E-Mail-Adresse bestätigen$/)
  await inbox.latest(user.email, de.Mails.emailChangeRequested.subject)

  await page.getByRole('button', { name: de.Common.accountMenu }).click()
  await page.getByRole('button', { name: de.Common.signOut }).click()
  await expect(page.getByRole('heading', { level: 1, name: de.Common.signIn })).toBeVisible()
  await page.reload()
  await expect(page.locator('html')).toHaveAttribute('lang', 'de')
  await signInInGerman(page, user)
})

test('a language that is chosen where an account is deleted stays on the way to the sign-in', async ({ page }) => {
  await page.goto('/delete-account')
  await page.getByRole('button', { name: /^Language/ }).click()
  await page.getByRole('link', { name: 'Deutsch' }).click()
  await page.getByRole('link', { name: 'Löschen Sie das Konto in den Einstellungen' }).click()
  await expect(page.getByRole('heading', { level: 1, name: de.Common.signIn })).toBeVisible()
})

for (const language of ['de', 'ja'] as const) {
  test(`on the smallest phone no page in ${language} scrolls sideways or cuts the text of a button`, async ({
    page,
    signedInUser: _,
  }) => {
    await page.setViewportSize({ width: 320, height: 640 })
    await chooseLanguage(page, language)
    await expect(page.locator('html')).toHaveAttribute('lang', language)
    for (const path of [
      ...['/forgot-password', '/accessibility', '/receipt'],
      ...['email', 'password', 'sessions', 'access-tokens', 'withdraw'].map((section) => `/settings/${section}`),
    ]) {
      await page.goto(path)
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
      const wide = () =>
        page.evaluate(() =>
          [document.documentElement, ...document.querySelectorAll('button:not(.sr-only)')]
            .filter((element) => element.scrollWidth > element.clientWidth)
            .map((element) => element.outerHTML.slice(0, 200)),
        )
      await expect.poll(wide, { message: path }).toEqual([])
    }
  })
}

test('a change of the language keeps what was typed, and opens no form that was closed', async ({
  page,
  signedInUser: _,
}) => {
  await page.getByRole('button', { name: en.EmailSettings.changeTitle }).click()
  await page.getByLabel(en.EmailSettings.newEmail).fill('typed@example.org')
  await chooseLanguage(page, 'de')
  await expect(page.getByLabel(de.EmailSettings.newEmail)).toHaveValue('typed@example.org')
  await page.getByRole('button', { name: de.EmailSettings.close }).click()
  await chooseLanguage(page, 'en', de)
  await expect(page.getByRole('button', { name: en.EmailSettings.changeTitle })).toBeEnabled()
  await expect(page.getByLabel(en.EmailSettings.newEmail)).toBeHidden()
})

test('the menu of languages stays in view where its button stands at the left of a phone', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 700 })
  await page.goto('/forgot-password')
  const opener = page.getByRole('button', { name: en.Common.language })
  await opener.evaluate((button) => {
    const footer = button.closest('footer')?.firstElementChild
    footer?.append(...[...footer.children].reverse())
    button.parentElement?.style.setProperty('width', '100%')
  })
  await opener.click()
  await expect(page.getByRole('button', { name: 'Deutsch' })).toBeInViewport({ ratio: 1 })
})
