import type { Request } from '@playwright/test'
import { expect, test } from './fixtures'

/** Compressed, as sent on a first visit before the first interaction. */
const MAX_SCRIPT_KB = 170

test('a first visit to the settings gets no more script than its budget, and one font', async ({
  page,
  signedInUser: _,
}) => {
  const visit = await (
    await page
      .context()
      .browser()
      ?.newContext({ storageState: await page.context().storageState() })
  )?.newPage()
  if (!visit) throw new Error('no browser')
  const scripts: Request[] = []
  const fonts: string[] = []
  visit.on('requestfinished', (request) => {
    if (request.resourceType() === 'script') scripts.push(request)
    if (request.resourceType() === 'font') fonts.push(request.url())
  })
  await visit.goto(`${new URL(page.url()).origin}/settings/email`, { waitUntil: 'networkidle' })
  const sizes = await Promise.all(scripts.map((request) => request.sizes()))
  const kilobytes = Math.round(sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0) / 1024)
  test.info().annotations.push({ type: 'script', description: `${kilobytes} KB` })
  process.stdout.write(`first visit to /settings/email: ${kilobytes} KB of script\n`)
  expect(kilobytes).toBeGreaterThan(50)
  expect(kilobytes).toBeLessThanOrEqual(MAX_SCRIPT_KB)
  expect(fonts).toEqual([expect.stringContaining('geist_latin')])
})
