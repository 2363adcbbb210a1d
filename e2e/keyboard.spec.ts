import type { Locator, Page } from '@playwright/test'
import { codeIn, expect, expectAccessible, expectSignInPage, linkIn, test, type User } from './fixtures'

const VERIFY = 'Verify Your New Email Address'

interface Stop {
  name: string
  isVisible: boolean
  isMarked: boolean
  box: { top: number; right: number; bottom: number; left: number }
}

/** The focused element, or null. */
const focusOf = (page: Page): Promise<Stop | null> =>
  page.evaluate(() => {
    const focused = document.activeElement
    if (!focused || focused === document.body) return null
    const outlined = [focused, focused.closest('label')].some((element) => {
      const style = element && getComputedStyle(element)
      return style && style.outlineStyle !== 'none' && Number.parseFloat(style.outlineWidth) >= 2
    })
    const ringed = [...(focused.closest('.code-cells')?.querySelectorAll('span') ?? [])].some(
      (cell) => getComputedStyle(cell).boxShadow !== 'none',
    )
    const shown = focused.matches('.sr-only') ? (focused.closest('label') ?? focused) : focused
    const { top, right, bottom, left } = shown.getBoundingClientRect()
    // The browser scrolls a field that is taller than the window only to its caret.
    const width = Math.min(right, innerWidth) - Math.max(left, 0)
    const height = Math.min(bottom, innerHeight) - Math.max(top, 0)
    return {
      name: focused.outerHTML.slice(0, 120),
      isVisible: shown.checkVisibility({ visibilityProperty: true }) && width > 8 && height > 8,
      isMarked: outlined || ringed,
      box: { top: top + scrollY, right: right + scrollX, bottom: bottom + scrollY, left: left + scrollX },
    }
  })

/** True for a place below, to the right in the same row, or in the column to the right. */
const isAfter = ({ box }: Stop, { box: before }: Stop) =>
  box.top >= before.bottom - 1 || box.left >= before.right - 1 || (box.bottom > before.top && box.left > before.left)

/** Presses Tab until the target has the focus. Every stop must be visible, marked as focused, and in reading order. */
async function tabTo(page: Page, target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  let before: Stop | null = null
  do {
    await page.keyboard.press(key)
    const message = `focus on the way to ${target}, after ${before?.name ?? 'its start'}`
    // The browser may still be scrolling to it.
    await expect.poll(() => focusOf(page), { message }).toMatchObject({ isVisible: true, isMarked: true })
    const stop = (await focusOf(page)) as Stop
    const [later, earlier] = key === 'Tab' ? [stop, before] : [before, stop]
    if (later && earlier) expect(isAfter(later, earlier), `${later.name} after ${earlier.name}`).toBe(true)
    before = stop
  } while (!(await target.evaluate((element) => element === document.activeElement)))
}

async function typeInto(page: Page, target: Locator, text: string): Promise<void> {
  await tabTo(page, target)
  await page.keyboard.type(text)
}

async function expectRefusedAt(field: Locator, text: RegExp): Promise<void> {
  await expect(field).toBeFocused()
  await expect(field).toHaveAttribute('aria-invalid', 'true')
  await expect(field).toHaveAccessibleDescription(text)
}

async function signInByKeys(page: Page, user: User, origin = ''): Promise<void> {
  await page.goto(`${origin}/sign-in`)
  await expect(page.getByRole('button', { name: 'Sign in' })).toBeEnabled()
  await expect(page.getByLabel('Email')).toBeFocused()
  await page.keyboard.type(user.email)
  await typeInto(page, page.getByLabel('Password', { exact: true }), user.password)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1, name: 'Email address' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Account menu' })).toBeEnabled()
}

async function requestByKeys(page: Page, user: User, newEmail: string): Promise<void> {
  const change = page.getByRole('button', { name: 'Change address' })
  await expect(change).toBeEnabled()
  await tabTo(page, change)
  await page.keyboard.press('Enter')
  await expect(page.getByLabel('New email')).toBeFocused()
  await page.keyboard.type(newEmail)
  await typeInto(page, page.getByLabel('Current password'), user.password)
  await page.keyboard.press('Enter')
  await expect(page.getByLabel('Verification code')).toBeFocused()
}

