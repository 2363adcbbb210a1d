import { randomBytes } from 'node:crypto'
import AxeBuilder from '@axe-core/playwright'
import { type Browser, test as base, expect, type Page } from '@playwright/test'
import type { Data, Scope, ServiceScope } from '@/contract/define'
import { LANGUAGE_NAMES, type Language } from '@/contract/languages'
import type { withdrawAccount } from '@/contract/withdrawal'
import { keptMailsTo, type KeptMail as Mail } from '@/testing/kept-mails'
import { textsOf } from '@/testing/message-texts'
import { createAccount, createToken, Operator } from '@/testing/operator'
import { sendHead } from '@/testing/raw-http'
import { findAccessibilityFaults } from './second-engine'
import { DATA_DIR, DEMO_URL, SERVICE_URL } from './service-urls'

export interface User {
  id: string
  email: string
  password: string
  name: string
}

export interface Inbox {
  /** Waits for a message to this address with this subject and returns the newest. */
  latest(to: string, subject: string | RegExp): Promise<Mail>
  all(to: string): Promise<Mail[]>
}

interface Fixtures {
  user: User
  /** `user`, whose settings `page` shows. */
  signedInUser: User
  /** `user`, with a session in the browser of `page`, which shows nothing yet. */
  userWithSession: User
  inbox: Inbox
}

const en = textsOf('en')

/** Console errors that fail a test: a missing or malformed text, a hydration mismatch, and a violation of the Content-Security-Policy. */
const PAGE_FAULT =
  /MISSING_|INVALID_|FORMATTING_ERROR|ENVIRONMENT_FALLBACK|Minified React error|hydrat|Content Security Policy/i

/** The policy of the mailbox refuses the logo of another instance, whose mails are in the same mailbox. */
const OTHER_LOGO = `${DEMO_URL}/brand/logo`

export const test = base.extend<Fixtures, { operator: Operator }>({
  operator: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures a function uses from this pattern
    async ({}, use) => {
      const operator = new Operator({ DATA_DIR })
      await use(operator)
      await operator.close()
    },
    { scope: 'worker' },
  ],
  context: async ({ context }, use) => {
    const faults: string[] = []
    const note = (text: string) => PAGE_FAULT.test(text) && !text.includes(OTHER_LOGO) && faults.push(text)
    context.on('console', (message) => message.type() === 'error' && note(message.text()))
    context.on('weberror', (error) => note(error.error().message))
    await use(context)
    expect(faults, 'faults in the console').toEqual([])
  },
  user: async ({ operator }, use) => use(await createUser(operator)),
  signedInUser: async ({ page, user }, use) => {
    await signIn(page, user)
    await use(user)
  },
  userWithSession: async ({ page, user }, use) => {
    await startSession(page, user)
    await use(user)
  },
  // biome-ignore lint/correctness/noEmptyPattern: as above
  inbox: async ({}, use) => use(inboxOf(DATA_DIR)),
})

/** Lets the person open /admin. */
export const makeOperator = (operator: Operator, { id }: User) =>
  operator.run('user', 'set-role', '--user', id, '--role', 'operator')

export async function createUser(operator: Operator, { verified = true } = {}): Promise<User> {
  const name = 'Ada Lovelace'
  const password = `pw ${randomBytes(6).toString('hex')}`
  const email = `ada-${randomBytes(6).toString('hex')}@example.test`
  const id = await createAccount(operator, { email, password, name, isVerified: verified })
  return { id, email, password, name }
}

/** The headers of a call of the API. */
export const bearer = (token: string | undefined, scope: Scope | ServiceScope) => ({
  Authorization: `Bearer ${token}`,
  'X-Required-Scope': scope,
})

/** Starts a withdrawal as a program does. */
export async function startWithdrawal(
  operator: Operator,
  userId: string,
  origin = SERVICE_URL,
): Promise<Data<typeof withdrawAccount>> {
  const token = await createToken(operator, userId)
  const answer = await fetch(`${origin}/api/v1/users/${userId}/withdraw`, {
    method: 'POST',
    headers: { ...bearer(token, 'account:manage'), 'Content-Type': 'application/json' },
    body: JSON.stringify({ confirmation: 'DELETE_MY_ACCOUNT' }),
  })
  return (await answer.json()).data
}

