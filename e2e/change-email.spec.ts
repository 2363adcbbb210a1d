import type { Page } from '@playwright/test'
import {
  codeIn,
  createUser,
  enterCode,
  expect,
  expectAccessible,
  linkIn,
  requestChange,
  signIn,
  startSession,
  submitSignIn,
  test,
} from './fixtures'
import { IMPATIENT_URL } from './service-urls'

const VERIFY = 'Verify Your New Email Address'
const VERIFY_OWN = /^\d{6} is your .+ code$/
const CHANGED = 'Email Address Changed'

const expectCurrentAddress = (page: Page, address: string): Promise<void> =>
  expect(page.locator('section').filter({ hasText: 'Current address' })).toContainText(address)

test('the link changes the address when its button is pressed, and not before', async ({
  page,
  signedInUser,
  inbox,
}) => {
  const newEmail = await requestChange(page, signedInUser)
  const link = linkIn(await inbox.latest(newEmail, VERIFY), '/verify-email')
  await page.goto(link)
  await expect(page.getByText(newEmail)).toBeVisible()
  await expect(page.getByText(signedInUser.email, { exact: true })).toBeVisible()
  await expectAccessible(page)
  await page.reload()
  const status = await page.context().newPage()
  await status.goto('/settings/email')
  await expect(status.getByRole('heading', { name: 'Pending change' })).toBeVisible()

  await page.getByRole('button', { name: 'Verify my new address' }).click()
  await expect(page.getByRole('button', { name: 'Verify my new address' })).toBeHidden()
  await expectAccessible(page)
  await page.reload()
  await expect(page.getByRole('heading', { name: 'This link has been used' })).toBeVisible()
  await expectAccessible(page)
  await page.goto('about:blank')
  await page.goto(link)
  await expect(page.getByRole('heading', { name: 'Your address is verified' })).toBeVisible()
  await expectAccessible(page)
  const signedOut = await (await page.context().browser()?.newContext())?.newPage()
  if (!signedOut) throw new Error('no browser')
  // Some mail programs write the # as %23.
  await signedOut.goto(link.replace('#', '%23'))
  await expect(signedOut.getByRole('heading', { name: 'This link has been used' })).toBeVisible()
  await expect(signedOut.getByText(/current address|Sign in/)).toBeHidden()
  await expectAccessible(signedOut)
  await signedOut.goto(link.replace(/ecr_[\w-]{22}/, `ecr_${'A'.repeat(22)}`))
  await expect(signedOut.getByRole('heading', { name: 'This link no longer works' })).toBeVisible()
  await status.reload()
  await expectCurrentAddress(status, newEmail)
  await expect(status.getByRole('heading', { name: 'Pending change' })).toBeHidden()
})

test('a person without a session who opens the link signs in and continues on its page', async ({
  page,
  browser,
  signedInUser,
  inbox,
}) => {
  const newEmail = await requestChange(page, signedInUser)
  const link = linkIn(await inbox.latest(newEmail, VERIFY), '/verify-email')

  const elsewhere = await (await browser.newContext()).newPage()
  const requested: string[] = []
  elsewhere.on('request', (request) => requested.push(request.url() + (request.postData() ?? '')))
  await elsewhere.goto(link)
  const masked = signedInUser.email.replace(/(?<=^.)[^@]*/, '••••')
  await expect(elsewhere.getByText(`Sign in with your current address, ${masked}, not with the new one.`)).toBeVisible()
  await expectAccessible(elsewhere)
  await elsewhere.getByText('Sign in to continue').click()
  await expect(elsewhere.getByText(`Sign in with your current address, ${masked}, not with the new one.`)).toBeVisible()
  await expectAccessible(elsewhere)
  await submitSignIn(elsewhere, signedInUser)
  const verify = elsewhere.getByRole('button', { name: 'Verify my new address' })
  await expect(verify).toBeVisible()
  const code = new URL(link.replace('#', '?')).searchParams.get('code') as string
  expect(requested.filter((text) => text.includes(`code=${code}`))).toEqual([])
  await verify.click()
  await expect(verify).toBeHidden()
  await inbox.latest(newEmail, CHANGED)
  // The page that asked says so within seconds, and is still signed in.
  await expect(page.getByText(`Your email address is now ${newEmail}`)).toBeVisible({ timeout: 6_000 })
  await expect(page.locator(':focus')).toContainText('Your email address is now')
  await page.getByRole('button', { name: 'Account menu' }).click()
  await expect(page.getByRole('banner').getByText(newEmail)).toBeVisible()
  await page.reload()
  await expectCurrentAddress(page, newEmail)
})

