import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { listening } from '@/testing/listening'
import {
  bearer,
  createUser,
  expect,
  expectFits,
  expectGoodInEachLook,
  inEachLook,
  makeOperator,
  signIn,
  startWithdrawal,
  test,
} from './fixtures'
import { IMPATIENT_URL } from './service-urls'

/** A day passes in two seconds on this instance. */
const at = (path: string) => `${IMPATIENT_URL}${path}`

test('B109 the person reads of an application that still has the data until it confirms, and the operator has it told again', async ({
  page,
  operator,
  user,
  browser,
}) => {
  const leaver = await createUser(operator)
  const name = `Liar ${leaver.id.slice(-6)}`
  let present = true
  const application = createServer(async (request, response) => {
    const { type, data } = (await json(request)) as { type: string; data: { account: string } }
    response.end(type === 'account.absence_check' ? JSON.stringify({ present, account: data.account }) : '')
  })
  const endpoint = `http://127.0.0.1:${await listening(application)}/`
  const { app_id = '' } = await operator.run('app', 'register', '--name', name, '--endpoint', endpoint, '--confirms')
  await operator.run('app', 'connect', '--user', leaver.id, '--app', app_id, '--subject', 'subject-4711')
  const { withdrawal_id: id, status_token: token } = await startWithdrawal(operator, leaver.id, IMPATIENT_URL)

  await page.goto(at(`/withdrawal/${id}#token=${token}`))
  const states = page.getByRole('listitem').filter({ hasText: name })
  await expect(states.getByText('Not confirmed')).toBeVisible()
  await expect(states.first()).toContainText('It still has your data. Our support has to decide', { timeout: 30_000 })
  await expect(page.getByRole('heading', { name: 'Your account is being deleted' })).toBeVisible()
  await expectGoodInEachLook(page)

  await makeOperator(operator, user)
  const admin = await (await browser.newContext()).newPage()
  await signIn(admin, user, IMPATIENT_URL)
  await admin.goto(at(`/admin/withdrawals/${id}`))
  const row = admin.getByRole('row').filter({ has: admin.getByRole('link', { name }) })
  await expect(row.getByText('Still has the person', { exact: true })).toBeVisible()
  await expectGoodInEachLook(admin)
  present = false
  await row.getByRole('button', { name: /^Retry/ }).click()

  await expect(page.getByRole('heading', { name: /^Your account was deleted/ })).toBeVisible({ timeout: 30_000 })
  await expect(states.getByText('Confirmed', { exact: true })).toBeVisible()
  const answer = await fetch(at(`/api/v1/withdrawals/${id}/receipts`), {
    headers: bearer(token, 'account:manage'),
  })
  const receipts: { receipt: string }[] = (await answer.json()).data.receipts
  await page.goto(at('/receipt'))
  await page.getByRole('textbox').fill(receipts.at(-1)?.receipt ?? '')
  await expect(page.getByText('confirmed that no data is left')).toBeVisible()
  await inEachLook(page, () => expectFits(page))
  application.close()
  await admin.context().close()
})
