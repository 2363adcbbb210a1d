import { expect, expectAccessible, expectSignInPage, linkIn, signIn, startSession, test, type User } from './fixtures'

const NEW = 'a new password of my own'
const RESET = 'Set a new password'
const CHANGED = 'Password changed'

const withPassword = (user: User, password: string): User => ({ ...user, password })

test('a user changes their password, other browsers are signed out, and the address receives a message', async ({
  page,
  browser,
  signedInUser,
  inbox,
}) => {
  const other = await browser.newPage()
  await signIn(other, signedInUser)
  await page.getByRole('link', { name: 'Password' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Password' })).toBeVisible()
  await page.reload()
  await expect(page.getByText('This ends 1 other session. This browser stays signed in.')).toBeVisible()

  const fill = async (current: string, wanted: string) => {
    await page.getByLabel('Current password').fill(current)
    await page.getByLabel('New password').fill(wanted)
    await page.getByRole('button', { name: 'Change password' }).click()
  }
  await fill(signedInUser.password, '')
  await expect(page.getByLabel('New password')).toHaveAccessibleDescription(/Choose a new password\.$/)
  await fill(signedInUser.password, 'short')
  await expect(page.getByLabel('New password')).toHaveAccessibleDescription(/Too short: use at least 8 characters/)
  await fill(signedInUser.password, signedInUser.password)
  await expect(page.getByLabel('New password')).toHaveAccessibleDescription(/This is your current password/)
  await fill('not the password', NEW)
  await expect(page.getByLabel('Current password')).toHaveAccessibleDescription(/Incorrect password/)
  await expectAccessible(page)
  await fill(signedInUser.password, NEW)
  await expect(page.getByText('Your password has been changed')).toBeVisible()
  await expect(page.getByLabel('Current password')).toHaveValue('')
  await expectAccessible(page)

  const mail = await inbox.latest(signedInUser.email, CHANGED)
  expect(linkIn(mail, '/forgot-password')).toMatch(/\/forgot-password$/)
  await other.reload()
  await expectSignInPage(other)
  await startSession(other, withPassword(signedInUser, NEW))
  await other.close()
})

test('a page says while somebody types that a password is easy to guess, and sends it nowhere', async ({
  page,
  userWithSession: _,
}) => {
  await page.goto('/settings/password')
  const field = page.getByLabel('New password')
  const sent: string[] = []
  page.on('request', (request) => sent.push(`${request.url()} ${request.postData() ?? ''}`))
  await field.pressSequentially('Qwertyuiop')
  await expect(field).toHaveAccessibleDescription(/one of the most used passwords/)
  await expectAccessible(page)
  await field.fill('user account service')
  await expect(field).toHaveAccessibleDescription(/easy to guess/)
  await field.fill(NEW)
  await expect(field).toHaveAccessibleDescription(/At least 8 characters/)
  expect(sent.filter((text) => /qwertyuiop|user account service/i.test(decodeURIComponent(text)))).toEqual([])
})

test('the mailed link sets a new password when its button is pressed, and not before', async ({
  page,
  user,
  inbox,
  request,
}) => {
  await page.goto('/sign-in')
  await page.getByLabel('Email').fill(user.email)
  await page.getByRole('link', { name: 'Forgot password?' }).click()
  await expect(page.getByRole('heading', { name: 'Forgot your password?' })).toBeVisible()
  await expect(page.getByLabel('Email')).toHaveValue(user.email)
  await expect(page.getByLabel('Email')).toBeFocused()
  await page.getByLabel('Email').fill('nobody')
  await page.getByRole('button', { name: 'Send the link' }).click()
  await expect(page.getByLabel('Email')).toHaveAccessibleDescription(/isn’t complete/)
  await page.getByLabel('Email').fill('one@example.test, two@example.test')
  await expect(page.getByLabel('Email')).toHaveAccessibleDescription(/Enter one email address/)
  await page.getByLabel('Email').fill(user.email)
  await page.getByRole('button', { name: 'Send the link' }).click()
  await expect(page.getByRole('heading', { name: 'Check your email' })).toBeVisible()
  await expectAccessible(page)

  const link = linkIn(await inbox.latest(user.email, RESET), '/reset-password')
  // A scanner requests the link and runs the scripts of its page.
  for (const method of ['GET', 'HEAD', 'OPTIONS']) await request.fetch(link, { method })
  await page.goto(link)
  await expect(page.getByRole('heading', { name: 'Choose a new password' })).toBeVisible()
  await page.reload()
  // A password manager learns whose password it is, and that it is a new one.
  await expect(page.locator('form input[autocomplete="username"]')).toHaveValue(user.email)
  await expect(page.locator('input[type="password"]')).toHaveCount(1)
  await expect(page.getByLabel('New password')).toHaveAttribute('autocomplete', 'new-password')
  await page.getByLabel('New password').fill(NEW)
  await page.getByRole('button', { name: 'Set new password' }).click()
  await expect(page.getByRole('heading', { name: 'Your password has been changed' })).toBeVisible()
  await expectAccessible(page)
  await expect(page).not.toHaveURL(/prt_/)
  await inbox.latest(user.email, CHANGED)
  await signIn(page, withPassword(user, NEW))

  const again = await page.context().newPage()
  await again.goto(link)
  // The page says so when it opens, before the person chooses a password.
  await expect(again.getByRole('heading', { name: 'This link no longer works' })).toBeVisible()
  await expectAccessible(again)
  await again.getByRole('link', { name: 'Ask for a new link' }).click()
  await expect(again.getByRole('heading', { name: 'Forgot your password?' })).toBeVisible()
})