test('the page reads a link that is opened in the tab of a dead link', async ({ page, signedInUser, inbox }) => {
  const [first, second] = [`one-${signedInUser.email}`, `two-${signedInUser.email}`]
  const settings = await page.context().newPage()
  await settings.goto('/settings/email')
  await requestChange(settings, signedInUser, first)
  await settings.getByRole('button', { name: 'Cancel change' }).click()
  await settings.getByRole('button', { name: 'Yes, cancel the change' }).click()
  await expect(settings.getByText('The change was cancelled')).toBeVisible()
  await page.goto(linkIn(await inbox.latest(first, VERIFY), '/verify-email'))
  await expect(page.getByRole('heading', { name: 'This change was cancelled' })).toBeVisible()

  await requestChange(settings, signedInUser, second)
  const link = linkIn(await inbox.latest(second, VERIFY), '/verify-email')
  await page.goto(link.replace(/\d(?=&as=)/, (digit) => String((Number(digit) + 1) % 10)))
  await expect(page.getByText(second)).toBeVisible()
  await page.getByRole('button', { name: 'Verify my new address' }).click()
  const refusal = page.getByRole('heading', { name: 'This isn’t the latest link' })
  await expect(refusal).toBeVisible()
  await expect(page.getByRole('link', { name: 'Enter the code in settings' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Verify my new address' })).toBeHidden()
  await expectAccessible(page)
  await page.reload()
  await expect(refusal).toBeVisible()
  await page.goto(link)
  await expect(refusal).toBeHidden()
  await page.getByRole('button', { name: 'Verify my new address' }).click()
  await expect(page.getByRole('heading', { name: 'Your email address has been changed' })).toBeVisible()
})

test('a person verifies the current address with one button and the mailed code', async ({ page, operator, inbox }) => {
  const user = await createUser(operator, { verified: false })
  await signIn(page, user)
  await page.getByRole('button', { name: 'Verify this address' }).click()
  const card = page.locator('section').filter({ hasText: 'Current address' })
  await expect(card.getByLabel('Current password')).toBeFocused()
  await card.getByRole('button', { name: 'Send verification' }).click()
  await expect(card.getByLabel('Current password')).toHaveAccessibleDescription(/Enter your current password\.$/)
  await card.getByLabel('Current password').fill(user.password)
  await card.getByRole('button', { name: 'Send verification' }).click()
  await expect(page.getByRole('heading', { name: 'Verify your address' })).toBeVisible()
  await expectAccessible(page)
  await enterCode(page, codeIn(await inbox.latest(user.email, VERIFY_OWN)))
  await expect(page.getByText('Your address is verified')).toBeVisible()
  await expect(card.getByText('Verified', { exact: true })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Verify this address' })).toBeHidden()
  await expectAccessible(page)
})

test('the message and the link for an own address speak of no other address, and end no session', async ({
  page,
  browser,
  operator,
  inbox,
}) => {
  const user = await createUser(operator, { verified: false })
  await signIn(page, user)
  await page.getByRole('button', { name: 'Verify this address' }).click()
  const card = page.locator('section').filter({ hasText: 'Current address' })
  await card.getByLabel('Current password').fill(user.password)
  await card.getByRole('button', { name: 'Send verification' }).click()
  const mail = await inbox.latest(user.email, VERIFY_OWN)
  expect(mail.text).toContain(`You asked to verify ${user.email}`)
  expect(mail.text).not.toMatch(/new address|current address|asked to change/i)

  const elsewhere = await (await browser.newContext()).newPage()
  const masked = user.email.replace(/(?<=^.)[^@]*/, '••••')
  const link = linkIn(mail, '/verify-email')
  await elsewhere.goto(link.replace(/as=.*/, 'as=Call+us+on+555+0100'))
  await expect(elsewhere.getByText('Sign in with the address of your account.')).toBeVisible()
  await expect(elsewhere.getByText('555')).toBeHidden()
  await elsewhere.goto(link)
  await expect(elsewhere.getByText(`Sign in with ${masked}.`)).toBeVisible()
  await expect(elsewhere.getByText(/the new one|will be signed out/)).toBeHidden()
  await expectAccessible(elsewhere)
  await elsewhere.getByText('Sign in to continue').click()
  await expect(elsewhere.getByText(`Use ${masked} to sign in.`)).toBeVisible()
  await expect(elsewhere.getByText('not the new one')).toBeHidden()
  await submitSignIn(elsewhere, user)
  await elsewhere.getByRole('button', { name: 'Verify my address' }).click()
  await expect(elsewhere.getByRole('heading', { name: 'Your address is verified' })).toBeVisible()
  await page.reload()
  await expect(page.getByRole('heading', { level: 1, name: 'Email' })).toBeVisible()
})

test('B75 the page is in one state at a time: a closed button, its form, or the change that is pending', async ({
  page,
  signedInUser,
  inbox,
}) => {
  const [open, pending] = [
    page.getByRole('button', { name: 'Change address' }),
    page.getByRole('heading', { name: 'Pending change' }),
  ]
  const states = async () => ({
    closed: await open.isVisible(),
    form: await page.getByLabel('New email').isVisible(),
    pending: await pending.isVisible(),
  })
  const none = { closed: false, form: false, pending: false }
  expect(await states()).toEqual({ ...none, closed: true })
  await open.click()
  expect(await states()).toEqual({ ...none, form: true })
  await page.getByRole('button', { name: 'Close' }).click()
  await expect(open).toBeFocused()
  expect(await states()).toEqual({ ...none, closed: true })
  const newEmail = await requestChange(page, signedInUser)
  expect(await states()).toEqual({ ...none, pending: true })
  await expectAccessible(page)
  await page.setViewportSize({ width: 390, height: 664 })
  await page.reload()
  const code = page.getByLabel('Verification code')
  await expect(code).toBeFocused()
  await expect(page.locator('.code-cells')).toBeInViewport({ ratio: 1 })
  await expect(code).toHaveAccessibleDescription(
    `${newEmail} We emailed this address. Enter the 6‑digit code, or open the link.`,
  )
  await enterCode(page, codeIn(await inbox.latest(newEmail, VERIFY)))
  await expect(open).toBeVisible()
  expect(await states()).toEqual({ ...none, closed: true })
  await expectAccessible(page)
})

test('a pending change to a mistyped address is replaced in its place, and stays where the person closes the form', async ({
  page,
  signedInUser,
  inbox,
}) => {
  const [mistyped, meant] = [`nwe-${signedInUser.email}`, `new-${signedInUser.email}`]
  await requestChange(page, signedInUser, mistyped)
  const pending = page.getByRole('heading', { name: 'Pending change' })
  const address = page.getByLabel('New email')
  await page.getByRole('button', { name: 'Use another address' }).click()
  await expect(pending).toBeHidden()
  await expect(address).toBeFocused()
  await expect(address).toHaveValue(mistyped)
  await expect(page.getByText('This replaces the pending change.')).toBeVisible()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Close' }).click()
  await expect(pending).toBeVisible()
  await expect(page.getByLabel('Verification code')).toBeFocused()
  await expect(address).toBeHidden()
  await page.getByRole('button', { name: 'Use another address' }).click()
  await requestChange(page, signedInUser, meant)
  await expect(page.getByText(mistyped)).toHaveCount(0)
  await expect(page.getByRole('alert').filter({ hasText: /./ })).toHaveCount(0)
  await enterCode(page, codeIn(await inbox.latest(meant, VERIFY)))
  await expect(page.getByText(`Your email address is now ${meant}`)).toBeVisible()
})

test('an address that is not verified is not offered for verification while a change to another one is pending', async ({
  page,
  operator,
}) => {
  const user = await createUser(operator, { verified: false })
  await signIn(page, user)
  await expect(page.getByRole('button', { name: 'Verify this address' })).toBeVisible()
  await requestChange(page, user)
  await expect(page.getByRole('button', { name: 'Verify this address' })).toBeHidden()
})

test('a code in the digits of an input method is taken when they are settled', async ({
  page,
  signedInUser,
  inbox,
}) => {
  const newEmail = await requestChange(page, signedInUser)
  const digits = codeIn(await inbox.latest(newEmail, VERIFY))
  const wide = [...digits].map((digit) => String.fromCharCode(0xff10 + Number(digit))).join('')
  const field = page.getByLabel('Verification code')
  const browser = await page.context().newCDPSession(page)
  const compose = (text: string) =>
    browser.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length })
  for (let length = 1; length <= wide.length; length++) await compose(wide.slice(0, length))
  await expect(field).toHaveValue(wide)
  await browser.send('Input.insertText', { text: wide })
  await expect(page.getByText(`Your email address is now ${newEmail}`)).toBeVisible()
})

test('a browser whose clock is ten hours behind is told the true time that is left', async ({ page, signedInUser }) => {
  await requestChange(page, signedInUser)
  await page.route('**/email/status*', (route) => route.abort())
  await page.addInitScript(() => {
    const now = Date.now
    Date.now = () => now() - 10 * 3_600_000
  })
  await page.reload()
  await expect(page.getByRole('button', { name: 'Account menu' })).toBeEnabled()
  await expect(page.getByText(/^Expires in (12 hours|11 hours 5\d minutes)$/)).toBeVisible()
  await expect(page.getByRole('button', { name: /^Resend in (5|4) minutes$/ })).toBeVisible()
})

test('a change that is asked for and verified while the status cannot be read shows the field for its code, and then the new address', async ({
  page,
  signedInUser,
  inbox,
}) => {
  await page.route('**/email/status*', (route) => route.abort())
  const newEmail = await requestChange(page, signedInUser)
  await enterCode(page, codeIn(await inbox.latest(newEmail, VERIFY)))
  await expect(page.getByText(`Your email address is now ${newEmail}`)).toBeVisible()
  await expect(page.getByText(newEmail, { exact: true })).toBeVisible()
  await expect(page.getByText(signedInUser.email, { exact: true })).toBeHidden()
  await page.unroute('**/email/status*')
  await expect(page.getByRole('heading', { name: 'Pending change' })).toBeHidden()
})

test('five wrong codes end the request, and the page says what to do', async ({ page, signedInUser, inbox }) => {
  const newEmail = await requestChange(page, signedInUser)
  const code = codeIn(await inbox.latest(newEmail, VERIFY))
  const wrong = code === '000000' ? '000001' : '000000'
  for (const left of [4, 3, 2, 1]) {
    await enterCode(page, wrong)
    await expect(page.getByText(`${left} ${left === 1 ? 'attempt' : 'attempts'} left`)).toBeVisible()
    await expect(page.getByLabel('Verification code')).toHaveValue('')
    await expect(page.getByLabel('Verification code')).toBeFocused()
  }
  await expectAccessible(page)
  await enterCode(page, wrong)
  await expect(page.getByRole('heading', { name: 'Pending change' })).toBeHidden()
  await expect(page.getByText('Too many attempts', { exact: true })).toBeVisible()
  await expect(
    page.getByText('The code and the link no longer work. Start a new change to get fresh ones.'),
  ).toBeVisible()
  await expectAccessible(page)
})

test('a status that is read before the refusal of a code does not count the code twice', async ({
  page,
  signedInUser,
  inbox,
}) => {
  const newEmail = await requestChange(page, signedInUser)
  const code = codeIn(await inbox.latest(newEmail, VERIFY))
  await page.route('**/email/verify', async (route) => {
    const response = await route.fetch()
    // At the second one the page shows what the first has told.
    for (let read = 0; read < 2; read++) await page.waitForResponse(/email\/status/)
    await route.fulfill({ response })
  })
  await enterCode(page, code === '000000' ? '000001' : '000000')
  await expect(page.getByText('4 attempts left')).toBeVisible()
})

test('a change that replaces the one of another browser, of which the page knew nothing, says so', async ({
  page,
  browser,
  signedInUser,
}) => {
  const other = `other-${signedInUser.email}`
  const elsewhere = await (await browser.newContext()).newPage()
  await signIn(elsewhere, signedInUser)
  await page.reload()
  await requestChange(elsewhere, signedInUser, other)
  await requestChange(page, signedInUser)
  await expect(page.getByText(`The code and link sent to ${other} no longer work.`)).toBeVisible()
})

test('a person can send the message again after the countdown, and digits that are typed meanwhile stay', async ({
  page,
  user,
  inbox,
}) => {
  await signIn(page, user, IMPATIENT_URL)
  const newEmail = await requestChange(page, user)
  await expect(page.getByRole('button', { name: /Resend in \d/ })).toBeDisabled()
  const first = codeIn(await inbox.latest(newEmail, VERIFY))
  // The message may arrive before the answer.
  await page.route('**/email/resend-verification', async (route) => {
    const answer = await route.fetch()
    await expect(page.getByLabel('Verification code')).not.toHaveValue('')
    await route.fulfill({ response: answer })
  })
  // Types only a part of the code, because the sixth digit submits it.
  const typed = first.slice(0, 5)
  await page.getByLabel('Verification code').fill(typed)
  await page.getByRole('button', { name: 'Resend email' }).click()
  await expect(page.getByLabel('Verification code')).toHaveValue('')
  await expect.poll(async () => (await inbox.all(newEmail)).length).toBe(2)
  const second = codeIn(await inbox.latest(newEmail, VERIFY))
  await page.getByLabel('Verification code').fill(typed)
  await expect(page.getByText('A new email is on its way')).toBeVisible()
  await expect(page.getByLabel('Verification code')).toHaveValue(typed)
  await expect(page.getByLabel('Verification code')).toBeFocused()
  await enterCode(page, second)
  await inbox.latest(newEmail, CHANGED)
})

test('the page of a link of another account says so, and shows nothing else of the change', async ({
  page,
  browser,
  operator,
  signedInUser,
  inbox,
}) => {
  const newEmail = await requestChange(page, signedInUser)
  const stranger = await (await browser.newContext()).newPage()
  await startSession(stranger, await createUser(operator))
  await stranger.goto(linkIn(await inbox.latest(newEmail, VERIFY), '/verify-email'))
  await expect(stranger.getByRole('heading', { name: 'This link belongs to a different account' })).toBeVisible()
  await expect(stranger.getByText(newEmail)).toBeHidden()
  await expectAccessible(stranger)
})

test('the form explains in plain words why an address is refused', async ({ page, signedInUser }) => {
  const [address, send] = [page.getByLabel('New email'), page.getByRole('button', { name: 'Send verification' })]
  await page.getByRole('button', { name: 'Change address' }).click()
  await expect(address).toBeFocused()
  await send.click()
  await expect(address).toHaveAccessibleDescription('Enter your new email address.')
  await address.fill(signedInUser.email)
  await page.getByLabel('Current password').fill(signedInUser.password)
  await send.click()
  await expect(address).toHaveAccessibleDescription('This is already your address.')
})

test('the page says that one more change is possible, and shows a refusal by a limit, with the limit and the wait, beside the pressed button', async ({
  page,
  signedInUser,
}) => {
  await page.setViewportSize({ width: 390, height: 664 })
  const oneMore = page.getByText('Only one more change is possible for now.')
  for (const [index, name] of ['one', 'two', 'three'].entries()) {
    await expect(oneMore).toHaveCount(index === 2 ? 1 : 0)
    await requestChange(page, signedInUser, `${name}-${signedInUser.email}`)
    await page.getByRole('button', { name: 'Cancel change' }).click()
    await page.getByRole('button', { name: 'Yes, cancel the change' }).click()
    await expect(page.getByRole('heading', { name: 'Pending change' })).toBeHidden()
  }
  await page.getByRole('button', { name: 'Change address' }).click()
  await expect(page.getByText('No further change is possible for now.')).toBeVisible()
  await page.getByLabel('New email').fill(`four-${signedInUser.email}`)
  await page.getByLabel('Current password').fill(signedInUser.password)
  await page.getByRole('button', { name: 'Send verification' }).click()
  const refusal = page.getByRole('alert').filter({ hasText: 'too many changes' })
  await expect(refusal).toContainText(/You can try again in (1 hour|\d+ minutes)\.$/)
  await expect(refusal).toBeInViewport({ ratio: 1 })
})
