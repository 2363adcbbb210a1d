import { expect, test } from './fixtures'

/** Compressed, as sent on a first visit. */
const MOST_SCRIPT_KB = 290

test('a first visit to the settings gets no more script than its budget', async ({ page, signedInUser }) => {
  expect(signedInUser.id).toMatch(/^usr_/)
  const visit = await (
    await page
      .context()
      .browser()
      ?.newContext({ storageState: await page.context().storageState() })
  )?.newPage()
  if (!visit) throw new Error('no browser')
  let bytes = 0
  visit.on('requestfinished', async (request) => {
    if (request.resourceType() === 'script') bytes += (await request.sizes()).responseBodySize
  })
  await visit.goto(`${new URL(page.url()).origin}/settings/email`, { waitUntil: 'networkidle' })
  const kilobytes = Math.round(bytes / 1024)
  test.info().annotations.push({ type: 'script', description: `${kilobytes} KB` })
  process.stdout.write(`first visit to /settings/email: ${kilobytes} KB of script\n`)
  expect(kilobytes).toBeGreaterThan(50)
  expect(kilobytes).toBeLessThanOrEqual(MOST_SCRIPT_KB)
})
