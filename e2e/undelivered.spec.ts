import type { Page } from '@playwright/test'
import { bounceOf } from '@/testing/bounce'
import { expect, expectAccessible, test, type User } from './fixtures'
import { BOUNCE_SECRET, DEMO_URL } from './service-urls'

/** As a mail server hands a bounce on. */
async function bounce(id: string, to: string) {
  const { status } = await fetch(`${DEMO_URL}/api/v1/mail-events/dsn`, {
    method: 'POST',
    headers: { 'Content-Type': 'message/rfc822', Authorization: `Bearer ${BOUNCE_SECRET}` },
    body: bounceOf(`${id}@localhost`, to),
  })
  expect(status).toBe(200)
}

/** The change that is pending, and how many more this hour has. A change that is refused says so. */
async function statusOf({ id }: User, token = '') {
  const headers = {
    Authorization: `Bearer ${token}`,
    'X-Required-Scope': 'email:manage',
    'Content-Type': 'application/json',
  }
  const at = `${DEMO_URL}/api/v1/users/${id}/email`
  const { pending_change: pending } = (await (await fetch(`${at}/status`, { headers })).json()).data
  const body = JSON.stringify({ new_email: `x-${id}@example.test`, current_password: 'not the password' })
  const refused = await fetch(`${at}/change`, { method: 'POST', headers, body })
  const [, left] = /"change";r=(\d+)/.exec(refused.headers.get('RateLimit') ?? '') ?? []
  return { left: Number(left), pending }
}

async function ask(page: Page, user: User, address: string) {
  await page.getByLabel('New email').fill(address)
  await page.getByLabel('Current password').fill(user.password)
  await page.getByRole('button', { name: 'Send verification' }).click()
  await expect(page.getByRole('heading', { name: 'Pending change' })).toBeVisible()
}

test.use({ baseURL: DEMO_URL })

test('B57 a message that comes back shows on the open page, that try does not count, and a button corrects a slip', async ({
  page,
  signedInUser: user,
  operator,
}) => {
  const { access_token } = await operator.run('token', 'create', '--user', user.id, '--scope', 'email:manage')
  const [wrong, right] = [`new-${user.id}@gmial.com`, `new-${user.id}@gmail.com`]
  const alert = page.getByText('This mailbox doesn’t exist, or takes no mail')
  await ask(page, user, wrong)
  const { left, pending } = await statusOf(user, access_token)
  expect([left, pending.delivery]).toEqual([2, 'sent'])

  await bounce(pending.change_request_id, wrong)
  await expect(alert).toBeVisible()
  await expect(page.getByText(`Our email to ${wrong} came back.`)).toBeVisible()
  expect((await statusOf(user, access_token)).left).toBe(3)
  await expect(page.getByLabel('New email')).toHaveValue(wrong)
  await expect(page.getByText(`Did you mean ${right}?`)).toBeVisible()
  await expectAccessible(page)

  await page.getByRole('button', { name: 'Use this address' }).click()
  await expect(page.getByLabel('New email')).toHaveValue(right)
  await ask(page, user, right)
  await expect(alert).toBeHidden()
  await bounce(pending.change_request_id, wrong)
  const after = await statusOf(user, access_token)
  expect([after.left, after.pending.new_email, after.pending.delivery]).toEqual([2, right, 'sent'])
})
