import { Cluster } from '@/testing/cluster'
import { Instance } from '@/testing/instance'
import { textsOf } from '@/testing/message-texts'
import { Operator } from '@/testing/operator'
import {
  test as base,
  createUser,
  expect,
  expectAccessible,
  makeOperator,
  signIn,
  startWithdrawal,
  submitSignIn,
  type User,
} from './fixtures'

/** An instance on a PostgreSQL of the test's own, and somebody who can sign in there. */
const test = base.extend<{ cluster: Cluster; instance: Instance; user: User }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures a function uses from this pattern
  cluster: async ({}, use) => {
    // The cluster ends with the fixture.
    const cluster = await Cluster.start({ onTestFinished: () => {} })
    await use(cluster)
    await cluster.goDown('fast')
  },
  instance: async ({ cluster }, use) => {
    const instance = await Instance.start(settingsOf(cluster))
    await use(instance)
    await instance.stop()
  },
  user: async ({ cluster }, use) => {
    const operator = new Operator(settingsOf(cluster))
    await use(await createUser(operator))
    await operator.close()
  },
})

const settingsOf = ({ dataDir, place }: Cluster) => ({ DATA_DIR: dataDir, DATABASE_URL: place.databaseUrl })

const [en, de, ja] = [textsOf('en'), textsOf('de'), textsOf('ja')]
const WITHOUT_DATABASE = { '/': 200, '/sign-in': 200, '/forgot-password': 200, '/receipt': 200, '/nowhere': 404 }

test('F5 while PostgreSQL is away, a person who is signed in gets every page in their language, or a page that says why not', async ({
  browser,
  cluster,
  instance,
  page,
  user,
}) => {
  await signIn(page, user, instance.url)
  await page.goto(instance.url)
  await expect(page).toHaveURL(`${instance.url}/settings/email`)
  const storageState = await page.context().storageState()
  await cluster.goDown('fast')
  const session = await page.request.get(`${instance.url}/api/auth/session`)
  expect([session.status(), session.headers()['set-cookie']]).toEqual([503, undefined])

  // What was typed is refused with one text.
  await page.getByRole('button', { name: en.EmailSettings.changeTitle }).click()
  await page.getByLabel(en.EmailSettings.newEmail).fill(`new-${user.email}`)
  await page.getByLabel(en.Identity.currentPassword).fill(user.password)
  await page.getByRole('button', { name: en.EmailSettings.submit }).click()
  await expect(page.getByRole('alert').filter({ hasText: /./ })).toHaveText(en.Errors.codes.SERVER_002)
  await page.goto(`${instance.url}/sign-in`)
  await submitSignIn(page, user)
  await expect(page.getByRole('alert').filter({ hasText: /./ })).toHaveText(en.SignIn.away)

  for (const [locale, { Failure }] of Object.entries({ en, de, ja })) {
    const context = await browser.newContext({ baseURL: instance.url, locale, storageState })
    const visit = await context.newPage()
    const refused: string[] = []
    visit.on('console', (message) => /Content Security Policy/.test(message.text()) && refused.push(message.text()))
    for (const [path, status] of Object.entries(WITHOUT_DATABASE)) {
      const answer = await context.request.get(path, { headers: { 'Accept-Language': locale } })
      expect([path, answer.status()]).toEqual([path, status])
      expect(await answer.text()).toMatch(
        new RegExp(`<html lang="${locale}".*<title>.*User Account Service</title>`, 's'),
      )
    }
    const answer = await visit.goto('/settings/email')
    expect([answer?.status(), answer?.headers()['retry-after']]).toEqual([503, '5'])
    await expect(visit.getByRole('heading', { level: 1, name: Failure.serverTitle })).toBeVisible()
    await expect(visit.getByText(Failure.awayHint)).toBeVisible()
    await expect(visit.locator('html')).toHaveAttribute('lang', locale)
    await expect(visit).toHaveTitle(/User Account Service/)
    if (locale === 'ja') {
      await expectAccessible(visit)
      await expect(visit.getByRole('link', { name: 'サポートにお問い合わせください' })).toHaveAttribute(
        'href',
        /^mailto:/,
      )
      // What it says stays until the page opens again.
      const isRead = Promise.withResolvers<void>()
      await visit.route('/settings/email', async (route) => {
        await isRead.promise
        await route.continue()
      })
      await cluster.comeUp()
      await expect(visit.getByText(Failure.awayBack)).toBeVisible({ timeout: 30_000 })
      isRead.resolve()
      await expect(visit.getByText(user.email, { exact: true }).first()).toBeVisible()
    }
    expect(refused).toEqual([])
    await context.close()
  }
})