/** Signs in as the page does, without the page. */
export async function startSession({ request }: Page, { email, password }: User, origin = ''): Promise<void> {
  const { csrfToken } = await (await request.get(`${origin}/api/auth/csrf`)).json()
  const form = { csrfToken, email, password, json: 'true' }
  const { url } = await (await request.post(`${origin}/api/auth/callback/credentials`, { form })).json()
  expect(url).not.toContain('error=')
}

/** Opens the settings with a new session. A test of the sign-in page itself uses `signInByForm`. */
export async function signIn(page: Page, user: User, origin = ''): Promise<void> {
  await startSession(page, user, origin)
  await page.goto(`${origin}/settings/email`)
  // Before this the page takes no input.
  await expect(page.getByRole('button', { name: en.Common.accountMenu })).toBeEnabled()
}

export async function signInByForm(page: Page, user: User, at = '/sign-in', texts = en): Promise<void> {
  await page.goto(at)
  await submitSignIn(page, user, texts)
  await expect(page.getByRole('heading', { level: 1, name: texts.EmailSettings.title })).toBeVisible()
}

export async function submitSignIn(page: Page, user: Pick<User, 'email' | 'password'>, texts = en): Promise<void> {
  await expect(page).toHaveURL(/\/sign-in/)
  await page.getByLabel(texts.SignIn.email).fill(user.email)
  await page.getByLabel(texts.SignIn.password, { exact: true }).fill(user.password)
  await page.getByRole('button', { name: texts.Common.signIn, exact: true }).click()
}

/** Waits for the sign-in page by its heading, because the settings have a password field too. */
export const expectSignInPage = (page: Page): Promise<void> =>
  expect(page.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible()

/** The mailbox of the instances that keep their data there. */
export const inboxOf = (dataDir: string): Inbox => ({
  all: (to) => keptMailsTo(to, dataDir),
  async latest(to, subject) {
    let found: Mail | undefined
    const isNamed = (name: string) => (typeof subject === 'string' ? name === subject : subject.test(name))
    const look = async () => {
      found = (await this.all(to)).filter((mail) => isNamed(mail.subject)).at(-1)
      return found !== undefined
    }
    await expect.poll(look, { message: `“${subject}” to ${to}`, intervals: [100, 250] }).toBe(true)
    return found as unknown as Mail
  },
})

export const codeIn = (mail: Mail): string => /\b(\d{6})\b/.exec(mail.text)?.[1] ?? 'no code'
export const linkIn = (mail: Mail, path: string): string =>
  new RegExp(`https?://[^\\s"<>]*${path}[^\\s"<>]*`).exec(mail.text)?.[0].replaceAll('&amp;', '&') ?? 'no link'

/**
 * Opens a mailed link as a scanner of mail does, which presses every button too, and expects that nothing is sent to the API. Returns the
 * page, whose title is this one.
 */
export async function scan(browser: Browser, link: string, title: string): Promise<Page> {
  const scanner = await (await browser.newContext()).newPage()
  for (let n = 0; n < 20; n++) {
    const method = n % 2 ? 'HEAD' : 'GET'
    await scanner.request.fetch(link, { method, headers: { 'User-Agent': `scanner/${n}`, Purpose: 'prefetch' } })
  }
  const posted: string[] = []
  scanner.on('request', (sent) => sent.method() !== 'GET' && posted.push(sent.url()))
  const open = async () => {
    await scanner.goto('about:blank')
    await scanner.goto(link)
    await expect(scanner.getByRole('heading', { level: 1, name: title })).toBeVisible()
  }
  await open()
  for (let pressed = 0; pressed < (await scanner.getByRole('button').count()); pressed++) {
    await scanner.getByRole('button').nth(pressed).click({ force: true })
    await open()
  }
  expect(posted.filter((url) => url.includes('/api/v1/'))).toEqual([])
  return scanner
}

export const sendRaw = (head: string): Promise<string> => sendHead(Number(new URL(SERVICE_URL).port), head, 'localhost')

export async function expectAccessible(page: Page): Promise<void> {
  await settled(page)
  // During a navigation Next removes the title for a moment.
  await expect(page).toHaveTitle(/./)
  // Without the legacy mode axe also analyses frames, and opens a page of its own for each analysis.
  const axe = new AxeBuilder({ page }).exclude('iframe').setLegacyMode()
  // Half of the work on a large page would be to describe what is right. The rule that WCAG 2.2 adds at AA is off by default.
  const rules = { 'target-size': { enabled: true } }
  const { violations } = await axe.options({ resultTypes: ['violations'], rules }).analyze()
  expect(violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ target }) => target.join(' ')) }))).toEqual([])
  if (process.env.SECOND_ENGINE) expect(await findAccessibilityFaults(page, process.env.SECOND_ENGINE)).toEqual([])
}

