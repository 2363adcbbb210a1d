import { createToken } from '@/testing/operator'
import {
  bearer,
  codeIn,
  createUser,
  enterCode,
  expect,
  expectAccessible,
  makeOperator,
  requestChange,
  signIn,
  startSession,
  test,
  type User,
} from './fixtures'
import { BOUNCE_SECRET, DEMO_URL } from './service-urls'

/** Reports a bounce, as a mail provider does. */
async function bounce(id: string, to: string) {
  const { status } = await fetch(`${DEMO_URL}/api/v1/mail-events/postmark`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Basic ${btoa(BOUNCE_SECRET)}` },
    body: JSON.stringify({ RecordType: 'Bounce', Type: 'HardBounce', Email: to, Metadata: { delivery: id } }),
  })
  expect(status).toBe(200)
}

/** The pending change, and the places left in the hourly limit. */
async function statusOf({ id }: User, token: string) {
  const headers = { ...bearer(token, 'email:manage'), 'Content-Type': 'application/json' }
  const at = `${DEMO_URL}/api/v1/users/${id}/email`
  const { pending_change: pending } = (await (await fetch(`${at}/status`, { headers })).json()).data
  const body = JSON.stringify({ new_email: `x-${id}@example.test`, current_password: 'not the password' })
  const refused = await fetch(`${at}/change`, { method: 'POST', headers, body })
  const [, left] = /"change";r=(\d+)/.exec(refused.headers.get('RateLimit') ?? '') ?? []
  return { left: Number(left), pending }
}

const CAME_BACK = 'This mailbox doesn’t exist, or takes no mail'
const CODE_SENT = 'We emailed this address. Enter the 6‑digit code, or open the link.'

test.use({ baseURL: DEMO_URL })

test('B57 a message that comes back shows on the open page, that try does not count, and a button corrects a slip', async ({
  page,
  signedInUser: user,
  operator,
}) => {
  const token = await createToken(operator, user.id)
  const [wrong, right] = [`new-${user.id}@gmial.com`, `new-${user.id}@gmail.com`]
  const alert = page.getByText(CAME_BACK)
  await requestChange(page, user, wrong)
  await expect(page.getByText(CODE_SENT)).toBeVisible()
  const { left, pending } = await statusOf(user, token)
  expect([left, pending.delivery]).toEqual([2, 'sent'])

  await bounce(pending.change_request_id, wrong)
  await expect(alert).toBeVisible()
  await expect(page.getByText(`Our email to ${wrong} came back.`)).toBeVisible()
  await expect(page.getByText(CODE_SENT)).toBeHidden()
  await expect(page.getByLabel('Verification code')).toBeHidden()
  expect((await statusOf(user, token)).left).toBe(3)
  await expect(page.getByLabel('New email')).toHaveValue(wrong)
  await expect(page.getByText(`Did you mean ${right}?`)).toBeVisible()
  await expectAccessible(page)

  await page.getByLabel('New email').fill(right)
  await expect(page.getByText('Did you mean')).toBeHidden()
  // While the field still has the focus, so that nobody presses the button before they can read it.
  await page.getByLabel('New email').fill(wrong)
  await page.getByRole('button', { name: 'Use this address' }).click()
  await expect(page.getByLabel('New email')).toHaveValue(right)
  await requestChange(page, user, right)
  await expect(alert).toBeHidden()
  await bounce(pending.change_request_id, wrong)
  const after = await statusOf(user, token)
  expect([after.left, after.pending.new_email, after.pending.delivery]).toEqual([2, right, 'sent'])
})

test('an account whose own address takes no mail says so on its pages and to operators, until a late code proves it', async ({
  browser,
  page,
  operator,
  inbox,
}) => {
  const [user, chief] = await Promise.all([createUser(operator, { verified: false }), createUser(operator)])
  const banner = page.getByText('Our emails to your address come back')
  await signIn(page, user)
  await page.getByRole('button', { name: 'Verify this address' }).click()
  await page.getByLabel('Current password').filter({ visible: true }).fill(user.password)
  await page.getByRole('button', { name: 'Send verification' }).filter({ visible: true }).click()
  await expect(page.getByText(CODE_SENT)).toBeVisible()
  const token = await createToken(operator, user.id)
  const { pending } = await statusOf(user, token)
  await bounce(pending.change_request_id, user.email)
  await expect(page.getByText(CAME_BACK)).toBeVisible()
  await page.reload()
  await expect(banner).toBeVisible()
  await expectAccessible(page)

  await makeOperator(operator, chief)
  const admin = await (await browser.newContext()).newPage()
  await startSession(admin, chief, DEMO_URL)
  await admin.goto(`${DEMO_URL}/admin`)
  await admin.getByRole('link', { name: 'Reach these people another way.' }).click()
  await admin.getByRole('link', { name: user.id }).click()
  await expect(admin.getByText('Address is verified').locator('..')).toHaveText(/No$/)
  await expect(admin.getByText('Returned mail').locator('..')).toHaveText(/Yes: reach the person another way$/)

  await page.getByText('It arrived after all?').click()
  await enterCode(page, codeIn(await inbox.latest(user.email, /^\d{6} is your .+ code$/)))
  await expect(page.getByText('Your address is verified')).toBeVisible()
  await expect(banner).toBeHidden()
})