/** The announcement has the focus, so that it is read and Tab continues from there. */
const expectFocusOn = (page: Page, text: string, options?: { timeout: number }): Promise<void> =>
  expect(page.locator(':focus').filter({ hasText: text })).toBeInViewport(options)

/** Opens the dialog from the focused button, tabs once around it, and closes it with Escape. */
async function expectDialogKeepsFocus(page: Page, opener: Locator): Promise<void> {
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  const buttons = dialog.getByRole('button')
  await expect(buttons.first()).toBeFocused()
  for (const key of ['Tab', 'Tab', 'Tab', 'Tab', 'Shift+Tab', 'Shift+Tab', 'Shift+Tab']) {
    await page.keyboard.press(key)
    const outside = () =>
      page.evaluate(() => {
        const focused = document.activeElement
        return focused !== document.body && !focused?.closest('dialog') && focused?.outerHTML
      })
    await expect.poll(outside, { message: 'focus outside the dialog' }).toBe(false)
  }
  await page.keyboard.press('Escape')
  await expect(dialog).toBeHidden()
  await expect(opener).toBeFocused()
}

test('an address is changed with the keyboard alone', async ({ page, user, inbox }) => {
  const newEmail = `new-${user.email}`
  const button = (name: string) => page.getByRole('button', { name })
  await page.goto('/')
  await tabTo(page, page.getByRole('link', { name: 'Sign in' }).first())
  await page.keyboard.press('Enter')
  const password = page.getByLabel('Password', { exact: true })
  await expect(button('Sign in')).toBeEnabled()

  await expect(page.getByLabel('Email')).toBeFocused()
  await page.keyboard.type(user.email)
  await typeInto(page, password, 'not the password')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('alert').filter({ hasText: 'Incorrect email or password' })).toBeVisible()
  await expect(password).toBeFocused()
  await page.keyboard.type(user.password)
  await tabTo(page, button('Show password'))
  await page.keyboard.press('Space')
  await expect(button('Hide password')).toBeFocused()
  await tabTo(page, button('Sign in'))
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1, name: 'Email address' })).toBeVisible()

  const send = button('Send verification')
  const address = page.getByLabel('New email')
  const current = page.getByLabel('Current password')
  await expect(button('Change address')).toBeEnabled()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await expect(page.locator('#content')).toBeFocused()
  await tabTo(page, button('Change address'))
  await page.keyboard.press('Enter')
  await expect(address).toBeFocused()
  await tabTo(page, button('Close'), 'Shift+Tab')
  await page.keyboard.press('Enter')
  await expect(button('Change address')).toBeFocused()
  await page.keyboard.press('Space')
  await tabTo(page, send)
  await page.keyboard.press('Enter')
  await expectRefusedAt(address, /Enter your new email address/)
  await expect(current).toHaveAttribute('aria-invalid', 'true')
  await page.keyboard.type(newEmail)
  await typeInto(page, current, 'not the password')
  await page.keyboard.press('Enter')
  await expectRefusedAt(current, /Incorrect password/)
  await expect(address).toHaveValue(newEmail)
  await expectAccessible(page)
  await page.keyboard.type(user.password)
  await tabTo(page, send)
  await page.keyboard.press('Space')

  const codeField = page.getByLabel('Verification code')
  await expect(codeField).toBeFocused()
  const right = codeIn(await inbox.latest(newEmail, VERIFY))
  await page.keyboard.type(right === '000000' ? '000001' : '000000')
  await expectRefusedAt(codeField, /4 attempts left/)
  await page.keyboard.type(right)
  await expectFocusOn(page, `Your email address is now ${newEmail}`)
  await expect(page.getByText(newEmail, { exact: true })).toBeVisible()
  await tabTo(page, button('Change address'))
  await tabTo(page, page.getByRole('link', { name: 'Delete account' }), 'Shift+Tab')
})

