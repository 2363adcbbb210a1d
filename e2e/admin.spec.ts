import { createServer } from 'node:http'
import { listening } from '@/testing/listening'
import {
  createUser,
  expect,
  expectAccessible,
  expectFits,
  signIn,
  startSession,
  startWithdrawal,
  test,
} from './fixtures'
import { IMPATIENT_URL } from './service-urls'

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

  await operator.run('user', 'set-role', '--user', user.id, '--role', 'operator')
  await page.goto(at('/admin'))
  await expect(page.getByRole('heading', { level: 1, name: 'Operations' })).toBeVisible()
  expect(await operator.run('user', 'set-role', '--user', user.id, '--role', 'none')).toEqual({
    user_id: user.id,
    role: 'none',
  })
  await page.reload()
  await expect(page.getByRole('heading', { name: 'This page doesn’t exist' })).toBeVisible()
})

test('an operator sees an application that does not answer, and can retry it', async ({ browser, operator, user }) => {
  await operator.run('user', 'set-role', '--user', user.id, '--role', 'operator')
  const leaver = await createUser(operator)
  const name = `Calendar ${leaver.id.slice(-6)}`
  let status = 503
  const application = createServer((_request, response) => response.writeHead(status, { 'Retry-After': '3600' }).end())
  const port = await listening(application)
  const endpoint = `http://127.0.0.1:${port}/`
  const { app_id = '' } = await operator.run('app', 'register', '--name', name, '--endpoint', endpoint)
  await operator.run('app', 'connect', '--user', leaver.id, '--app', app_id, '--subject', 'subject-4711')
  const { withdrawal_id: withdrawalId } = await startWithdrawal(operator, leaver.id, IMPATIENT_URL)

  const page = await (await browser.newContext({ colorScheme: 'light' })).newPage()
  await startSession(page, user, IMPATIENT_URL)
  await page.goto(at('/admin'))
  const table = page.getByRole('table', { name: `Deletions that wait for ${name}` })
  const row = table.getByRole('row').filter({ has: page.getByRole('link', { name: withdrawalId }) })
  // The page refreshes itself.
  await expect(row).toBeVisible({ timeout: 30_000 })
  await expect(row.getByText('Connected apps')).toBeVisible()
  await expect(row.getByText('1 attempt, last answer HTTP 503, next try in 1 hour')).toBeVisible()
  for (const personal of [leaver.id, leaver.email, leaver.name, 'subject-4711']) {
    await expect(page.locator('main')).not.toContainText(personal)
  }
  await expectAccessible(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  await expectAccessible(page)
  await page.setViewportSize({ width: 390, height: 844 })
  await expectAccessible(page)
  await expectFits(page)

  status = 204
  await expect(row).toBeVisible()
  await row.getByRole('button', { name: `Retry the task of ${name}` }).click()
  await expect(row).toBeHidden()
  await expect(page.getByText(`Tried again: the task of ${name}.`)).toBeVisible()
  application.close()
  await page.context().close()
})
