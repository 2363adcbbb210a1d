import type { Browser, Page } from '@playwright/test'
import {
  bearer,
  codeIn,
  enterCode,
  expect,
  expectAccessible,
  expectSignInPage,
  type Inbox,
  linkIn,
  requestChange,
  scan,
  signIn,
  submitSignIn,
  test,
  type User,
} from './fixtures'
import { DEMO_URL } from './service-urls'

const CHANGED = 'Email Address Changed'
const REQUESTED = 'Email change requested'
const MINE = 'a new password of mine'

const newPage = async (browser: Browser): Promise<Page> => (await browser.newContext()).newPage()

/** The thief, who knows the password, moves the account to another mailbox. */
async function steal(thief: Page, user: User, inbox: Inbox) {
  const stolen = `thief-${user.email}`
  await signIn(thief, user)
  await requestChange(thief, user, stolen)
  const mail = await inbox.latest(stolen, 'Verify Your New Email Address')
  await enterCode(thief, codeIn(mail))
  await expect(thief.getByText('We emailed your old address. For 7 days, the link there can undo this.')).toBeVisible()
  await expect(thief.getByText(stolen).first()).toBeVisible()
  return stolen
}

test('B46 the owner takes a stolen account back with the old mailbox alone, by keyboard and on a phone', async ({
  browser,
  user,
  inbox,
}) => {
  const [thief, owner] = [await newPage(browser), await newPage(browser)]
  await owner.setViewportSize({ width: 390, height: 844 })
  const stolen = await steal(thief, user, inbox)
  const mail = await inbox.latest(user.email, CHANGED)
  expect((await inbox.latest(stolen, CHANGED)).text).not.toContain('not-me')
  await owner.goto(linkIn(mail, '/not-me'))
  await expect(owner.getByRole('heading', { level: 1, name: 'Wasn’t this you? Undo the change' })).toBeVisible()
  await expect(owner.getByText(user.email).first()).toBeVisible()
  await owner.getByText('When, and from where').click()
  await expect(owner.getByText(/^Chrome on /)).toBeVisible()
  await expectAccessible(owner)

  await owner.getByLabel('New password').focus()
  await owner.keyboard.type(MINE)
  await owner.keyboard.press('Enter')
  await expect(owner.getByRole('status').filter({ hasText: 'The change was undone' })).toBeFocused()
  await expect(owner).not.toHaveURL(/nme_/)
  await expectAccessible(owner)

  await thief.goto('/settings/email')
  await expect(thief.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible()
  for (const email of [stolen, user.email]) {
    await submitSignIn(thief, { email, password: user.password })
    await expect(thief.getByText('Incorrect email or password')).toBeVisible()
  }
  await owner.getByRole('link', { name: 'Sign in' }).last().click()
  await expect(owner.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible()
  await expect(owner.getByLabel('Email', { exact: true })).toHaveValue(user.email)
  await signIn(owner, { ...user, password: MINE })
  await expect(owner.getByText(user.email).first()).toBeVisible()
  for (const address of [user.email, stolen]) await inbox.latest(address, 'Email change undone')

  // Whoever undid it may have come by the mailbox alone.
  await owner.goto('/settings/withdraw')
  await expect(
    owner.getByText(
      'A change of the address was undone. The wait is there so that nobody deletes the account in your place.',
    ),
  ).toBeVisible()
  await expect(owner.getByRole('button', { name: 'Check again' })).toHaveCount(0)
  await expectAccessible(owner)

  await owner.goto(linkIn(mail, '/not-me'))
  await expect(owner.getByRole('heading', { level: 1, name: 'This link no longer works' })).toBeVisible()
})

test('B46 a person who signs in at the identity provider takes the account back without a password, also when somebody asks for its deletion', async ({
  browser,
  operator,
  request,
  inbox,
}) => {
  const { service_token } = await operator.run('service-token', 'create', '--name', 'shop', '--scope', 'users:write')
  const externalId = `customer-${Date.now()}`
  const [email, stolen] = [`${externalId}@example.test`, `thief-${externalId}@example.test`]
  for (const address of [email, stolen]) {
    const answer = await request.put(`${DEMO_URL}/api/v1/admin/users/${externalId}`, {
      headers: bearer(service_token, 'users:write'),
      data: { email: address, name: 'Ida Lovelace', email_verified: true },
    })
    expect(answer.ok()).toBe(true)
  }
  const owner = await newPage(browser)
  await owner.setViewportSize({ width: 390, height: 844 })
  const requested = await request.post(`${DEMO_URL}/api/v1/withdrawal-requests`, { data: { email: stolen } })
  expect(requested.status()).toBe(202)
  await inbox.latest(stolen, 'Sign in to delete your account')
  await owner.goto(linkIn(await inbox.latest(email, 'Before you delete your account'), '/not-me'))
  await expect(owner.getByRole('heading', { level: 1, name: 'Wasn’t this you? Undo the change' })).toBeVisible()
  await expect(owner.getByLabel(/password/i)).toHaveCount(0)
  await expectAccessible(owner)

  const press = owner.getByRole('button', { name: 'Undo the change' })
  await press.click()
  const isSure = owner.getByRole('checkbox')
  await expect(isSure).toBeFocused()
  await expect(isSure).toHaveAccessibleDescription(/\S/)
  await expectAccessible(owner)
  await owner.keyboard.press('Space')
  await press.click()
  const done = owner.getByRole('status').filter({ hasText: 'The change was undone' })
  await expect(done).toBeFocused()
  await expect(done).toContainText(email)
  await expect(owner.getByText(/password/i)).toHaveCount(0)
  await expectAccessible(owner)
  await owner.getByRole('link', { name: 'Sign in' }).last().click()
  await expect(owner.getByRole('button', { name: 'Sign in with Demo ID' })).toBeVisible()
})

test('B11 a scanner that opens the link to the old address and presses every button undoes nothing', async ({
  browser,
  page,
  signedInUser: user,
  inbox,
}) => {
  await requestChange(page, user)
  const link = linkIn(await inbox.latest(user.email, REQUESTED), '/not-me')
  const scanner = await scan(browser, link, 'Wasn’t this you? Stop the change')
  await page.reload()
  await expect(page.getByRole('heading', { name: 'Pending change' })).toBeVisible()

  // The owner stops it, for whom the link still works.
  await scanner.getByLabel('New password').fill(MINE)
  await scanner.getByRole('button', { name: 'Stop the change' }).click()
  await expect(scanner.getByRole('heading', { level: 1, name: 'The change was stopped' })).toBeVisible()
  await page.reload()
  await expect(page.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible()
})

test('the page says whether a link is incomplete or no longer works', async ({ page }) => {
  for (const [fragment, title] of [
    ['', 'This link isn’t complete'],
    ['#change=ecr_x&token=nme_x', 'This link isn’t complete'],
    [`#change=ecr_${'A'.repeat(22)}&token=nme_${'A'.repeat(43)}`, 'This link no longer works'],
    // A press leaves this mark in the fragment.
    ['#done', 'This link no longer works'],
  ] as const) {
    await page.goto('about:blank')
    await page.goto(`/not-me${fragment}`)
    await expect(page.getByRole('heading', { level: 1, name: title })).toBeVisible()
    await expectAccessible(page)
  }
})

test('B89 the owner signs a stranger out with the mail about the sign-in, and a known browser brings no mail', async ({
  browser,
  user,
  inbox,
}) => {
  const subject = 'New sign-in to your account'
  const [own, stranger, owner] = [await newPage(browser), await newPage(browser), await newPage(browser)]
  // The first sign-in ever, a sign-out, and the same browser again: its cookie outlives the sign-out.
  for (let time = 0; time < 2; time++) {
    await signIn(own, user)
    const cookies = await own.context().cookies()
    expect(cookies.find(({ name }) => name.endsWith('device'))?.value).toMatch(/^[\w-]{43}$/)
    await own.goto('/settings/sessions')
    await own.getByRole('button', { name: /^Sign out Chrome/ }).click()
    await own.getByRole('button', { name: 'Yes, sign out' }).click()
    await expectSignInPage(own)
  }
  expect((await inbox.all(user.email)).map((mail) => mail.subject)).not.toContain(subject)

  await signIn(stranger, user)
  const mail = await inbox.latest(user.email, subject)
  expect(mail.text).toContain('127.0.0.1')
  await owner.goto(linkIn(mail, '/not-me'))
  await expect(owner.getByRole('heading', { level: 1, name: 'Wasn’t this you? Sign everyone out' })).toBeVisible()
  await expect(owner.getByText(/^Chrom\w+ on /)).toBeVisible()
  await expectAccessible(owner)
  await stranger.goto('/settings/sessions')
  await expect(stranger.getByText('Signed in', { exact: true })).toBeVisible()

  await owner.getByLabel('New password').fill('password')
  await expect(owner.getByLabel('New password')).toHaveAccessibleDescription(/most used passwords/)
  await owner.getByLabel('New password').fill(MINE)
  await owner.getByRole('button', { name: 'Sign everyone out' }).click()
  await expect(owner.getByRole('heading', { level: 1, name: 'Your account is secured' })).toBeVisible()
  await expectAccessible(owner)
  await stranger.goto('/settings/sessions')
  await expect(stranger.getByText('Your session has ended')).toBeVisible()
  await signIn(owner, { ...user, password: MINE })

  const again = await newPage(browser)
  await again.goto(linkIn(mail, '/not-me'))
  await expect(again.getByText(/a new password was set by email/)).toBeVisible()
})
