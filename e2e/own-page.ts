import { readFile } from 'node:fs/promises'
import { expect, type Page } from '@playwright/test'
import { codeIn, enterCode, type Inbox, linkIn } from './fixtures'

/** The only block of docs/adopting.md and docs/own-pages.md in this language, with the values of this test in place of the examples. */
export async function snippetOf(
  language: 'html' | 'js' | 'jsx' | 'text' | 'tsx',
  { service, page, person }: { service: string; page: string; person: string },
): Promise<string> {
  const pages = await Promise.all(['docs/adopting.md', 'docs/own-pages.md'].map((page) => readFile(page, 'utf8')))
  const blocks = pages.join('\n').matchAll(/^```(\w+)\n(.*?)^```$/gms)
  const found = [...blocks].filter(([, written]) => written === language)
  expect(found).toHaveLength(1)
  return (found[0]?.[2] ?? '')
    .replaceAll('http://localhost:3000', service)
    .replaceAll('http://localhost:5173', page)
    .replaceAll('5173', new URL(page).port)
    .replaceAll('customer-6', person)
}

type Mail = Awaited<ReturnType<Inbox['latest']>>
type Verify = (page: Page, mail: Mail) => Promise<void>
const verifyByCode: Verify = (page, mail) => enterCode(page, codeIn(mail))

/** Changes the address with the message and begins the deletion, in the page of an adopter that is open. */
export async function driveOwnPage(page: Page, email: string, inbox: Inbox, verify = verifyByCode): Promise<void> {
  await expect(page.getByText(email).first()).toBeVisible()
  await page.getByRole('button', { name: 'Change address' }).click()
  await page.getByLabel('New email address').fill(`new-${email}`)
  await page.getByRole('button', { name: 'Send verification email' }).click()
  const mail = await inbox.latest(`new-${email}`, 'Verify Your New Email Address')
  await verify(page, mail)
  await expect(page.getByText(`Your email address is now new-${email}`)).toBeVisible()
  // The other part shows the new address too.
  await expect(page.getByText(new RegExp(`(?<!new-)${email}`))).toHaveCount(0)
  await followInPage(page, new URL(linkIn(mail, '#')).hash)
  await expect(page.getByText('This link has been used')).toBeVisible()
  await deleteAccount(page)
}

const followInPage = (page: Page, hash: string) => page.evaluate((hash) => window.location.assign(hash), hash)

/** The link leads to the page, which fills in its code. Opened without one, a part leaves the focus to the page. */
export const verifyByLink: Verify = async (page, mail) => {
  const code = page.getByLabel('Verification code')
  await expect(code).toBeFocused()
  await page.reload()
  await expect(code).toBeVisible()
  await expect(page.locator('body')).toBeFocused()
  const { hash } = new URL(linkIn(mail, '#'))
  const home = page.url()
  await page.goto('about:blank')
  await page.goto(`${home}${hash}`)
  await expect(code).toBeFocused()
  await expect(page.getByText('is filled in')).toBeVisible()
  await expect(page).toHaveURL(home)
  // The same in a page that is open.
  await code.fill('')
  await followInPage(page, hash)
  await expect(code).toHaveValue(/^\d{6}$/)
  await page.getByRole('button', { name: 'Verify', exact: true }).click()
}

/** Begins the deletion in a page where it stands; `prove` shows that the person is there. */
export async function deleteAccount(page: Page, prove?: () => Promise<void>): Promise<void> {
  await page.getByLabel('to confirm').fill('delete my account')
  await prove?.()
  await page.getByRole('button', { name: 'Delete my account' }).click()
  await expect(page.getByText('Your account is being deleted')).toBeVisible()
}

/** The violations of the page's policy and the errors of its scripts. */
export function faultsOf(page: Page): string[] {
  const faults: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.location().url.endsWith('/favicon.ico')) faults.push(message.text())
  })
  page.on('pageerror', ({ message }) => faults.push(message))
  return faults
}
