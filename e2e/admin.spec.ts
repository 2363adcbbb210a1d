import { spawnSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { Page } from '@playwright/test'
import { listening } from '@/testing/listening'
import type { Operator } from '@/testing/operator'
import {
  bearer,
  createUser,
  expect,
  expectAccessible,
  expectFitsLarge,
  expectGoodInEachLook,
  inEachLook,
  makeOperator,
  signIn,
  startSession,
  startWithdrawal,
  test,
  type User,
} from './fixtures'
import { DATA_DIR, IMPATIENT_URL } from './service-urls'

/** Steps are due within seconds on this instance. */
const at = (path: string) => `${IMPATIENT_URL}${path}`

test('the admin page does not exist for anyone but operators', async ({ page, operator, user }) => {
  await page.goto(at('/admin'))
  await expect(page).toHaveURL(at('/sign-in?next=/admin'))
  await signIn(page, user, IMPATIENT_URL)
  const answer = await page.goto(at('/admin'))
  expect(answer?.status()).toBe(404)
  await expect(page).toHaveTitle(/^Page not found/)
  await expect(page.getByRole('heading', { name: 'This page doesn’t exist' })).toBeVisible()

  await makeOperator(operator, user)
  await page.goto(at('/admin'))
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible()
  expect(await operator.run('user', 'set-role', '--user', user.id, '--role', 'none')).toEqual({
    user_id: user.id,
    role: 'none',
  })
  await page.reload()
  await expect(page.getByRole('heading', { name: 'This page doesn’t exist' })).toBeVisible()
})

test('B128 an id that finds nothing says so to an operator and leads back, and to nobody else', async ({
  page,
  operator,
  user,
}) => {
  const unknown = ['/admin/users/usr_none', '/admin/withdrawals/wd_none', '/admin/apps/app_none'].map(at)
  await signIn(page, user, IMPATIENT_URL)
  for (const url of unknown) {
    expect((await page.goto(url))?.status()).toBe(404)
    await expect(page.getByRole('heading', { level: 1, name: 'This page doesn’t exist' })).toBeVisible()
    await expect(page.locator('div[lang]')).toHaveCount(0)
  }
  await makeOperator(operator, user)
  for (const url of unknown) {
    expect((await page.goto(url))?.status()).toBe(404)
    await expect(page.getByRole('heading', { level: 1, name: 'Nothing has this ID' })).toBeVisible()
    await expect(page).toHaveTitle(/^Nothing has this ID/)
    await expectAccessible(page)
    await page.getByRole('link', { name: 'Back to the overview' }).click()
    await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible()
  }
  expect((await page.goto(at('/admin/nope')))?.status()).toBe(404)
  await expect(page.getByRole('heading', { level: 1, name: 'There is no such page' })).toBeVisible()
})

test('an operator sees an application that does not answer, retries it, and stops waiting for it', async ({
  browser,
  operator,
  user,
}) => {
  await makeOperator(operator, user)
  const [leaver, other] = [await createUser(operator), await createUser(operator)]
  const name = `Calendar ${leaver.id.slice(-6)}`
  let status = 503
  const application = createServer((_request, response) => response.writeHead(status, { 'Retry-After': '3600' }).end())
  const port = await listening(application)
  const endpoint = `http://127.0.0.1:${port}/`
  const { app_id = '' } = await operator.run('app', 'register', '--name', name, '--endpoint', endpoint)
  await operator.run('app', 'connect', '--user', leaver.id, '--app', app_id, '--subject', 'subject-4711')
  await operator.run('app', 'connect', '--user', other.id, '--app', app_id, '--subject', 'subject-4712')
  const { withdrawal_id: withdrawalId } = await startWithdrawal(operator, leaver.id, IMPATIENT_URL)
  const { withdrawal_id: otherId } = await startWithdrawal(operator, other.id, IMPATIENT_URL)

  const page = await (await browser.newContext()).newPage()
  await startSession(page, user, IMPATIENT_URL)
  await page.goto(at('/admin'))
  const table = page.getByRole('table', { name: `Deletions that wait for ${name}` })
  const row = table.getByRole('row').filter({ has: page.getByRole('link', { name: withdrawalId }) })
  // The page refreshes itself.
  await expect(row).toBeVisible({ timeout: 30_000 })
  await expect(row.getByText('Failing')).toBeVisible()
  await expect(row.getByText('1 attempt, last result HTTP 503, next try in 1 hour')).toBeVisible()
  await expect(
    page.getByText(/No good answer to an open deletion task since .+ \(\d minutes? ago\): HTTP 503\./),
  ).toBeVisible()
  await expect(page.locator('#needs-attention').getByRole('link', { name: withdrawalId })).toBeVisible()
  // The rows above say it.
  await expect(page.getByText('Deletion steps that fail')).toHaveCount(0)
  for (const personal of [leaver.id, leaver.email, leaver.name, 'subject-4711']) {
    await expect(page.locator('main')).not.toContainText(personal)
  }
  await expectGoodInEachLook(page)
  await inEachLook(page, () => expectFitsLarge(page))
  await row.getByRole('button', { name: `Retry the task of ${name} for ${withdrawalId}` }).click()
  await expect(row.getByText('1 task failed again: HTTP 503.')).toBeVisible()
  await expect(row.getByText(/Retried by hand on .+\. 2 attempts, last result HTTP 503, next try/)).toBeVisible()

  await followCause(page, withdrawalId, name)
  await page.getByRole('button', { name: 'Pause' }).click()
  await expect(page.getByText('Paused.')).toBeVisible()
  await page.getByRole('button', { name: 'Refresh again' }).click()

  // Without a network the page stays, and says how old it is.
  await page.context().setOffline(true)
  await expect(page.getByText('You are offline, or the service does not answer.')).toBeVisible()
  await expect(row).toBeVisible()
  await page.context().setOffline(false)
  await expect(page.getByText('You are offline, or the service does not answer.')).toBeHidden()

  status = 204
  await expect(row).toBeVisible()
  await row.getByRole('button', { name: `Retry the task of ${name} for ${withdrawalId}` }).click()
  await expect(row).toBeHidden()
  await expect(page.getByText(`No longer fails: the task of ${name} for ${withdrawalId}.`)).toBeVisible()

  status = 503
  await disableAfterRetry(page, app_id, name)
  await stopWaiting(page, app_id, name)
  await page.goto(at(`/admin/withdrawals/${otherId}`))
  const step = page.getByRole('row', { name: /^Connected apps/ })
  await expect(step).toContainText('1 connection to an app', { timeout: 30_000 })
  await expect(step).toContainText('1 app has not confirmed')
  await expect(page.getByText('1 app has not confirmed')).toHaveCount(2)
  const act = page.getByRole('table', { name: 'Audit log' }).getByRole('row', { name: /^Stopped waiting/ })
  await expect(act.getByRole('link', { name })).toBeVisible()
  await expect(act.getByText('You', { exact: true })).toBeVisible()
  // Its last step comes seconds later.
  await expect(page.getByRole('term').filter({ hasText: /^Completed$/ })).toBeVisible({ timeout: 30_000 })
  await page.goto(at('/admin/withdrawals?state=completed'))
  await expect(page.getByRole('row', { name: otherId })).toContainText('1 app has not confirmed')
  application.close()
  await page.context().close()
})

test('an operator disables an application, sees the deletion that waits for it, and enables it again', async ({
  page,
  operator,
  user,
}) => {
  await makeOperator(operator, user)
  const leaver = await createUser(operator)
  const name = `Archive ${leaver.id.slice(-6)}`
  const application = createServer((_request, response) => response.writeHead(204).end())
  const host = `127.0.0.1:${await listening(application)}`
  const { app_id = '' } = await operator.run('app', 'register', '--name', name, '--endpoint', `http://${host}/`)
  await operator.run('app', 'connect', '--user', leaver.id, '--app', app_id, '--subject', 'subject-4713')
  await signIn(page, user, IMPATIENT_URL)
  await page.goto(at(`/admin/apps/${app_id}`))
  await page.getByRole('button', { name: `Ping ${host}` }).click()
  await expect(page.getByText('It answered HTTP 204')).toBeVisible()
  await page.getByRole('button', { name: 'Rotate secret' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
  const secret = page.locator(':focus').filter({ hasText: 'It is shown only once.' })
  await expect(secret).toBeInViewport({ ratio: 1 })
  await expect(secret.getByRole('button', { name: 'Copy the signing secret' })).toBeVisible()
  await page.getByRole('button', { name: 'Disable', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: `Disable ${name}?` })
  await dialog.getByRole('button', { name: 'Disable' }).click()
  await expect(page.getByText(`Disabled: ${name}.`)).toBeVisible()
  await expect(page.getByText('It answered HTTP 204')).toHaveCount(0)
  await expect(page.getByText('It is told nothing, and deletions wait for it until it is enabled.')).toHaveCount(1)
  page.once('dialog', (question) => question.dismiss())
  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByRole('button', { name: 'I have copied it' }).click()
  await expect(page.getByText('It is shown only once.')).toHaveCount(0)
  await expect(page.getByText('Disabled', { exact: true })).toBeVisible()
  await expectAccessible(page)

  const { withdrawal_id: withdrawalId } = await startWithdrawal(operator, leaver.id, IMPATIENT_URL)
  await page.goto(at('/admin'))
  const row = page
    .getByRole('table', { name: `Deletions that wait for ${name}` })
    .getByRole('row')
    .filter({ has: page.getByRole('link', { name: withdrawalId }) })
  await expect(row.getByText('Disabled')).toBeVisible({ timeout: 30_000 })
  await expect(page.getByRole('link', { name: withdrawalId })).toHaveCount(1)
  await row.getByRole('button', { name: /^Stop waiting/ }).click()
  const waive = page.getByRole('dialog')
  await expect(waive.getByText('It has not been asked yet: that waits until it is enabled.')).toBeVisible()
  await expect(waive.getByText('We got no confirmation from it')).toBeVisible()
  await waive.getByRole('button', { name: 'Keep waiting' }).click()
  await page.getByRole('button', { name: `Enable ${name}` }).click()
  await expect(page.getByText(`Enabled: ${name}.`)).toBeVisible()
  await expect(row).toBeHidden()
  await page.getByRole('link', { name: 'Apps' }).click()
  await expect(page.getByRole('row', { name })).toContainText('Nothing fails or is late')

  application.close()
  await page.goto(at(`/admin/apps/${app_id}`))
  const acts = page.getByRole('table', { name: 'Audit log' }).getByRole('rowheader')
  await expect(acts).toHaveText(['App enabled', 'App disabled', 'App secret rotated', 'App registered'])
  await page.getByRole('button', { name: `Ping ${host}` }).click()
  await expect(page.getByText(`Connection refused: nothing listens at ${host} (ECONNREFUSED)`)).toBeVisible()
  await expectAccessible(page)
  const env = { ...process.env, DATA_DIR }
  const ping = spawnSync(process.execPath, ['scripts/account.mjs', 'app', 'ping', app_id], { env, encoding: 'utf8' })
  expect([ping.status, JSON.parse(ping.stdout).problem, ping.stderr]).toEqual([1, 'ECONNREFUSED', ''])
})

test('an operator ends what holds a deletion back on the page of the account', async ({
  page,
  browser,
  operator,
  user,
}) => {
  await makeOperator(operator, user)
  const debtor = await createUser(operator)
  const bill = ['--title', 'Order 7', '--amount', '12.50EUR', '--url', 'https://shop.example.com/orders/7']
  const { transaction_id = '' } = await operator.run('transaction', 'add', '--user', debtor.id, ...bill)
  await holdBack(operator, debtor)
  await signIn(await (await browser.newContext()).newPage(), debtor, IMPATIENT_URL)
  await signIn(page, user, IMPATIENT_URL)
  await page.goto(at('/admin'))
  const search = page.getByLabel('Find a deletion, person or app')
  const ready = '/api/health/ready'
  await page.route(`**${ready}`, (route) => route.abort())
  await page.route('**/look-up', (route) => route.abort(), { times: 1 })
  await search.fill(transaction_id.slice(0, 12))
  await search.press('Enter')
  await expect(search).toHaveAccessibleDescription(/did not answer/)
  await page.unroute(`**${ready}`)
  await expect(search).toHaveAccessibleDescription('')
  await search.press('Enter')
  await expect(page.locator(':focus')).toHaveText(`Order 7 ${transaction_id}`)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`${debtor.name} ${debtor.id}`)
  const link = page.getByRole('link', { name: 'shop.example.com' })
  await expect(link).toHaveAttribute('href', 'https://shop.example.com/orders/7')
  await expectGoodInEachLook(page)
  await expectFitsLarge(page)

  await page.getByText('Commands for this account').click()
  const command = (words: string) => page.getByText(` ${words} --user ${debtor.id}`)
  for (const words of ['user send-reset', 'session end']) await expect(command(words)).toBeVisible()
  await expect(command('withdrawal start')).toHaveCount(0)
  await expect(
    page.getByText('first end what holds that back, below: 1 pending transaction and 1 blocker.'),
  ).toBeVisible()
  await expectGoodInEachLook(page)
  await expectFitsLarge(page)

  const refused = { success: false, error: { code: 'REAUTH_001', message: '', details: '' } }
  await page.route('**/transactions/*/end', (route) => route.fulfill({ status: 401, json: refused }), { times: 1 })
  await page.getByRole('button', { name: 'Settle Order 7' }).click()
  const dialog = page.getByRole('dialog', { name: 'Settle Order 7, €12.50?' })
  await dialog.getByRole('button', { name: 'Settle', exact: true }).click()
  await expect(page).toHaveURL(/\/sign-in\?again=1/)
  await expect(page.getByLabel('Email')).toHaveValue(user.email)
  await page.goto(at(`/admin/users/${debtor.id}`))
  await dialog.getByRole('button', { name: 'Keep it pending' }).click()
  // Closing the dialog that has opened itself gives the act up.
  await expect(page.getByText(/^Your last act needed a fresh sign-in and was not done/)).toHaveCount(0)
  await page.getByRole('button', { name: 'Settle Order 7' }).click()
  await dialog.getByRole('button', { name: 'Settle', exact: true }).click()
  await expect(page.getByText('Settled: Order 7.')).toBeVisible()
  await expect(page.getByText('No transaction is pending.')).toBeVisible()
  await page.getByRole('button', { name: 'End Invoice 4711 is not paid (4711)' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'End it' }).click()
  await expect(page.getByText('Ended: Invoice 4711 is not paid (4711).')).toBeVisible()
  await expect(page.getByText('Nothing holds a deletion back.')).toBeVisible()
  await page.reload()
  await page.getByText('Commands for this account').click()
  await expect(command('withdrawal start')).toBeVisible()
  const acts = page.getByRole('table', { name: 'Audit log' })
  const ended = acts.getByRole('row', { name: /^No longer held back/ })
  await expect(ended).toContainText('billing: unpaid_invoice (4711)')
  await expect(acts.getByText('You', { exact: true }).first()).toBeVisible()
  await page.getByRole('button', { name: 'Sign out everywhere' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click()
  await expect(page.locator(':focus')).toHaveText('Signed out everywhere: 1 session and 0 access tokens ended.')
  await expect(page.getByRole('rowheader', { name: 'Signed out everywhere' })).toBeVisible()
  await expectAccessible(page)
})

test('an operator whose sign-in is old learns it before choosing', async ({ page, operator, user }) => {
  await makeOperator(operator, user)
  const { app_id } = await operator.run('app', 'register', '--name', 'Old', '--endpoint', 'http://127.0.0.1:9/')
  await signIn(page, user, IMPATIENT_URL)
  await page.clock.install()
  await page.goto(at(`/admin/apps/${app_id}`))
  const ask = () => page.getByRole('button', { name: 'Rotate secret' }).click()
  const dialog = page.getByRole('dialog')
  const note = dialog.getByText('This needs a sign-in of the last ten minutes.')
  await ask()
  await expect(dialog.getByText('The new secret is shown once.')).toBeVisible()
  await expect(note).toHaveCount(0)
  await dialog.getByRole('button', { name: 'Keep the secret' }).click()
  await page.clock.fastForward('10:01')
  await ask()
  await expect(note).toBeVisible()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Sign in again' }).click()
  await expect(page).toHaveURL(/\/sign-in\?again=1&next=%2Fadmin%2Fapps/)
  await page.goto(at(`/admin/apps/${app_id}`))
  await expect(dialog.getByText('The new secret is shown once.')).toBeVisible()
  const undone = page.getByText(/^Your last act needed a fresh sign-in and was not done/)
  await expect(undone).toHaveCount(1)
  // An act whose sign-in was given up is not told on another page, nor later on its own.
  await dialog.getByRole('button', { name: 'Sign in again' }).click()
  await expect(page).toHaveURL(/\/sign-in\?again=1/)
  await page.goto(at('/admin'))
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible()
  await page.getByRole('button', { name: 'Pause' }).click()
  await expect(page.getByText('Paused.')).toBeVisible()
  await expect(undone).toHaveCount(0)
  await page.goto(at(`/admin/apps/${app_id}`))
  await ask()
  await expect(note).toBeVisible()
  await expect(undone).toHaveCount(0)
})

/** From the overview to the deletion, whose first card says what it waits for, and back. */
async function followCause(page: Page, withdrawalId: string, name: string): Promise<void> {
  await page.getByRole('link', { name: withdrawalId }).click()
  const cause = page.getByText(new RegExp(`^Waits for ${name}: HTTP 503, no good answer since .+, 2 attempts\\.$`))
  await cause.getByRole('link', { name }).click()
  await expect(page.locator(':target')).toHaveText(name)
  await page.goBack()
  await page.goBack()
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible()
}

/** The end of a retry of an application that is disabled is no success. */
async function disableAfterRetry(page: Page, appId: string, name: string): Promise<void> {
  await page.goto(at(`/admin/apps/${appId}`))
  await page.getByRole('button', { name: `Retry the task of ${name} for wd_` }).click()
  // The answer may come before the page is looked at.
  await expect(page.getByText(/What failed is tried again within a minute\.|1 task failed again/)).toBeVisible()
  await page.getByRole('button', { name: 'Disable', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
  await expect(page.getByText('App is disabled')).toBeVisible()
  await expect(page.getByText(`Disabled: ${name}.`)).toBeVisible()
  await page.getByRole('button', { name: `Enable ${name}` }).click()
  await expect(page.getByText(`Enabled: ${name}.`)).toBeVisible()
}

/** Stops waiting for the only deletion that waits for an application, on its page. */
async function stopWaiting(page: Page, appId: string, name: string): Promise<void> {
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.goto(at(`/admin/apps/${appId}`))
  await page.getByRole('button', { name: /^Stop waiting/ }).click()
  const dialog = page.getByRole('dialog')
  // The buttons of a row stand at its end, and their dialog is inside the row.
  await expect(dialog).toHaveCSS('text-align', 'start')
  await dialog.getByRole('button', { name: 'Stop waiting' }).click()
  await expect(dialog.getByText('Choose what the person reads.')).toBeVisible()
  await expect(dialog.getByRole('radio').first()).toBeFocused()
  await dialog.getByText('We got no confirmation from it. It may still have your data, so ask there.').click()
  const read = `${name}: Not confirmed. We got no confirmation from it. It may still have your data, so ask there. We stopped waiting on`
  await expect(dialog.getByText(read)).toBeVisible()
  await expect(dialog.getByText(`One app has not confirmed. ${name}: has not confirmed`)).toBeVisible()
  await expectAccessible(page)
  const refused = { success: false, error: { code: 'REAUTH_001', message: '', details: '' } }
  await page.route('**/waive', (route) => route.fulfill({ status: 401, json: refused }), { times: 1 })
  await dialog.getByRole('button', { name: 'Stop waiting' }).click()
  await expect(page).toHaveURL(/\/sign-in\?again=1/)
  await page.goto(at(`/admin/apps/${appId}`))
  await expect(dialog.getByText(read)).toBeVisible()
  await expect(dialog.getByRole('radio', { checked: true })).toBeFocused()
  await dialog.getByRole('button', { name: 'Stop waiting' }).click()
  await expect(page.getByText('No deletion waits for it.')).toBeVisible()
  await expect(page.locator(':focus')).toHaveText(new RegExp(`^Stopped waiting for the task of ${name} for wd_`))
}

/** As a service of the adopter. */
async function holdBack(operator: Operator, { id, email, name }: User): Promise<void> {
  const { service_token } = await operator.run('service-token', 'create', '--name', 'billing', '--scope', 'users:write')
  const put = (path: string, body: object) =>
    fetch(at(`/api/v1/admin/users/customer-${id}${path}`), {
      method: 'PUT',
      headers: { ...bearer(service_token, 'users:write'), 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  expect((await put('', { user_id: id, email, name })).status).toBe(200)
  expect((await put('/blockers/4711', { code: 'unpaid_invoice', title: 'Invoice 4711 is not paid' })).status).toBe(200)
}