test('the account menu is opened, left and used with the keyboard alone', async ({ page, user }) => {
  await signInByKeys(page, user)
  const menu = page.getByRole('button', { name: 'Account menu' })
  const signOut = page.getByRole('button', { name: 'Sign out' })
  await expect(menu).toBeEnabled()
  await tabTo(page, menu)
  await page.keyboard.press('Enter')
  await expect(menu).toHaveAttribute('aria-expanded', 'true')
  await tabTo(page, signOut)
  await expect(async () => {
    const [opener, opened] = await Promise.all([menu.boundingBox(), signOut.boundingBox()])
    expect(opened?.y).toBeGreaterThan((opener?.y ?? 0) + (opener?.height ?? 0))
    expect(opened?.x).toBeGreaterThan((opener?.x ?? 0) - 150)
  }).toPass()
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  await expect(signOut).toBeHidden()
  await expect(menu).toBeFocused()
  await expect(menu).toHaveAttribute('aria-expanded', 'false')
  await page.keyboard.press('Space')
  await tabTo(page, page.getByRole('link', { name: 'Settings', exact: true }))
  await page.keyboard.press('Enter')
  await expect(signOut).toBeHidden()
  await expect(menu).toBeFocused()
  await page.keyboard.press('Enter')
  await tabTo(page, signOut)
  await page.keyboard.press('Enter')
  await expectSignInPage(page)
})

