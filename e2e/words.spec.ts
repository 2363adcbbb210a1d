import { codeIn, enterCode, expect, linkIn, requestChange, test } from './fixtures'

// What a screen reader is told, word by word: a change of these words is meant, or a mistake.
const VERIFY = 'Verify Your New Email Address'

test('B76 words of a screen reader: the change of an address by its code', async ({
  page,
  signedInUser: user,
  inbox,
}) => {
  const main = page.getByRole('main')
  await expect(main).toMatchAriaSnapshot(`
    - heading "Email address" [level=1]
    - paragraph: You sign in with this address and get our email there.
    - heading "Current address" [level=2]
    - text: Verified
    - paragraph: ${user.email}
    - paragraph:
      - text: Verified since
      - time: /./
    - button "Change address"
  `)
  await page.getByRole('button', { name: 'Change address' }).click()
  await page.getByRole('button', { name: 'Send verification email' }).click()
  await expect(main).toMatchAriaSnapshot(`
    - heading "Change address" [level=2]
    - button "Close"
    - paragraph: Nothing changes until you confirm; then other browsers sign out.
    - text: New email address
    - textbox "New email address" [active]
    - paragraph: Enter your new email address.
    - text: Current password
    - textbox "Current password"
    - button "Show password"
    - paragraph: Enter your current password.
    - button "Send verification email"
  `)
  await page.getByRole('button', { name: 'Close' }).click()
  const newEmail = await requestChange(page, user)
  await expect(main).toMatchAriaSnapshot(`
    - heading "Pending change" [level=2]
    - time: /Expires in/
    - paragraph: ${newEmail}
    - paragraph: We emailed this address. Enter the 6‑digit code, or open the link.
    - text: Verification code
    - textbox "Verification code" [active]
    - button "Verify"
    - paragraph:
      - text: Nothing yet? Check your spam folder.
      - button "Use another address"
    - button /Resend in \\d minutes/ [disabled]
    - button "Cancel change"
    - heading "Current address" [level=2]
  `)
  const code = codeIn(await inbox.latest(newEmail, VERIFY))
  await enterCode(page, code === '000000' ? '000001' : '000000')
  const field = page.getByLabel('Verification code')
  const sentTo = `${newEmail} We emailed this address. Enter the 6‑digit code, or open the link.`
  await expect(field).toHaveAccessibleDescription(
    `That code isn’t right; use the one from the latest email. 4 attempts left. ${sentTo}`,
  )
  await page.getByRole('button', { name: 'Verify', exact: true }).click()
  await expect(field).toHaveAccessibleDescription(
    `That code isn’t right; use the one from the latest email. 4 attempts left. ${sentTo}`,
  )
  await expect(field).toBeFocused()
  await enterCode(page, code)
  await expect(main).toMatchAriaSnapshot(`
    - heading "Your email address is now ${newEmail}" [level=2]
    - paragraph: Sign in with it from now on.
    - paragraph: We emailed your old address. For 7 days, the link there can undo this.
    - heading "Current address" [level=2]
    - text: Verified
    - paragraph: ${newEmail}
    - button "Change address"
  `)
})

test('B76 words of a screen reader: the link of a change on another device, and once it was used', async ({
  page,
  browser,
  signedInUser: user,
  inbox,
}) => {
  const newEmail = await requestChange(page, user)
  const link = linkIn(await inbox.latest(newEmail, VERIFY), '/verify-email')
  const phone = await (await browser.newContext()).newPage()
  await phone.goto(link)
  const masked = user.email.replace(/(?<=^.)[^@]*/, '••••')
  await expect(phone.getByRole('main')).toMatchAriaSnapshot(`
    - heading "Sign in to verify your address" [level=1]
    - paragraph: Sign in with your current address, ${masked}, not with the new one. You’ll come back to this link.
    - paragraph: Still signed in where you asked? Enter the 6‑digit code from the same email there instead.
    - button "Sign in to continue"
    - paragraph: /Close this page/
  `)
  await page.goto(link)
  await expect(page.getByRole('main')).toMatchAriaSnapshot(`
    - heading "Verify your new address" [level=1]
    - paragraph: This changes the email address of ${user.name}’s account. Other browsers are signed out, except the one where you asked.
    - term: Current address
    - definition: ${user.email}
    - term: New address
    - definition: ${newEmail}
    - button "Verify my new address"
    - paragraph: /nothing changes until you press the button/
  `)
  await page.getByRole('button', { name: 'Verify my new address' }).click()
  await expect(page.getByRole('main')).toMatchAriaSnapshot(`
    - status:
      - heading "Your email address has been changed" [level=1]
      - paragraph: It’s now ${newEmail}. Sign in with it from now on. We emailed your old address. For 7 days, the link there can undo this.
    - link "Go to settings"
  `)
  await phone.reload()
  await expect(phone.getByRole('main')).toMatchAriaSnapshot(`
    - heading "This link has been used" [level=1]
    - paragraph: The address was verified with it. The settings show the address you sign in with.
    - link "Go to settings"
  `)
})

test('B76 words of a screen reader: the undo of a change from the old mailbox', async ({
  page,
  browser,
  signedInUser: user,
  inbox,
}) => {
  const newEmail = await requestChange(page, user)
  await enterCode(page, codeIn(await inbox.latest(newEmail, VERIFY)))
  const owner = await (await browser.newContext()).newPage()
  await owner.goto(linkIn(await inbox.latest(user.email, 'Email Address Changed'), '/not-me'))
  const main = owner.getByRole('main')
  await expect(main).toMatchAriaSnapshot(`
    - heading "Wasn’t this you? Undo the change" [level=1]
    - paragraph: The email address of your account was changed.
    - term: Old address
    - definition: ${user.email}
    - term: New address
    - definition: ${newEmail}
    - heading "What happens" [level=2]
    - list:
      - listitem: /Your account goes back to/
      - listitem: Every browser and device is signed out, and access tokens stop working.
      - listitem: Your password becomes the one you choose here.
      - listitem: For 7 days you can’t delete the account, so nobody can do it in your place.
    - text: New password
    - textbox "New password"
    - button "Show password"
    - button "Undo the change"
  `)
  await owner.getByLabel('New password').fill('a password of my own')
  await owner.getByRole('button', { name: 'Undo the change' }).click()
  await expect(main).toMatchAriaSnapshot(`
    - status:
      - heading "The change was undone" [level=1]
      - paragraph: Your account’s address is ${user.email}. Every browser is signed out. Sign in with your new password.
    - link "Sign in"
  `)
})

test('a person who changes the address by its code reads at most 110 words', async ({
  page,
  signedInUser: user,
  inbox,
}) => {
  const read = new Set<string>()
  let words = 0
  const readMain = async () => {
    for (const line of (await page.getByRole('main').innerText()).split('\n').filter((text) => /\w/.test(text))) {
      if (read.has(line)) continue
      read.add(line)
      words += line.trim().split(/\s+/).length
    }
  }
  await readMain()
  await page.getByRole('button', { name: 'Change address' }).click()
  await readMain()
  await page.getByRole('button', { name: 'Close' }).click()
  const newEmail = await requestChange(page, user)
  await readMain()
  await enterCode(page, codeIn(await inbox.latest(newEmail, VERIFY)))
  await expect(page.getByText(`Your email address is now ${newEmail}`)).toBeVisible()
  await readMain()
  expect(words).toBeGreaterThan(60)
  expect(words).toBeLessThanOrEqual(110)
})
