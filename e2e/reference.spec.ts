import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import type { Page } from '@playwright/test'
import { RECEIVER_LANGUAGES, type ReceiverLanguage } from '@/app/docs/api/receiver-samples'
import { REFERENCE_PATHS } from '@/app/docs/api/reference'
import { isForBrowsers, LANGUAGES, type Language } from '@/app/docs/api/samples'
import { checkReceiver } from '@/cli/app-check'
import { SERVICE_SCOPES } from '@/contract/define'
import { type OperationName, operations } from '@/contract/operations'
import { freePort } from '@/testing/listening'
import { createToken, type Operator } from '@/testing/operator'
import { codeIn, createUser, expect, type Inbox, linkIn, startSession, test } from './fixtures'
import { IMPATIENT_URL, SERVICE_URL } from './service-urls'

const COMMANDS: Record<Language | ReceiverLanguage, [string, ...string[]]> = {
  curl: ['bash', '-euo', 'pipefail', '-c'],
  typescript: [process.execPath, '--input-type=module', '-e'],
  node: [process.execPath, '--input-type=module', '-e'],
  python: ['python3', '-c'],
}

/** Runs what a reader of the page pastes, with the variables that the page names. */
class Reader {
  readonly variables: Record<string, string> = { BASE: SERVICE_URL }
  readonly pasted = new Set<string>()

  constructor(
    readonly language: Language,
    private readonly samples: Map<string, string>,
    /** Inside this repository, so that the client is found by its name. */
    readonly directory: string,
  ) {}

