import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'

let dataDir: string
beforeEach(() => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'mailbox-test-'))
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(dataDir, { recursive: true, force: true })
})

/** Settings are parsed once in a process, so each test loads the module again. */
async function givenMailbox(smtpUrl?: string) {
  vi.resetModules()
  vi.stubEnv('DATA_DIR', dataDir)
  vi.stubEnv('SMTP_URL', smtpUrl)
  return import('./mailbox')
}

const message = (n: number, userId = 'usr_a') => ({
  at: new Date(Date.UTC(2026, 10, 20, 9, 0, 0, n)).toISOString(),
  userId,
  to: `u${n}@b.test`,
  from: 'no-reply@accounts.test',
  subject: `subject ${n}`,
  html: '<p>x</p>',
  text: 'x',
})

test('messages are read back whole, newest first', async () => {
  const { storeMessage, readMailbox } = await givenMailbox()
  for (const n of [2, 1, 3]) await storeMessage(message(n))
  const read = (await readMailbox()) ?? []
  expect(read.map(({ id: _, ...rest }) => rest)).toEqual([message(3), message(2), message(1)])
  expect(new Set(read.map(({ id }) => id)).size).toBe(3)
})

test('an empty mailbox has no messages, and with a mail server there is no mailbox', async () => {
  expect(await (await givenMailbox()).readMailbox()).toEqual([])
  expect(await (await givenMailbox('smtp://127.0.0.1:25')).readMailbox()).toBeNull()
})

test('the newest five hundred messages are kept', async () => {
  const { storeMessage, readMailbox } = await givenMailbox()
  for (let n = 0; n < 503; n++) await storeMessage(message(n))
  const read = (await readMailbox()) ?? []
  expect([read.length, read[0]?.subject, read.at(-1)?.subject]).toEqual([500, 'subject 502', 'subject 3'])
})

test('deleting the messages of one user keeps those of another', async () => {
  const { storeMessage, readMailbox, deleteMessages } = await givenMailbox()
  const at = new Date(Date.now() - 11 * 60_000).toISOString()
  await storeMessage({ ...message(1, 'usr_a'), at })
  await storeMessage({ ...message(2, 'usr_b'), at })
  await storeMessage({ ...message(3, 'usr_a'), at })
  await deleteMessages('usr_a')
  expect((await readMailbox())?.map(({ userId }) => userId)).toEqual(['usr_b'])
  await deleteMessages('usr_a')
  expect(readdirSync(path.join(dataDir, 'mailbox'))).toHaveLength(1)
})

test('a recent message of a deleted user can be read for ten minutes, even if the process ends meanwhile', async () => {
  const { storeMessage, readMailbox, deleteMessages } = await givenMailbox()
  await storeMessage({ ...message(1), at: new Date().toISOString() })
  await deleteMessages('usr_a')
  const [kept] = (await readMailbox()) ?? []
  expect(kept).toMatchObject({ userId: 'usr_a', subject: 'subject 1' })
  vi.useFakeTimers({ now: Date.now() + 10 * 60_000 + 1, toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const { deleteExpiredMessages } = await givenMailbox()
  await deleteExpiredMessages()
  expect(readdirSync(path.join(dataDir, 'mailbox'))).toEqual([])
})

test('only the owner can read the files, and no reader sees a partial file', async () => {
  const { storeMessage, readMailbox } = await givenMailbox()
  await storeMessage(message(1))
  const directory = path.join(dataDir, 'mailbox')
  expect(readdirSync(directory).map((name) => statSync(path.join(directory, name)).mode & 0o777)).toEqual([0o600])
  writeFileSync(path.join(directory, 'x.json.part'), '{"half')
  expect(await readMailbox()).toHaveLength(1)
})

test('concurrent writers and readers do not disturb each other', async () => {
  const { storeMessage, readMailbox } = await givenMailbox()
  const numbers = Array.from({ length: 40 }, (_, n) => n)
  await Promise.all(numbers.flatMap((n) => [storeMessage(message(n)), readMailbox()]))
  expect(await readMailbox()).toHaveLength(40)
})