/** Light and wide, then dark and narrow: colours do not depend on the width. */
export async function inEachLook(page: Page, judge: () => Promise<void>): Promise<void> {
  for (const [colorScheme, size] of [
    ['light', { width: 1280, height: 800 }],
    ['dark', { width: 390, height: 844 }],
  ] as const) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize(size)
    await judge()
  }
}

/** Expects that the page is accessible and fits in each look. */
export const expectGoodInEachLook = (page: Page): Promise<void> =>
  inEachLook(page, async () => {
    await expectAccessible(page)
    await expectFits(page)
  })

/** Expects that nothing is wider than the window. */
export async function expectFits(page: Page): Promise<void> {
  const tooWide = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  await expect.poll(tooWide, { message: `sideways scroll on ${page.url()}` }).toBe(0)
}

/** Expects that text of twice the size fits too, and that no value of an operator page takes lines of a few letters. */
export async function expectFitsLarge(page: Page): Promise<void> {
  const setSize = (size: string) =>
    page.evaluate((size) => document.documentElement.style.setProperty('font-size', size), size)
  const strips = () =>
    page.locator('main :is(td[data-label] > div, dd)').evaluateAll((values) =>
      values
        .filter((value) => value.textContent && value.checkVisibility())
        .filter((value) => {
          const letter = Number.parseFloat(getComputedStyle(value).fontSize)
          return value.clientWidth < 6 * letter && value.clientHeight > 2 * letter
        })
        .map((value) => value.textContent),
    )
  await setSize('200%')
  await expectFits(page)
  await expect.poll(strips, { message: `narrow values on ${page.url()}` }).toEqual([])
  await setSize('')
}

/** Waits for animations, because a dialog that is still fading in fails the contrast check. */
const settled = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    const endless = (animation: Animation) => animation.effect?.getComputedTiming().iterations === Infinity
    // What is folded away is not rendered, and its animation never ends.
    const isShown = ({ effect }: Animation) => effect instanceof KeyframeEffect && effect.target?.checkVisibility()
    const running = document.getAnimations().filter((animation) => !endless(animation) && isShown(animation))
    await Promise.all(running.map((animation) => animation.finished.catch(() => {})))
  })

/** Returns the address that was asked for. */
export async function requestChange(
  page: Page,
  user: User,
  newEmail = `new-${user.email}`,
  texts = en,
): Promise<string> {
  const { EmailSettings, Identity, Common } = texts
  await expect(page.getByRole('button', { name: Common.accountMenu })).toBeEnabled()
  const address = page.getByLabel(EmailSettings.newEmail)
  // The form is open already where the message to another address came back.
  if (!(await address.isVisible())) await page.getByRole('button', { name: EmailSettings.changeTitle }).click()
  await address.fill(newEmail)
  await page.getByLabel(Identity.currentPassword).fill(user.password)
  await page.getByRole('button', { name: EmailSettings.submit }).click()
  await expect(page.getByRole('heading', { name: EmailSettings.pendingTitle })).toBeVisible()
  await expect(page.getByText(newEmail).first()).toBeVisible()
  return newEmail
}

export async function chooseLanguage(page: Page, language: Language, texts = en): Promise<void> {
  await page.getByRole('button', { name: new RegExp(`^${texts.Common.language}`) }).click()
  await page.getByRole('button', { name: LANGUAGE_NAMES[language], exact: true }).click()
}

/** The sixth digit submits. */
export const enterCode = (page: Page, code: string): Promise<void> => page.getByLabel('Verification code').fill(code)

export { expect }