test('while PostgreSQL is away an operator reads so on the overview and in a dialog, until it is back', async ({
  cluster,
  instance,
  page,
  user,
}) => {
  const operator = new Operator(settingsOf(cluster))
  await makeOperator(operator, user)
  const { app_id } = await operator.run('app', 'register', '--name', 'Shop', '--endpoint', 'http://127.0.0.1:9/')
  await operator.close()
  await signIn(page, user, instance.url)
  const overview = await page.context().newPage()
  await overview.goto(`${instance.url}/admin`)
  await page.goto(`${instance.url}/admin/apps/${app_id}`)
  await page.getByRole('button', { name: 'Disable', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await cluster.goDown('fast')
  await expect(overview.getByText(/^The database does not answer, .+ This page is as it was at/)).toBeVisible({
    timeout: 30_000,
  })
  await expectAccessible(overview)
  await dialog.getByRole('button', { name: 'Disable' }).click()
  const alert = dialog.getByRole('alert')
  await expect(alert).toHaveText('The database does not answer, so nothing was done. Try again once it is back.')
  await cluster.comeUp()
  await expect(alert).toHaveText(en.Errors.back, { timeout: 30_000 })
  await expect(overview.getByText('The database does not answer')).toBeHidden({ timeout: 30_000 })
})

test('while the mail server is away, whoever asks for a link reads that it may take longer', async ({
  cluster,
  page,
}) => {
  const instance = await Instance.start({ ...settingsOf(cluster), SMTP_URL: 'smtp://127.0.0.1:9' })
  await page.goto(`${instance.url}/forgot-password`)
  await page.getByLabel(en.Passwords.email).fill('nobody@example.test')
  await page.getByRole('button', { name: en.Passwords.sendLink }).click()
  await expect(page.getByText(en.Common.mailLate)).toBeVisible()
  await page.goto(`${instance.url}/delete-account`)
  await page.getByLabel(en.DeletionPage.email).fill('nobody@example.test')
  await page.getByRole('button', { name: en.DeletionPage.send }).click()
  await expect(page.getByText(en.Common.mailLate)).toBeVisible()
  await instance.stop()
})

test('the focus follows a row that a refresh moves into another part of the overview', async ({
  cluster,
  page,
  user,
}) => {
  // A task is due within seconds, and late after a minute and a half.
  const instance = await Instance.start({ ...settingsOf(cluster), WITHDRAWAL_TIME_SCALE: '0.001' })
  const operator = new Operator(settingsOf(cluster))
  await makeOperator(operator, user)
  const { app_id = '' } = await operator.run('app', 'register', '--name', 'Poller', '--poll', '--audience', 'everyone')
  const { id } = await createUser(operator)
  const { withdrawal_id: withdrawalId } = await startWithdrawal(operator, id, instance.url)
  await signIn(page, user, instance.url)
  await page.goto(`${instance.url}/admin`)
  const stop = { name: `Stop waiting for the task of Poller for ${withdrawalId}` }
  await page.getByRole('table', { name: 'Other deletion tasks' }).getByRole('button', stop).focus({ timeout: 60_000 })
  await operator.run('app', 'disable', app_id)
  const moved = page.getByRole('table', { name: 'Deletions that wait for Poller' }).getByRole('button', stop)
  await expect(moved).toBeFocused({ timeout: 30_000 })
  await moved.press('Enter')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('radio').first().check()
  await dialog.getByRole('button', { name: 'Stop waiting' }).click()
  await expect(page.locator(':focus')).toHaveText(`Stopped waiting for the task of Poller for ${withdrawalId}.`)
  await operator.close()
  await instance.stop()
})
