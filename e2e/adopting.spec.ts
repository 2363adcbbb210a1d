import { mkdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import path from 'node:path'
import { expect, type Page, test } from '@playwright/test'
import { blocksBelow, Shell } from './page-commands'
import { ADOPTING_URL, ISSUER_PORT, PAGE_PORT } from './service-urls'

/**
 * The examples of docs/adopting.md as they stand there, but for the ports. Each has its service, which the first block of its section
 * starts.
 */
const DATA_DIR = path.resolve('.data/e2e-adopting')

test.describe.configure({ mode: 'serial' })
test.use({ baseURL: ADOPTING_URL })
test.beforeAll(async () => {
  await rm(DATA_DIR, { recursive: true, force: true })
  await mkdir(DATA_DIR, { recursive: true })
})

const shell = new Shell(ADOPTING_URL, DATA_DIR)

async function blocksOf(heading?: string): Promise<string[]> {
  const blocks = await blocksBelow('docs/adopting.md', heading)
  return blocks.map((commands) =>
    commands
      .replaceAll('http://localhost:3000', ADOPTING_URL)
      .replaceAll('4000', ISSUER_PORT)
      .replaceAll('5173', PAGE_PORT),
  )
}

/** Starts the service as the first block says, and runs `use` with what the others print. */
async function withExample(heading: string, use: (printed: string) => Promise<unknown>) {
  const [opening = ''] = await blocksOf()
  const [start = '', ...others] = await blocksOf(heading)
  await shell.withService(start, async () => use(await shell.outputOf([opening, ...others].join('\n'))))
}

test('docs/adopting.md: a person changes the address with a token of the issuer of the adopter', async () => {
  await withExample('Your own tokens', async (printed) => {
    const [created, change, status] = linesOf(printed)
    expect(created.data).toMatchObject({ external_id: 'customer-7', email: 'mia@example.com' })
    expect(change).toMatchObject({ success: true })
    expect(status.data.pending_change).toMatchObject({ has_pending: true, new_email: 'mia.new@example.com' })
  })
})

/** Serves the page of a section as the adopter does, until `use` has ended. */
async function withPage(section: string, answer: unknown, use: (url: string) => Promise<unknown>) {
  const text = await readFile('docs/adopting.md', 'utf8')
  const html = /```html\n([\s\S]*?)```/.exec(text.slice(text.indexOf(`## ${section}`)))?.[1] ?? ''
  const server = createServer(({ url }, response) => {
    const isToken = url === '/page-token'
    response.setHeader('Content-Type', isToken ? 'application/json' : 'text/html; charset=utf-8')
    response.end(isToken ? JSON.stringify(answer) : html.replaceAll('http://localhost:3000', ADOPTING_URL))
  })
  await new Promise<void>((listening) => server.listen(Number(PAGE_PORT), '127.0.0.1', listening))
  await use(`http://localhost:${PAGE_PORT}`).finally(() => server.close())
}

test('docs/adopting.md: a person changes the address in a page of the adopter', async ({ page }) => {
  await withExample('Your own pages', async (printed) => {
    const [, { data }] = linesOf(printed)
    expect(data.page_token).toMatch(/^pgt_/)
    await withPage('Your own pages', data, async (url) => {
      await page.goto(url)
      await expect(page.getByText('Your address: liv@example.com')).toBeVisible()
      await page.getByLabel('New address').fill('liv.new@example.com')
      await page.getByRole('button', { name: 'Change' }).click()
      await expect(page.getByText('We sent a code to liv.new@example.com.')).toBeVisible()
    })
  })
})

test('docs/adopting.md: a person signs in with the identity provider of the adopter', async ({ page }) => {
  await withExample('Your identity provider', async () => {
    await page.goto('/sign-in')
    await page.getByRole('button', { name: 'Sign in with Demo ID' }).click()
    await page.getByRole('button', { name: 'Sam Stranger' }).click()
    await expectSettingsOf(page, 'sam@example.com')
  })
})

test('docs/adopting.md: imported people keep their passwords, and an export returns the same lines', async ({
  page,
}) => {
  await withExample('Import', async (printed) => {
    const [checked, ...results] = linesOf(printed)
    expect(checked).toEqual({ lines: 2, problems: 0 })
    expect(results).toMatchObject([{ result: 'created' }, { result: 'created' }])
    const given = linesOf(await readFile('.data/users.ndjson', 'utf8'))
    await shell.outputOf((await blocksOf('Leaving')).join('\n'))
    const exported = linesOf(await readFile('.data/export.ndjson', 'utf8'))
    expect(exported).toEqual(expect.arrayContaining(given))

    await page.goto('/sign-in')
    await page.getByLabel('Email').fill('noor@example.com')
    await page.getByLabel('Password').fill('correct horse')
    await page.getByRole('button', { name: 'Sign in' }).click()
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