test('a change is cancelled with the keyboard alone, and its dialog gives the focus back', async ({ page, user }) => {
  await signInByKeys(page, user)
  await requestByKeys(page, user, `new-${user.email}`)
  const cancel = page.getByRole('button', { name: 'Cancel change' })
  await tabTo(page, cancel)
  await expectDialogKeepsFocus(page, cancel)
  await page.keyboard.press('Space')
  await expectAccessible(page)
  await expect(page.getByRole('button', { name: 'Keep change' })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog')).toBeHidden()
  await page.reload()
  await expect(page.getByRole('button', { name: 'Account menu' })).toBeEnabled()
  await tabTo(page, cancel)
  await page.keyboard.press('Space')
  await tabTo(page, page.getByRole('button', { name: 'Yes, cancel the change' }))
  await page.keyboard.press('Enter')
  await expectFocusOn(page, 'The change was cancelled')
  await expect(page.getByRole('heading', { name: 'Pending change' })).toBeHidden()
})

test('a person resets a forgotten password, and changes it once more, with the keyboard alone', async ({
  page,
  user,
  inbox,
}) => {
  const button = (name: string) => page.getByRole('button', { name })
  const wanted = page.getByLabel('New password')
  const [first, second] = ['a new password of my own', 'and one more of my own']
  await page.goto('/sign-in')
  await expect(page.getByLabel('Email')).toBeFocused()
  await tabTo(page, page.getByRole('link', { name: 'Forgot password?' }))
  await page.keyboard.press('Enter')
  await expect(button('Send the link')).toBeEnabled()
  await expect(page.getByLabel('Email')).toBeFocused()
  await page.keyboard.type(user.email)
  await page.keyboard.press('Enter')
  await expectFocusOn(page, 'Check your email')

  await page.goto(linkIn(await inbox.latest(user.email, 'Set a new password'), '/reset-password'))
  await expect(button('Set new password')).toBeEnabled()
  await typeInto(page, wanted, 'short')
  await page.keyboard.press('Enter')
  await expectRefusedAt(wanted, /Too short: use at least 8 characters/)
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.type(first)
  await page.keyboard.press('Enter')
  await expectFocusOn(page, 'Your password has been changed')

  await signInByKeys(page, { ...user, password: first })
  await tabTo(page, page.getByRole('link', { name: 'Password' }))
  await page.keyboard.press('Enter')
  await expect(button('Change password')).toBeEnabled()
  await typeInto(page, page.getByLabel('Current password'), 'not the password')
  await typeInto(page, wanted, second)
  await page.keyboard.press('Enter')
  await expectRefusedAt(page.getByLabel('Current password'), /Incorrect password/)
  await page.keyboard.type(first)
  await page.keyboard.press('Enter')
  await expectFocusOn(page, 'Your password has been changed')
})

test('an account is withdrawn with the keyboard alone', async ({ page, user }) => {
  const button = (name: string) => page.getByRole('button', { name })
  await signInByKeys(page, user)
  const section = page.getByRole('link', { name: 'Delete account' })
  await tabTo(page, section)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1, name: 'Delete account' })).toBeVisible()
  await expect(section).toBeFocused()
  const feedback = page.getByLabel('Tell us more')
  const confirmation = page.getByLabel('to confirm')
  const password = page.getByLabel('Current password')
  const proceed = button('Delete my account')
  const choices = page.getByText('Optional: tell us why, or have some data kept longer')
  await typeInto(page, confirmation, 'delete_my_account')
  await tabTo(page, proceed)
  await page.keyboard.press('Enter')
  await expectRefusedAt(confirmation, /“delete my account”/)
  await expect(password).toHaveAttribute('aria-invalid', 'true')
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.type('DELETE_MY_ACCOUNT')
  await typeInto(page, password, 'not the password')

  await tabTo(page, choices)
  await page.keyboard.press('Enter')
  await tabTo(page, page.getByLabel('I’d rather not say'))
  await page.keyboard.press('ArrowUp')
  await expect(page.getByLabel('Another reason')).toBeChecked()
  await tabTo(page, page.getByLabel('Activity and message log'))
  await page.keyboard.press('Space')
  await expect(page.getByLabel('Activity and message log')).toBeChecked()
  await expectAccessible(page)
  // Folded again, it opens for the field that is missing.
  await tabTo(page, choices, 'Shift+Tab')
  await page.keyboard.press('Enter')
  await expect(feedback).toBeHidden()
  await tabTo(page, proceed)
  await page.keyboard.press('Enter')
  await expectRefusedAt(feedback, /reason/)
  await page.keyboard.type('It was fine.')

  await tabTo(page, proceed)
  await page.keyboard.press('Enter')
  await expectRefusedAt(password, /Incorrect password|not the password of your account/)
  await page.keyboard.type(user.password)
  await tabTo(page, proceed)
  await page.keyboard.press('Enter')

  await page.waitForURL(/\/withdrawal\/wd_.*#token=wst_/)
  await expect(page.getByRole('heading', { name: 'Your account is being deleted' })).toBeVisible()
  await expectFocusOn(page, 'Your account is being deleted')
  await tabTo(page, page.getByRole('link', { name: 'Accessibility' }))
})

test('the language is chosen by Enter alone, and the focus comes back to its button', async ({ page, user }) => {
  await signInByKeys(page, user)
  const language = page.getByRole('button', { name: /^Language/ })
  await expect(language).toBeEnabled()
  await tabTo(page, language)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect(language).toHaveAttribute('aria-expanded', 'true')
  await expect(page.locator('html')).toHaveAttribute('lang', 'en')
  await tabTo(page, page.getByRole('button', { name: 'Français' }))
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  await expect(language).toBeFocused()
  await page.keyboard.press('Enter')
  await tabTo(page, page.getByRole('button', { name: 'Deutsch' }))
  await page.keyboard.press('Enter')
  await expect(page.locator('html')).toHaveAttribute('lang', 'de')
  await expect(page.getByRole('button', { name: /^Sprache/ })).toBeFocused()
})

test('a menu closes once the keyboard has left it', async ({ page, signedInUser: _ }) => {
  const opener = page.getByRole('button', { name: 'Account menu' })
  await expect(opener).toBeEnabled()
  await opener.focus()
  await page.keyboard.press('Enter')
  const signOut = page.getByRole('button', { name: 'Sign out' })
  await tabTo(page, signOut)
  await page.keyboard.press('Tab')
  await expect(signOut).toBeHidden()
  await expect(page.locator(':focus')).toBeVisible()
})
