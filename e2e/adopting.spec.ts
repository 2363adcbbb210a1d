import { execFile } from 'node:child_process'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, type Locator, type Page, type Request, test } from '@playwright/test'
import { build } from 'esbuild'
import { codeIn, inboxOf, linkIn, submitSignIn } from './fixtures'
import { deleteAccount, driveOwnPage, faultsOf, snippetOf, verifyByLink } from './own-page'
import { blocksBelow, Shell } from './page-commands'
import { ADOPTING_URL, ISSUER_PORT, PAGE_PORT } from './service-urls'

/** Runs the examples of docs/adopting.md and docs/own-pages.md as printed, but for the ports. The first block of each section starts its service. */
const DATA_DIR = path.resolve('.data/e2e-adopting')

test.describe.configure({ mode: 'serial' })
test.use({ baseURL: ADOPTING_URL })
test.beforeAll(async () => {
  await rm(DATA_DIR, { recursive: true, force: true })
  await mkdir(DATA_DIR, { recursive: true })
})

const shell = new Shell(ADOPTING_URL, DATA_DIR)

async function blocksOf(file: string, heading?: string): Promise<string[]> {
  const blocks = await blocksBelow(`docs/${file}`, heading)
  return blocks.map((commands) =>
    commands
      .replaceAll('http://localhost:3000', ADOPTING_URL)
      .replaceAll('4000', ISSUER_PORT)
      .replaceAll('5173', PAGE_PORT),
  )
}

/** Starts the service as the first block says, and runs `use` with what the others print. */
async function withExample(place: string, use: (printed: string) => Promise<unknown>) {
  const [file = '', heading] = place.split('#')
  const [opening = '', start = '', ...others] = [...(await blocksOf(file)), ...(await blocksOf(file, heading))]
  await shell.withService(start, async () => use(await shell.outputOf([opening, ...others].join('\n'))))
}

test('docs/adopting.md: a person changes the address with a token of the issuer of the adopter', async () => {
  await withExample('adopting.md#Your own tokens', async (printed) => {
    const [created, change, status] = linesOf(printed)
    expect(created.data).toMatchObject({ external_id: 'customer-7', email: 'mia@example.com' })
    expect(change).toMatchObject({ success: true })
    expect(status.data.pending_change).toMatchObject({ has_pending: true, new_email: 'mia.new@example.com' })
  })
})

const PACKAGE = path.resolve('.data/e2e-package')
const POLICY = `default-src 'self'; connect-src 'self' ${ADOPTING_URL}; require-trusted-types-for 'script'`

/** What the backend of the adopter answers to its page. */
type Backend = () => object | null | undefined

