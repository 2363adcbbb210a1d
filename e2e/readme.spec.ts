import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from '@playwright/test'
import { startSession } from './fixtures'
import { blocksBelow, Shell } from './page-commands'
import { README_URL } from './service-urls'

const DATA_DIR = path.resolve('.data/e2e-readme')
// All start the service on one port.
test.describe.configure({ mode: 'default' })
const shell = new Shell(README_URL, DATA_DIR)

test('the commands of README.md get a first answer of the API, and let the demo account open /admin', async ({
  page,
}) => {
  const dataDir = `${DATA_DIR}-first`
  await rm(dataDir, { recursive: true, force: true })
  const [start = '', first = ''] = await blocksBelow('README.md', 'Start it')
  const ofReader = new Shell(README_URL, dataDir)
  await ofReader.withService(start, async () => {
    const said = /It answers (.*)…/.exec(first)?.[1] ?? 'no answer'
    expect(await ofReader.outputOf(first)).toContain(said)
    await startSession(
      page,
      { id: '', name: '', email: 'demo@example.com', password: 'correct horse battery' },
      README_URL,
    )
    await page.goto(`${README_URL}/admin`)
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Overview')
  })
})

test('the commands of docs/try.md change an address and delete an account, also when they run a second time', async () => {
  test.setTimeout(240_000)
  await rm(DATA_DIR, { recursive: true, force: true })
  await mkdir(DATA_DIR, { recursive: true })
  const [start = ''] = await blocksBelow('docs/try.md')
  const [person = '', change = '', withdraw = '', progress = ''] = await blocksBelow('docs/try.md', 'Both flows')
  // Curl prints one line for each answer.
  const lastLine = (printed: string) => JSON.parse(printed.trim().split('\n').at(-1) as string)

  await shell.withService(start, async () => {
    const changed = lastLine(await shell.outputOf(person + change))
    expect(changed).toMatchObject({ success: true, data: { new_email: expect.stringMatching(/^new-ada-/) } })

    const ids = 'echo "$USER_ID $WITHDRAWAL_ID $STATUS_TOKEN"'
    const printed = await shell.outputOf([person, change, withdraw, progress, ids].join('\n'))
    const [first = '', ...more] = printed.trim().split('\n').reverse()
    expect(JSON.parse(more[0] as string)).toMatchObject({ success: true, data: { status: expect.any(String) } })
    const [userId, withdrawalId, token] = first.split(' ')
    const known = `BASE=${README_URL} USER_ID=${userId} WITHDRAWAL_ID=${withdrawalId} STATUS_TOKEN=${token}\n`
    const status = async () => lastLine(await shell.outputOf(known + progress)).data.status
    await expect.poll(status, { timeout: 120_000, intervals: [2000] }).toBe('completed')
  })
})

test('every folder that docs/map.md names exists', async () => {
  const map = await readFile('docs/map.md', 'utf8')
  for (const [, folder = ''] of map.matchAll(/^(\w+)\//gm)) expect(await readdir(folder)).not.toEqual([])
})