  async paste(name: OperationName | 'repeated'): Promise<string> {
    const sample = this.samples.get(`${name} ${this.language}`)
    if (!sample) throw new Error(`The page has no example of ${name} in ${this.language}`)
    this.pasted.add(name)
    const [command, ...words] = COMMANDS[this.language]
    const env = { ...process.env, ...this.variables, KEY: randomUUID(), FORCE_COLOR: '0' }
    const child = spawn(command, [...words, sample], { cwd: this.directory, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const ended = new Promise((resolve) => child.once('close', resolve))
    const [printed, complaints] = await Promise.all([text(child.stdout), text(child.stderr)])
    expect(await ended, `${name}: ${complaints}`).toBe(0)
    expect(printed).not.toMatch(/["']?success["']?: ?false/i)
    return printed
  }
}

/** The value of a member in the printed answer, in the notation of any of the languages. */
const memberOf = (printed: string, name: string) =>
  new RegExp(`(?<!\\w)["']?${name}["']?:\\s*["']([^"']+)["']`).exec(printed)?.[1] ?? `no ${name} in ${printed}`

const scopes = (...names: string[]) => names.flatMap((name) => ['--scope', name])
const secretIn = (link: string) => new URLSearchParams(new URL(link).hash.slice(1)).get('token') ?? 'no token'

async function pasteAddressAndPassword(reader: Reader, operator: Operator, inbox: Inbox) {
  const { variables } = reader
  const user = await createUser(operator)
  const base = { USER_ID: user.id, EMAIL: user.email, PASSWORD: user.password, NEW_PASSWORD: `a "\\ ${user.password}` }
  Object.assign(variables, base, { TOKEN: await createToken(operator, user.id) })

  const startChange = async (to: string) => {
    variables.NEW_EMAIL = to
    variables.CHANGE_REQUEST_ID = memberOf(await reader.paste('changeEmail'), 'change_request_id')
  }
  await startChange(`first-${user.email}`)
  // This instance has a message sent again after three seconds.
  variables.BASE = IMPATIENT_URL
  const resendAt = Date.parse(memberOf(await reader.paste('getEmailStatus'), 'resend_available_at'))
  await expect.poll(() => Date.now()).toBeGreaterThan(resendAt)
  await reader.paste('resendVerification')
  variables.BASE = SERVICE_URL
  await startChange(`second-${user.email}`)
  await reader.paste('cancelEmailChange')
  const newEmail = `third-${user.email}`
  await startChange(newEmail)
  variables.CODE = codeIn(await inbox.latest(newEmail, 'Verify Your New Email Address'))
  await reader.paste('verifyEmail')

  variables.LINK_TOKEN = secretIn(linkIn(await inbox.latest(user.email, 'Email Address Changed'), '/not-me'))
  await reader.paste('getEmailChange')
  await reader.paste('getNotMe')
  await reader.paste('undoEmailChange')

  variables.TOKEN = await createToken(operator, user.id)
  Object.assign(variables, { PASSWORD: variables.NEW_PASSWORD, NEW_PASSWORD: `b ${user.password}` })
  await reader.paste('changePassword')

  await reader.paste('requestPasswordReset')
  variables.LINK_TOKEN = secretIn(linkIn(await inbox.latest(user.email, 'Set a new password'), '/reset-password'))
  await reader.paste('getPasswordReset')
  variables.NEW_PASSWORD = `c ${user.password}`
  await reader.paste('confirmPasswordReset')
}

async function pasteWithdrawal(reader: Reader, operator: Operator, inbox: Inbox) {
  const { variables } = reader
  const user = await createUser(operator)
  const TOKEN = await createToken(operator, user.id)
  Object.assign(variables, { USER_ID: user.id, TOKEN, PASSWORD: user.password, NEW_EMAIL: `new-${user.email}` })
  if (reader.language === 'curl') {
    await reader.paste('repeated')
    expect((await inbox.all(variables.NEW_EMAIL as string)).length).toBe(1)
  }
  await reader.paste('previewWithdrawal')
  await reader.paste('exportData')
  expect((await readFile(path.join(reader.directory, 'export.zip'))).subarray(0, 2).toString()).toBe('PK')
  const started = await reader.paste('withdrawAccount')
  variables.WITHDRAWAL_ID = memberOf(started, 'withdrawal_id')
  variables.STATUS_TOKEN = memberOf(started, 'status_token')
  await reader.paste('getWithdrawalStatus')
  await reader.paste('listReceipts')
}

/** The calls of the two mailed links that the other flows do not open. */
async function pasteMailedLinks(reader: Reader, operator: Operator, inbox: Inbox, page: Page) {
  const { variables } = reader
  const user = await createUser(operator)
  // The second is a sign-in from a new device.
  for (let count = 0; count < 2; count++) {
    const browser = await page.context().browser()?.newPage()
    if (browser) await startSession(browser, user, SERVICE_URL)
  }
  Object.assign(variables, { EMAIL: user.email, NEW_PASSWORD: `a "\\ ${user.password}` })
  const link = linkIn(await inbox.latest(user.email, 'New sign-in to your account'), '/not-me')
  variables.SESSION_ID = new URLSearchParams(new URL(link).hash.slice(1)).get('session') ?? 'no session'
  variables.LINK_TOKEN = secretIn(link)
  await reader.paste('getSignIn')
  await reader.paste('disownSignIn')

  await reader.paste('requestWithdrawal')
  const mail = await inbox.latest(user.email, 'Confirm that you want to delete your account')
  variables.LINK_TOKEN = secretIn(linkIn(mail, '/delete-account/confirm'))
  await reader.paste('previewRequestedWithdrawal')
  await reader.paste('confirmRequestedWithdrawal')
}

function nameSomebody(variables: Reader['variables']): void {
  variables.EXTERNAL_ID = `customer-${randomUUID()}`
  variables.EMAIL = `${variables.EXTERNAL_ID}@example.test`
}

/** Deletes the account, and takes the task that the application then has. */
async function takeTask(reader: Reader): Promise<void> {
  const { variables } = reader
  variables.WITHDRAWAL_ID = memberOf(await reader.paste('withdrawUser'), 'withdrawal_id')
  let taken = ''
  const take = async () => {
    taken = await reader.paste('takeTasks')
    return taken
  }
  await expect.poll(take).toContain('report_token')
  variables.TASK_ID = memberOf(taken, 'id')
  variables.REPORT_TOKEN = memberOf(taken, 'report_token')
}

async function pasteCallsOfServices(reader: Reader, operator: Operator) {
  const { variables } = reader
  // A deletion task is due within a second here.
  variables.BASE = IMPATIENT_URL
  const polling = ['--name', 'Ledger', '--poll', '--acknowledges', 'later']
  const { app_id = '' } = await operator.run('app', 'register', ...polling)
  const every = scopes(...Object.keys(SERVICE_SCOPES))
  const named = ['--name', 'reference', '--app', app_id]
  const { service_token = '' } = await operator.run('service-token', 'create', ...named, ...every)
  variables.SERVICE_TOKEN = service_token
  nameSomebody(variables)
  variables.USER_ID = memberOf(await reader.paste('putUser'), 'user_id')
  await reader.paste('getUser')
  await reader.paste('findUser')
  await reader.paste('listUndeliverableUsers')
  await reader.paste('lookUp')
  await reader.paste('endUserSessions')
  variables.BLOCKER_KEY = 'invoice-4711'
  await reader.paste('putBlocker')
  await reader.paste('removeBlocker')
  await reader.paste('endBlocker')
  await reader.paste('endAccountSessions')
  const pending = ['--user', variables.USER_ID, '--status', 'pending']
  variables.TRANSACTION_ID = (await operator.run('transaction', 'add', ...pending)).transaction_id ?? ''
  await reader.paste('endTransaction')

  variables.APP_ID = app_id
  await reader.paste('putConnection')
  await reader.paste('listConnections')
  await reader.paste('removeConnection')
  await reader.paste('putConnection')
  await takeTask(reader)
  await reader.paste('reportOnTask')
  // The task is over. An open one is retried and waived.
  nameSomebody(variables)
  await reader.paste('putUser')
  await reader.paste('putConnection')
  await takeTask(reader)
  await reader.paste('retryTask')
  await reader.paste('waiveTask')
  await reader.paste('retryWithdrawal')

  const shop = ['--name', 'Shop', '--endpoint', 'http://127.0.0.1:9/hooks']
  variables.APP_ID = (await operator.run('app', 'register', ...shop)).app_id ?? ''
  for (const name of [
    'listApps',
    'getApp',
    'setApp',
    'rotateAppSecret',
    'pingApp',
    'resendDeadLetters',
    'listEvents',
  ] as const) {
    await reader.paste(name)
  }
  await reader.paste('removeApp')
}

/** Every example of these pages, by operation and language. */
async function samplesOf(page: Page, paths = REFERENCE_PATHS): Promise<Map<string, string>> {
  const samples = new Map<string, string>()
  for (const path of paths) {
    await page.goto(path)
    const shown = await page.locator('[data-operation]').evaluateAll((elements) =>
      elements.map((element) => {
        const { operation, language } = (element as HTMLElement).dataset
        return [`${operation} ${language}`, element.querySelector('pre')?.textContent ?? ''] as const
      }),
    )
    for (const [name, sample] of shown) samples.set(name, sample)
  }
  return samples
}

/** Operations for a mail provider or a page of another origin. Other tests call them. */
const CALLED_BY_OTHERS: readonly OperationName[] = ['receiveMailEvents', 'issuePageToken']

for (const language of Object.keys(LANGUAGES) as Language[]) {
  test(`every example of /docs/api in ${LANGUAGES[language]} runs as pasted`, async ({ page, operator, inbox }) => {
    test.setTimeout(240_000)
    const directory = path.resolve('.data/e2e-reference', language)
    await mkdir(directory, { recursive: true })
    const samples = await samplesOf(page)
    const reader = new Reader(language, samples, directory)
    await pasteAddressAndPassword(reader, operator, inbox)
    await pasteWithdrawal(reader, operator, inbox)
    await pasteMailedLinks(reader, operator, inbox, page)
    await pasteCallsOfServices(reader, operator)
    const isWithKey = ([name, sample]: [string, string]) => name.endsWith(language) && /idempotency-?key/i.test(sample)
    const withKey = [...samples].filter(isWithKey).map(([name]) => name.split(' ')[0])
    expect(withKey).toEqual(expect.arrayContaining(['withdrawAccount', 'withdrawUser', 'rotateAppSecret']))
    const wanted = operations.filter((one) => !isForBrowsers(one)).map(({ name }) => name as OperationName)
    expect(wanted.filter((name) => !reader.pasted.has(name))).toEqual(CALLED_BY_OTHERS)
  })
}

for (const language of Object.keys(RECEIVER_LANGUAGES) as ReceiverLanguage[]) {
  test(`the receiver of /docs/api in ${RECEIVER_LANGUAGES[language]} takes what the service signs, also after a rotation, and nothing else`, async ({
    page,
    operator,
  }) => {
    const sample = (await samplesOf(page, ['/docs/api/webhooks'])).get(`receive ${language}`) ?? 'no sample'
    const PORT = String(await freePort())
    const url = `http://127.0.0.1:${PORT}/account-messages`
    const { app_id = '', signing_secret: secret = '' } = await operator.run(
      ...['app', 'register', '--name', `Receiver in ${language}`, '--endpoint', url],
    )
    const [command, ...words] = COMMANDS[language]
    const env = { ...process.env, PORT, SIGNING_SECRET: secret }
    const receiver = spawn(command, [...words, sample], { env, stdio: 'ignore' })
    try {
      const status = () =>
        fetch(url, { method: 'POST' }).then(
          (answer) => answer.status,
          () => 0,
        )
      await expect.poll(status).toBe(401)
      const calls = await checkReceiver({ url, secret, appUrl: SERVICE_URL, checks: false })
      expect(calls.filter(({ mend }) => mend)).toEqual([])

      const { status: pinged } = await operator.run('app', 'ping', app_id)
      await operator.run('app', 'rotate-secret', app_id)
      const { status: pingedByBoth } = await operator.run('app', 'ping', app_id)
      const success = language === 'typescript' ? 200 : 204
      expect([pinged, pingedByBoth]).toEqual([success, success])
    } finally {
      receiver.kill()
    }
  })
}

test('a search of the API reference by code, word or field leads to the row, and opens what is folded around it', async ({
  page,
}) => {
  await page.goto('/docs/api')
  const contents = page.getByRole('navigation', { name: 'API reference' })
  const search = contents.getByRole('searchbox')
  for (const [words, name, row] of [
    ['EMAIL_004', 'Verify Email Address', 'EMAIL_004'],
    ['expired', 'Verify Email Address', 'EMAIL_004'],
    ['new_email', 'Change Email', 'new_email'],
    ['resend_available_at', 'Email Status', 'pending_change.resend_available_at'],
    ['REQUEST_004', 'Common errors', 'REQUEST_004'],
  ] as const) {
    await search.fill(words)
    const found = contents.getByRole('listitem').filter({ has: page.getByRole('link', { name }) })
    await found.getByRole('link', { name: row }).first().click()
    const section = page.getByRole('region', { name })
    await expect(section.getByText(row, { exact: true }).first(), words).toBeInViewport()
  }
  await search.fill('retry')
  await expect(contents.getByRole('link', { name: 'Retry a Withdrawal' })).toBeVisible()
  await expect(contents.getByRole('link', { name: 'RATE_001' })).toBeHidden()
  for (const [words, hash] of [
    ['webhook signature', 'webhooks#verifying'],
    ['verify webhook signature', 'webhooks#verifying'],
    ['hmac', 'webhooks#verifying'],
    ['idempotent', '#idempotency'],
    ['openapi', '#introduction'],
    ['SDK', '#examples'],
    ['pagination', 'users#listUndeliverableUsers'],
    ['timeout', 'webhooks#attempts'],
    ['webhok signature', 'webhooks#verifying'],
    ['idempotecy', '#idempotency'],
    ['error codes', 'errors#codes'],
    ['service token', '#authentication'],
    ['withdraw account', 'account#withdrawAccount'],
    ['delete', '#deleting'],
    ['delete user', '#deleting'],
    ['delete user from backend', '#deleting'],
    ['behalf', 'users#withdrawUser'],
    ['how to delete an account from the backend', '#deleting'],
    ['verify quux', 'email#verifyEmail'],
    ['EMAIL_003', 'errors#EMAIL_003'],
    ['status', 'email#getEmailStatus'],
    ['retry', 'users#retryWithdrawal'],
    ['available', 'email#getEmailStatus.data.pending_change.resend_available_at'],
  ] as const) {
    // A page that has just opened takes no input yet.
    await expect(async () => {
      await search.fill(words)
      await search.press('Enter')
      expect(page.url(), words).toMatch(new RegExp(`/docs/api/?${hash}$`))
    }).toPass()
  }
  await page.goto('/docs/api')
  await search.fill('AUTH_001')
  await expect(contents.getByRole('link', { name: 'AUTH_001' }).first()).toBeVisible()
  await expect(contents.getByRole('link', { name: 'REAUTH_001' })).toHaveCount(0)
  for (const words of ['remove user', 'delete user', 'delete a user from my backend']) {
    await search.fill(words)
    await expect(contents.getByRole('link', { name: 'Withdraw on Behalf of a User' })).toBeVisible()
  }
  await search.fill('verify')
  await expect(contents.getByRole('link', { name: 'Verify a signature' })).toBeVisible()
  await search.fill('quux')
  const status = contents.getByRole('status')
  await expect(status).toContainText('Nothing in the reference has these words. Try delete, verify')
  await status.getByRole('button', { name: 'webhook' }).click()
  await expect(contents.getByRole('link', { name: 'Receiving messages' })).toBeVisible()
  await search.fill('quux')
  await status.getByRole('link', { name: 'overview' }).click()
  await expect(page.getByRole('heading', { name: 'API documentation' })).toBeInViewport()
})

test('the arrow keys go through what a search of the API reference has found, and back', async ({ page }) => {
  await page.goto('/docs/api')
  const contents = page.getByRole('navigation', { name: 'API reference' })
  const search = contents.getByRole('searchbox')
  const hits = contents.getByRole('listitem').getByRole('link').filter({ visible: true })
  // A page that has just opened takes no input yet.
  await expect(async () => {
    await search.fill('EMAIL_004')
    await search.press('ArrowDown')
    await expect(hits.first()).toBeFocused({ timeout: 500 })
  }).toPass()
  await page.keyboard.press('ArrowDown')
  await expect(hits.nth(1)).toBeFocused()
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowUp')
  await expect(search).toBeFocused()
})

test('the API reference marks the section of the reader, and shows one language on all of its pages', async ({
  page,
}) => {
  await page.goto('/docs/api/email')
  const contents = page.getByRole('navigation', { name: 'API reference' })
  const entry = contents.getByRole('link', { name: 'Verify Email Address' })
  await entry.click()
  await expect(entry).toHaveAttribute('aria-current', 'location')

  const section = page.getByRole('region', { name: 'Verify Email Address' })
  await expect(section.getByText('curl -sS')).toBeVisible()
  await page.getByRole('radio', { name: 'Python' }).check()
  await expect(section.getByText('curl -sS')).toBeHidden()
  await expect(section.getByText('from urllib.request')).toBeVisible()
  await contents.getByRole('link', { name: 'Account', exact: true }).click()
  const other = page.getByRole('region', { name: 'Withdraw Account' })
  await expect(other.getByText('from urllib.request')).toBeVisible()
})

test('B133 the API reference opens in a browser that refuses to store anything', async ({ page }) => {
  await page.addInitScript(() => {
    Object.defineProperty(window, 'sessionStorage', {
      get() {
        throw new DOMException('The browser refuses.', 'SecurityError')
      },
    })
  })
  const errors: Error[] = []
  page.on('pageerror', (error) => errors.push(error))
  await page.goto('/docs/api/email')
  await page.getByRole('radio', { name: 'Python' }).check()
  const section = page.getByRole('region', { name: 'Verify Email Address' })
  await expect(section.getByText('from urllib.request')).toBeVisible()
  expect(errors).toEqual([])
})

test('the overview of the API reference leads to an operation with scripts off', async ({ browser }) => {
  const still = await (await browser.newContext({ javaScriptEnabled: false, baseURL: SERVICE_URL })).newPage()
  await still.goto('/docs/api')
  await still.getByRole('main').getByRole('link', { name: 'Withdraw Account' }).click()
  await expect(still.getByRole('heading', { name: 'Withdraw Account' })).toBeInViewport()
  await expect(still.getByRole('searchbox')).toBeHidden()
  await still.context().close()
})

test('the API reference folds its contents on a phone, beside the search, whose words unfold them', async ({
  page,
}) => {
  for (const width of [390, 320]) {
    await page.setViewportSize({ width, height: 844 })
    await page.goto('/docs/api/account')
    const entry = page.getByRole('navigation').getByRole('link', { name: 'Withdraw Account' }).first()
    const reach = async () => {
      await entry.click()
      await expect(page.getByRole('heading', { name: 'Withdraw Account' })).toBeInViewport()
      await expect(entry).toBeHidden()
    }
    await page.getByText('Contents', { exact: true }).click()
    await reach()
    await page.getByRole('searchbox').fill('delete account')
    await reach()
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
  }
})

test('on a phone in the dark the scope header breaks behind its name, and a language that is not chosen is no grey disc', async ({
  page,
}) => {
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.setViewportSize({ width: 320, height: 844 })
  await page.goto('/docs/api/users')
  const names = page.getByText('X-Required-Scope:', { exact: true })
  const lines = await names.evaluateAll((all) => all.map((name) => name.getClientRects().length))
  expect([...new Set(lines)]).toEqual([1])
  const ground = await page.getByRole('searchbox').evaluate((field) => getComputedStyle(field).backgroundColor)
  const other = page.getByRole('radio', { name: 'Python' })
  await expect(other).toHaveCSS('appearance', 'none')
  await expect(other).toHaveCSS('background-color', ground)
})

test('/docs leads to the reference', async ({ request, baseURL }) => {
  expect((await request.get('/docs')).url()).toBe(`${baseURL}/docs/api`)
})

for (const path of ['/docs/api/nope', '/docs/api/email/nope']) {
  test(`${path}, which does not exist, leads back to the reference`, async ({ page }) => {
    expect((await page.goto(path))?.status()).toBe(404)
    await expect(page).toHaveTitle(/^No such page, API documentation/)
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('The reference has no such page')
    await page.getByRole('link', { name: 'To the API reference' }).click()
    await expect(page).toHaveURL(/\/docs\/api$/)
  })
}