/** A page of the adopter with a strict policy, which serves these files and its person's page token, until `use` has ended. */
async function withPage(answer: Backend, files: Record<string, string>, use: (url: string) => Promise<unknown>) {
  const TYPES: Record<string, string> = { js: 'text/javascript', css: 'text/css', html: 'text/html; charset=utf-8' }
  const server = createServer(async ({ url = '/', method }, response) => {
    response.setHeader('Content-Security-Policy', POLICY)
    if (method === 'POST') return response.writeHead(answer() === null ? 401 : 200).end(JSON.stringify(answer()))
    if (url === '/favicon.ico') return response.writeHead(204).end()
    const name = url === '/' ? 'index.html' : url.slice(1)
    const content = files[name] ?? (await readFile(path.join(PACKAGE, 'client', name)).catch(() => null))
    response.setHeader('Content-Type', TYPES[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream')
    return response.writeHead(content === null ? 404 : 200).end(content ?? '')
  })
  await new Promise<void>((listening) => server.listen(Number(PAGE_PORT), '127.0.0.1', listening))
  await use(`http://localhost:${PAGE_PORT}`).finally(() => {
    server.close()
    // The browser would ask the next page from this server, over a connection that it still has.
    server.closeAllConnections()
  })
}

/** Replaces the ports of the example by those of this test. */
const given = (person: string) => ({ service: ADOPTING_URL, page: `http://localhost:${PAGE_PORT}`, person })

/** A page may make a part as wide as its content. */
async function expectOwnWidth(page: Page) {
  const widths = await page.evaluate(() => {
    Object.assign(document.body.style, { display: 'grid', placeItems: 'center' })
    const roots = [document, ...[...document.querySelectorAll('*')].flatMap((each) => each.shadowRoot ?? [])]
    const parts = roots.flatMap((root) => [...root.querySelectorAll('.account-parts')])
    const widths = parts.map(({ clientWidth }) => clientWidth)
    document.body.removeAttribute('style')
    return widths
  })
  expect(Math.min(...widths)).toBeGreaterThan(500)
}

/** Has the person use the page under a policy that refuses inline code, and expects that the policy refused nothing. */
async function expectUsable(page: Page, url: string, email: string, verify?: typeof verifyByLink) {
  const faults = faultsOf(page)
  await page.addInitScript(() => {
    const note = (event: Event) => {
      document.title += ` · ${event.type}: ${Object.keys((event as CustomEvent).detail)}`
    }
    for (const type of ['email-changed', 'deletion-started']) document.addEventListener(type, note)
  })
  await page.goto(url)
  await page.getByRole('button', { name: 'Change address' }).click()
  await expectTextKeptWhenMoved(page)
  await expectColorsOfPage(page)
  await expectAsDarkAsPage(page)
  await expectSameSizeAtSmallRem(page)
  await expectSameUnderLoudStyles(page)
  await expectOwnWidth(page)
  await page.getByRole('button', { name: 'Close' }).click()
  await driveOwnPage(page, email, inboxOf(DATA_DIR), verify)
  expect(faults).toEqual([])
}

test('B58 B59 docs/own-pages.md: a person changes the address and deletes the account in a page of the adopter, with elements, with React and with hooks', async ({
  page,
}) => {
  test.setTimeout(180_000)
  await promisify(execFile)(process.execPath, ['scripts/pack-client.ts', PACKAGE])
  await withExample('own-pages.md#Quickstart', async (printed) => {
    const html = await snippetOf('html', given('customer-6'))
    const elements = { 'index.html': html.replace('<title>', `${OWN_STYLES}<title>`), ...STYLES }
    await withPage(
      () => tokenIn(printed),
      elements,
      async (url) => {
        await expectUsable(page, url, 'liv@example.com', verifyByLink)
        await expect(page).toHaveTitle(
          'Your settings · email-changed: email · deletion-started: withdrawalId,statusToken',
        )
        await page.reload()
        await expect(page).toHaveTitle('Your settings')
        await expect(page.getByText('You asked to delete this account.')).toBeVisible()
        // The attribute `hidden` is the page's own.
        await page.locator('account-email').evaluate((part) => part.setAttribute('hidden', ''))
        await expect(page.locator('account-email')).toBeHidden()
        await expect(page.getByText('Your account is being deleted')).toBeVisible()
        await expect(page.getByRole('alert').filter({ hasText: /./ })).toHaveCount(0)
      },
    )
    const tom = await tokenOf('customer-81', 'tom')
    let session: object | null = tom
    const withSlash = { ...given('customer-81'), service: `${ADOPTING_URL}/` }
    const elementsOfTom = (await snippetOf('html', withSlash)).replaceAll(' token-url="/page-token"', '')
    await withPage(
      () => session,
      { 'index.html': elementsOfTom.replace('</main>', '</main><script src="ask.js"></script>'), 'ask.js': ASK },
      async (url) => {
        const become = (next: object | null) => {
          session = next
        }
        await expectLinkKept(page, url, 'tom@example.com', { leave: () => become(null), comeBack: () => become(tom) })
        await expectFormBesideSilentApp(page, 'tom@example.com')
        await expectLostAnswerTakenUp(page, () => become({ error: { code: 'USER_001' } }))
      },
    )
    const app = await snippetOf('tsx', given('customer-5'))
    const ida = await tokenOf('customer-5', 'ida')
    let answer: ReturnType<Backend>
    await withPage(
      () => answer,
      await bundled(app),
      async (url) => {
        await expectWayOut(
          page,
          url,
          (next) => {
            answer = next
          },
          ida,
        )
        const other = await page.context().newPage()
        await other.goto(url)
        await expectUsable(page, url, 'ida@example.com')
        answer = { error: { code: 'USER_001' } }
        await expectGone(other)
        await page.reload()
        await expect(page.getByText('Your account is being deleted')).toBeVisible()
      },
    )
    const form = await snippetOf('jsx', given('customer-4'))
    const parts = /<EmailSettings.*<DeleteAccount[^\n]*\/>/s
    const own = app.replaceAll('customer-5', 'customer-4').replace(parts, '<Hooks><Address /></Hooks>')
    const eva = await tokenOf('customer-4', 'eva')
    await withPage(
      () => eva,
      await bundled(`${form}${own}`),
      async (url) => {
        await page.goto(url)
        await useHooks(page, 'eva@example.com')
      },
    )
  })
})

const CANNOT_SHOW = 'We can’t show your settings right now'

/** How a page asks whose backend wants a header. */
const ASK = `
  const pageToken = async () => {
    const answer = await fetch('/page-token', { method: 'POST', headers: { 'X-CSRF-Token': 'of the session' } })
    return answer.status === 401 ? null : answer.json()
  }
  for (const part of document.querySelectorAll('account-email, account-deletion')) part.pageToken = pageToken`

/** The button leads to the sign-in of the adopter, which this test does not serve. */
async function expectLeaving(page: Page, url: string, button: Locator) {
  const left = page.waitForRequest(`${url}/sign-in`)
  await button.click()
  await left
}

interface Session {
  leave(): void
  comeBack(): void
}

/** A session that ends in either form is said to have ended and is renewed from there, and a mailed link that is opened without one works after the sign-in. */
async function expectLinkKept(page: Page, url: string, email: string, { leave, comeBack }: Session) {
  const endSession = () => {
    leave()
    const json = { success: false, error: { code: 'AUTH_001', message: '', details: '' } }
    return page.route('**/api/v1/**', (route) => route.fulfill({ status: 401, json }))
  }
  const renewSession = () => {
    comeBack()
    return page.unroute('**/api/v1/**')
  }
  await page.goto(url)
  await page.getByLabel('to confirm').fill('delete my account')
  await endSession()
  await page.getByRole('button', { name: 'Delete my account' }).click()
  await expect(page.getByText('Your session has ended.')).toBeVisible()
  // The page looks again at what holds a deletion back, and no application is to blame.
  const refused = page.waitForResponse((response) => response.status() === 401)
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')))
  await refused
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
  await expect(page.getByText('A connected app hasn’t answered yet.')).toHaveCount(0)
  await renewSession()
  await page.goto(url)
  await page.getByRole('button', { name: 'Change address' }).click()
  await page.getByLabel('New email address').fill(`new-${email}`)
  await endSession()
  await page.getByRole('button', { name: 'Send verification email' }).click()
  await expect(page.getByText('Your session has ended.')).toBeVisible()
  await expectLeaving(page, url, page.getByRole('button', { name: 'Confirm with Corner Shop' }).first())
  await renewSession()
  await page.goto(url)
  await expect(page.getByLabel('New email address')).toHaveValue(`new-${email}`)
  // The service is another origin, and a page may not read every answer of it.
  const calls = /\/api\/(v1|health)\//
  await page.route(calls, (route) => route.abort())
  await page.getByRole('button', { name: 'Send verification email' }).click()
  await expect(page.getByText('This page keeps trying.')).toBeVisible()
  await page.unroute(calls)
  const link = linkIn(await inboxOf(DATA_DIR).latest(`new-${email}`, 'Verify Your New Email Address'), '#')
  leave()
  await page.goto('about:blank')
  await page.goto(`${url}/${new URL(link).hash}`)
  await expectLeaving(page, url, page.getByRole('button', { name: 'Sign in' }))
  comeBack()
  await page.goto(url)
  await expect(page.getByText('is filled in')).toBeVisible()
}

/** The form stands there while an application with checks does not answer. */
async function expectFormBesideSilentApp(page: Page, email: string) {
  await shell.outputOf(`npm run -s account -- app register --name Silent --endpoint http://127.0.0.1:9/ --checks
    npm run -s account -- app connect --email ${email} --app Silent --subject 1`)
  await page.reload()
  const unknown = page.getByText('We couldn’t check whether something has to be settled first')
  await expect(unknown).toBeVisible()
  await expect(page.getByLabel('to confirm')).toBeVisible()
  await shell.outputOf('npm run -s account -- app disable Silent')
  await page.getByRole('button', { name: 'Check again' }).click()
  await expect(unknown).toBeHidden()
}

/** A deletion that was pressed while the service is away does not begin by itself when it is back. */
async function expectNothingBegun(page: Page) {
  const sent: string[] = []
  const note = (request: Request) => void (request.url().endsWith('/withdraw') && sent.push(request.method()))
  page.on('request', note)
  const calls = /\/api\/(v1|health)\//
  await page.route(calls, (route) => route.abort())
  await page.getByLabel('to confirm').fill('delete my account')
  await page.getByRole('button', { name: 'Delete my account' }).click()
  await expect(page.getByText('nothing was deleted')).toBeVisible()
  await page.unroute(calls)
  await expect(page.getByText('We can reach the service again.')).toBeVisible()
  page.off('request', note)
  expect(sent).toEqual([])
}

/** A deletion whose answer was lost shows its progress once the service answers, also if the backend no longer knows the account. */
async function expectLostAnswerTakenUp(page: Page, end: () => void) {
  // The part needs nothing that a token for the deletion alone may not read.
  const status = '**/email/status'
  await page.route(status, (route) => route.abort())
  await page.reload()
  await expect(page.getByLabel('to confirm')).toBeVisible()
  await page.unroute(status)
  await expectNothingBegun(page)
  await page.route('**/withdraw', async (route) => {
    await route.fetch()
    end()
    await route.abort()
  })
  await page.getByLabel('to confirm').fill('delete my account')
  await page.getByRole('button', { name: 'Delete my account' }).click()
  await expect(page.getByText('the deletion may have started')).toBeVisible()
  await page.unroute('**/withdraw')
  await expect(page.getByText('Your account is being deleted')).toBeVisible()
}

/** The account was deleted in another tab, which the parts learn from their next call. */
async function expectGone(page: Page) {
  await page.getByRole('button', { name: 'Change address' }).click()
  await page.getByLabel('New email address').fill('late@example.com')
  await page.getByRole('button', { name: 'Send verification email' }).click()
  await expect(page.getByText('We couldn’t find this account')).toHaveCount(1)
  await expect(page.getByRole('textbox')).toHaveCount(0)
}

/** Expects a message when the backend fails or gives no token, and when the service refuses its tokens; and that the parts come once it is well. */
async function expectWayOut(page: Page, url: string, answers: (answer: ReturnType<Backend>) => void, good: object) {
  for (const failing of [undefined, { error: 'down' }]) {
    answers(failing)
    await page.goto(url)
    await expect(page.getByText(CANNOT_SHOW)).toHaveCount(1)
  }
  answers({ error: { code: 'USER_001' } })
  await page.goto(url)
  await expect(page.getByText('We couldn’t find this account')).toHaveCount(1)
  await expect(page.getByRole('button', { name: 'Try again' })).toHaveCount(0)
  answers(await tokenOf('customer-80', 'joe'))
  await page.goto(url)
  await expect(page.getByText('signed in to another account')).toHaveCount(1)
  await expect(page.getByRole('button', { name: 'Try again' })).toHaveCount(0)
  answers(undefined)
  await page.goto(url)
  await expect(page.getByText(CANNOT_SHOW)).toHaveCount(1)
  answers({ page_token: 'pgt_of_nobody', expires_at: '2100-01-01T00:00:00.000Z' })
  await page.getByRole('button', { name: 'Try again' }).first().click()
  await expect(page.getByText('Your session has ended.')).toHaveCount(1)
  answers(null)
  await page.goto(url)
  await expect(page.getByText('Your session has ended.')).toHaveCount(1)
  await expectLeaving(page, url, page.getByRole('button', { name: 'Sign in' }))
  answers(undefined)
  await page.goto(url)
  const away = page.getByText(CANNOT_SHOW)
  await expect(away).toHaveCount(1)
  // The first part may stand in a tab that is hidden.
  const first = page.locator('body > div').first()
  await first.evaluate((part) => part.setAttribute('hidden', ''))
  await expect(away.filter({ visible: true })).toHaveCount(1)
  await first.evaluate((part) => part.removeAttribute('hidden'))
  await expect(away.filter({ visible: true })).toHaveCount(1)
  answers(good)
  // By themselves, within seconds.
  await expect(page.getByRole('button', { name: 'Change address' })).toBeVisible()
  await expect(page.getByLabel('to confirm')).toBeVisible()
}

/** An element that the page moves keeps what was typed. */
async function expectTextKeptWhenMoved(page: Page) {
  const address = page.getByLabel('New email address')
  await address.fill('typed@example.com')
  await page.evaluate(() => {
    const part = document.querySelector('account-email')
    if (part) document.body.prepend(part)
  })
  await expect(address).toHaveValue('typed@example.com')
  // The colours of the focus fade, and later checks compare colours.
  await address.blur()
}

/** What the page sets for the parts, and its own rules for all elements, with low and high specificity. */
const STYLES = {
  'own.css': `
    body { font-family: Courier; text-align: center; letter-spacing: 2px }
    :root { --accent: lime; --account-accent: #8a1538; --account-action: #8a1538; --account-title-size: 30px }`,
  'loud.css': `
    * { text-transform: uppercase; transition: all 1s; line-height: 3 }
    div:not(#root), section, form, fieldset, legend, details, summary, h2, p, span, bdi, a, ul, li, dl, dt, dd, label, button, input, textarea, svg {
      font: italic 300 30px serif; color: red; background: lime; border: 3px dotted blue; margin: 40px; padding: 9px; float: right;
      text-align: center; letter-spacing: 3px; display: inline-block; width: 99px; fill: red; opacity: .5; box-shadow: 0 0 9px red }
    path, circle { stroke: red; fill: red }
    ::before, ::after { content: 'x' }
    ::placeholder { color: red }
    input[type], button:not(.x):not(.y), #page p, #page h2, #page label { color: lime; margin: 8px; border-radius: 99px; appearance: none }`,
}
const OWN_STYLES = '<link rel="stylesheet" href="own.css">'

async function expectColorsOfPage(page: Page) {
  const button = page.getByRole('button', { name: 'Send verification email' })
  await expect(button).toHaveCSS('background-color', 'rgb(138, 21, 56)')
  await expect(button).toHaveCSS('color', 'oklch(1 0 0)')
  await expect(button).toHaveCSS('font-family', 'Courier')
  const title = page.getByRole('heading', { name: 'Delete account', exact: true })
  await expect(title).toHaveCSS('font-family', 'Courier')
  await expect(title).toHaveCSS('font-size', '30px')
}

/** A page without a dark scheme shows light parts even to a person who prefers dark, and titles in its own ink. */
async function expectAsDarkAsPage(page: Page) {
  const heading = page.getByRole('heading', { name: 'Delete account', exact: true })
  const inkOf = () => heading.evaluate((element) => getComputedStyle(element).color)
  const light = await inkOf()
  await page.emulateMedia({ colorScheme: 'dark' })
  await expect.poll(inkOf).toBe(light)
  for (const [scheme, isLight] of [
    ['light dark', false],
    ['light', true],
  ] as const) {
    await page.evaluate((scheme) => document.documentElement.style.setProperty('color-scheme', scheme), scheme)
    await expect.poll(async () => (await inkOf()) === light, { message: scheme }).toBe(isLight)
  }
  const inkOfPage = (color: string) => page.evaluate((ink) => document.body.style.setProperty('color', ink), color)
  await inkOfPage('rgb(1, 2, 3)')
  await expect.poll(inkOf).toBe('rgb(1, 2, 3)')
  await inkOfPage('')
}

/** A page whose rem is ten pixels does not shrink the parts, and a reader's larger text enlarges them. */
async function expectSameSizeAtSmallRem(page: Page) {
  const button = page.getByRole('button', { name: 'Send verification email' })
  const sizeOf = () =>
    button.evaluate((element) => {
      const { fontSize, height } = getComputedStyle(element)
      return [fontSize, height]
    })
  const before = await sizeOf()
  const ofPage = (name: string, value: string) =>
    page.evaluate(([name, value]) => document.documentElement.style.setProperty(name, value), [name, value] as const)
  await ofPage('font-size', '150%')
  await expect.poll(sizeOf).not.toEqual(before)
  await ofPage('font-size', '62.5%')
  await expect.poll(sizeOf).toEqual(before)
}

/** Neither the rules nor the direction of a page reach into the parts. */
async function expectSameUnderLoudStyles(page: Page) {
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await expect(page.getByRole('button', { name: 'Delete my account' })).toBeVisible()
  // What lies under the mouse changes its colours, and takes a moment for it.
  await page.mouse.move(0, 0)
  let styles = ''
  const isStill = async () => {
    const earlier = styles
    styles = (await page.evaluate(stylesOfParts)).join()
    return styles === earlier
  }
  await expect.poll(isStill).toBe(true)
  const before = await page.evaluateHandle(stylesOfParts)
  await page.evaluate(() => {
    const sheet = document.createElement('link')
    sheet.rel = 'stylesheet'
    sheet.href = 'loud.css'
    document.body.id = 'page'
    document.documentElement.dir = 'rtl'
    return new Promise((loaded) => {
      sheet.onload = loaded
      document.head.append(sheet)
    })
  })
  const after = await page.evaluateHandle(stylesOfParts)
  const compared = await page.evaluate(
    ([before, after]) => ({ count: before.length, other: after.filter((style, index) => style !== before[index]) }),
    [before, after] as const,
  )
  expect(compared).toEqual({ count: expect.any(Number), other: [] })
  expect(compared.count).toBeGreaterThan(50_000)
}

/**
 * Every computed style of each element that the parts show, but for where the page has them; of the shapes of an icon, what they are drawn
 * with. What is folded away keeps its styles of earlier until the browser needs them. It runs in the page.
 */
function stylesOfParts(): string[] {
  const roots = [document, ...[...document.querySelectorAll('*')].flatMap((each) => each.shadowRoot ?? [])]
  const inside = roots.flatMap((root) => [...root.querySelectorAll('.account-parts, .account-parts *')])
  const shown = inside.filter((element) => element.checkVisibility())
  return shown.flatMap((element) => {
    const name = element.cloneNode(false) as Element
    const measured = element.matches('svg *') ? /^(fill|stroke|opacity)/ : /^(?!top|right|bottom|left|inset)/
    const pseudos = element.matches('input, textarea') ? [null, '::placeholder'] : [null, '::before', '::after']
    return pseudos.flatMap((pseudo) => {
      const style = getComputedStyle(element, pseudo)
      const properties = [...style].filter((property) => measured.test(property))
      return properties.map((each) => `${name.outerHTML} ${pseudo} ${each}: ${style.getPropertyValue(each)}`)
    })
  })
}

const tokenIn = (printed: string) => ({ ...linesOf(printed)[1].data, authenticated_at: new Date().toISOString() })

/** A page token for another person than that of the example. */
async function tokenOf(person: string, name: string) {
  const [opening, , ...others] = await blocksOf('own-pages.md', 'Quickstart')
  const commands = [opening, ...others].join('\n').replaceAll('customer-6', person).replaceAll('liv@', `${name}@`)
  return tokenIn(await shell.outputOf(commands))
}

/** Asks for a change that is cancelled, changes the address and deletes the account with parts of one's own. */
async function useHooks(page: Page, email: string) {
  const press = (name: string) => page.getByRole('button', { name }).click()
  await expect(page.getByText(email)).toBeVisible()
  await expect(page.getByText('~customer-4')).toBeVisible()
  await page.getByLabel('New address').fill(`other-${email}`)
  await press('Continue')
  await expect(page.getByLabel(`Code sent to other-${email}`)).toBeVisible()
  await press('Resend')
  await expect(page.getByText('EMAIL_008')).toBeVisible()
  await press('Cancel')
  await page.getByLabel('New address').fill(`new-${email}`)
  await press('Continue')
  const mail = await inboxOf(DATA_DIR).latest(`new-${email}`, 'Verify Your New Email Address')
  await page.getByLabel(`Code sent to new-${email}`).fill(codeIn(mail))
  await press('Continue')
  await expect(page.getByText(`new-${email}`, { exact: true })).toBeVisible()
  await expect(page.getByText('Nothing holds it back')).toBeVisible()
  await press('Delete')
  await expect(page.getByText('The deletion is processing')).toBeVisible()
}

test('an element says in its place which attribute it lacks, and takes the language that is nearest', async ({
  page,
}) => {
  const html = await snippetOf('html', given('customer-6'))
  const errors: string[] = []
  page.on('console', (message) => void (message.type() === 'error' && errors.push(message.text())))
  const files = { 'index.html': html.replaceAll(/ product="[^"]*"/g, '') }
  await withPage(
    () => undefined,
    files,
    async (url) => {
      await page.goto(url)
      await expect(page.getByText('<account-email> needs the attribute product.')).toBeVisible()
      const warnings: string[] = []
      page.on('console', (message) => void (message.type() === 'warning' && warnings.push(message.text())))
      for (const [given, shown] of [
        ['DE-at', 'de'],
        ['pt', 'pt-BR'],
        ['nl', 'en'],
      ] as const) {
        await page.locator('account-email, account-deletion').evaluateAll((parts, language) => {
          for (const [name, value] of Object.entries({ product: 'Shop', language }))
            for (const part of parts) part.setAttribute(name, value)
        }, given)
        await expect(page.locator('.account-parts').first()).toHaveAttribute('lang', shown)
      }
      expect(warnings).toEqual(['There are no texts for language="nl".'])
      await expect(page.getByText(CANNOT_SHOW)).toHaveCount(1)
      expect(errors.join()).toContain(`${url}/page-token answered 200 without JSON.`)
      // React sets a property only where it finds one.
      const part = page.locator('account-email')
      expect(await part.evaluate((element) => 'pageToken' in element)).toBe(true)
    },
  )
  await withPage(
    () => undefined,
    { 'index.html': html.replaceAll(' token-url="/page-token"', '') },
    async (url) => {
      await page.goto(url)
      await expect(page.getByText(CANNOT_SHOW)).toHaveCount(1)
      expect(errors.join()).toContain('<account-email> needs the attribute token-url or the property pageToken.')
    },
  )
})

test('docs/adopting.md: whoever comes from the app finds the way back to it, after the sign-in and when the account is being deleted', async ({
  page,
}) => {
  await withExample('adopting.md#Your mobile app', async () => {
    const max = '--email max@example.com --password "correct horse" --name Max --verified'
    await shell.outputOf(`npm run -s account -- user create ${max}`)
    await page.goto(await snippetOf('text', given('')))
    await submitSignIn(page, { email: 'max@example.com', password: 'correct horse' })
    await expect(page.getByRole('heading', { level: 1, name: 'Delete account' })).toBeVisible()
    const back = page.getByRole('link', { name: 'Back to the app' })
    await expect(back).toHaveAttribute('href', 'myshop://settings')
    await deleteAccount(page, () => page.getByLabel('Current password').fill('correct horse'))
    await expect(back).toHaveAttribute('href', 'myshop://settings')
  })
})

/** Bundles the app as the adopter does. */
async function bundled(app: string): Promise<Record<string, string>> {
  const client = path.join(PACKAGE, 'client')
  const contents = `import 'user-account-service/no-eval'
    import { createRoot } from 'react-dom/client'
    import { Hooks } from './e2e/own-hooks'
    ${app}
    createRoot(document.body).render(<Settings />)`
  const { outputFiles } = await build({
    stdin: { contents, loader: 'tsx', resolveDir: process.cwd() },
    alias: {
      'user-account-service/no-eval': `${client}/no-eval.js`,
      'user-account-service/react': `${client}/react.js`,
      'user-account-service/styles.css': `${client}/styles.css`,
      'user-account-service/texts/en': `${client}/texts/en.js`,
    },
    bundle: true,
    format: 'esm',
    jsx: 'automatic',
    nodePaths: [path.resolve('node_modules')],
    define: { 'process.env.NODE_ENV': '"production"' },
    outfile: 'main.js',
    write: false,
    logLevel: 'error',
  })
  const textOf = (ending: string) => outputFiles.find((file) => file.path.endsWith(ending))?.text ?? ''
  const page = `<!doctype html><link rel="stylesheet" href="main.css">${OWN_STYLES}<body></body><script type="module" src="main.js"></script>`
  return { 'index.html': page, 'main.js': textOf('.js'), 'main.css': textOf('.css'), ...STYLES }
}

test('docs/adopting.md: a person signs in with the identity provider of the adopter', async ({ page }) => {
  await withExample('adopting.md#Your identity provider', async () => {
    await page.goto('/sign-in')
    await page.getByRole('button', { name: 'Sign in with Demo ID' }).click()
    await page.getByRole('button', { name: 'Sam Stranger' }).click()
    await expectSettingsOf(page, 'sam@example.com')
  })
})

test('docs/adopting.md: a backend deletes an account and follows it', async () => {
  await withExample('adopting.md#Deleting from your backend', async (printed) => {
    const [created, progress] = linesOf(printed)
    expect(created.data).toMatchObject({ external_id: 'customer-3' })
    expect(progress).toMatchObject({ success: true, data: { status: 'processing' } })
  })
})

test('docs/adopting.md: imported people keep their passwords, and an export returns the same lines', async ({
  page,
}) => {
  await withExample('adopting.md#Import', async (printed) => {
    const [checked, ...results] = linesOf(printed)
    expect(checked).toEqual({ lines: 2, problems: 0 })
    expect(results).toMatchObject([{ result: 'created' }, { result: 'created' }])
    const given = linesOf(await readFile(path.join(DATA_DIR, 'users.ndjson'), 'utf8'))
    await shell.outputOf((await blocksOf('adopting.md', 'Leaving')).join('\n'))
    const exported = linesOf(await readFile(path.join(DATA_DIR, 'export.ndjson'), 'utf8'))
    expect(exported).toEqual(expect.arrayContaining(given))

    await page.goto('/sign-in')
    await submitSignIn(page, { email: 'noor@example.com', password: 'correct horse' })
    await expectSettingsOf(page, 'noor@example.com')
  })
})

const linesOf = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

async function expectSettingsOf(page: Page, email: string) {
  await expect(page.getByRole('heading', { level: 1, name: 'Email address' })).toBeVisible()
  await expect(page.getByText(email).first()).toBeVisible()
}
