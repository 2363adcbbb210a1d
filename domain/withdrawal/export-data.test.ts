import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { seedDemoUser } from '@/server/local/demo-account'
import { asToken, givenPendingChange } from '@/testing/account'
import { givenToken } from '@/testing/callers'
import { asUser, givenSession, givenUser, type TestContext, type TestUser, testContext } from '@/testing/domain'
import { outcomeOf } from '@/testing/outcomes'
import { atStatement } from '@/testing/statements'
import { day, minute } from '../limits/durations'
import { DELETION_MAP } from './deletion-map'
import { EXPORTED, exportData } from './export-data'
import { previewWithdrawal } from './preview-withdrawal'

interface Manifest {
  created_at: string
  categories: { category: string; file: string; kind: string; records: number; sha256: string }[]
}

/** The documents by name. */
async function documentsOf(ctx: TestContext, user: TestUser): Promise<Map<string, string>> {
  const { documents } = await exportData(await asUser(ctx, user), { userId: user.userId })
  const texts = new Map<string, string>()
  for (const { name, read } of documents) {
    const pieces: Buffer[] = []
    for await (const piece of read()) pieces.push(piece)
    texts.set(name, Buffer.concat(pieces).toString())
  }
  await ctx.settle()
  return texts
}

const manifestOf = (texts: Map<string, string>): Manifest => JSON.parse(texts.get('manifest.json') ?? '')
const recordsOf = (texts: Map<string, string>, category: string): Record<string, unknown>[] =>
  JSON.parse(texts.get(`${category}.json`) ?? '')

async function givenDemoUser(ctx: TestContext): Promise<TestUser> {
  const demo = await seedDemoUser(ctx)
  const { id: userId, email } = await ctx.db.user.findUniqueOrThrow({ where: { emailKey: demo?.email ?? '' } })
  return { userId, email, password: demo?.password ?? '', sessionId: await givenSession(ctx, userId) }
}

test('the manifest lists kind, number and hash of every document, and the file has nothing else', async () => {
  const ctx = await testContext()
  const user = await givenDemoUser(ctx)
  await givenPendingChange(ctx, user)
  const texts = await documentsOf(ctx, user)
  const { created_at, categories } = manifestOf(texts)
  expect(created_at).toBe('2026-11-20T09:00:00.000Z')
  expect([...texts.keys()]).toEqual([...categories.map(({ file }) => file), 'manifest.json'])
  for (const { category, file, kind, records, sha256 } of categories) {
    const text = texts.get(file) ?? ''
    expect(createHash('sha256').update(text).digest('hex')).toBe(sha256)
    expect(JSON.parse(text)).toHaveLength(records)
    expect(kind).toBe(EXPORTED.find((one) => one.category === category)?.kind)
  }
  expect(recordsOf(texts, 'account')).toEqual([
    expect.objectContaining({ id: user.userId, email: user.email, created_at: '2026-11-20T09:00:00.000Z' }),
  ])
})

test('the export has as many records as the preview of a withdrawal counts', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  await ctx.db.preference.create({ data: { userId: user.userId, key: 'theme', value: 'dark' } })
  await ctx.db.$executeRawUnsafe(
    `INSERT INTO analytics_events SELECT 'ane_' || $1 || n, $1, 'page.viewed', '{}', now() FROM generate_series(1, 5000) n`,
    user.userId,
  )
  const { categories } = manifestOf(await documentsOf(ctx, user))
  const { erased } = await previewWithdrawal(await asUser(ctx, user), { userId: user.userId })
  const exported = (category: string) => categories.find((one) => one.category === category)?.records
  for (const category of ['account', 'preferences', 'sessions', 'analytics']) {
    expect([category, exported(category)]).toEqual([category, erased.find((one) => one.category === category)?.records])
  }
  expect(exported('analytics')).toBe(5000)
})

test("the export contains no secret, no hash and no other person's data", async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const { userId } = user
  const other = await givenUser(ctx)
  await givenToken(ctx, userId)
  await givenPendingChange(ctx, user)
  await givenPendingChange(ctx, other)
  const all = [...(await documentsOf(ctx, user)).values()].join()
  const { passwordHash } = await ctx.db.user.findUniqueOrThrow({ where: { id: userId } })
  const { tokenHash } = await ctx.db.accessToken.findFirstOrThrow({ where: { userId } })
  const { codeMac } = await ctx.db.emailChangeRequest.findFirstOrThrow({ where: { userId } })
  expect(all).toContain(user.email)
  for (const secret of [passwordHash as string, user.sessionId, other.userId, other.email]) {
    expect(all).not.toContain(secret)
  }
  for (const hash of [tokenHash, codeMac]) {
    for (const form of ['hex', 'base64', 'base64url'] as const) {
      expect(all).not.toContain(Buffer.from(hash).toString(form))
    }
  }
})

test('no entry of the map exports a column that can hold a secret', () => {
  const columns = DELETION_MAP.flatMap(({ table, exported }) =>
    exported.kind === 'never' ? [] : Object.values(exported.members).map((column) => `${table}: ${column}`),
  )
  expect(
    columns.filter((column) => /hash|mac|sealed|secret|token\b|bucket|actor_name|requested_by/.test(column)),
  ).toEqual([])
})

test('every record is exported once, however large the records are, and of blockers whatever services call theirs alike', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  // Large records and small ones, so that a batch holds many or one.
  await ctx.db.$executeRawUnsafe(
    `INSERT INTO preferences SELECT $1, 'key ' || n, repeat('x', CASE WHEN n % 100 = 0 THEN 1500000 ELSE 10 END)
     FROM generate_series(1, 1000) n`,
    user.userId,
  )
  await ctx.db.$executeRawUnsafe(
    `INSERT INTO withdrawal_blockers (user_id, source, key, code, title, created_at)
     SELECT $1, 'service ' || n % 3, 'order ' || n / 3, 'open', 'order ' || n, now() FROM generate_series(0, 149) n`,
    user.userId,
  )
  const texts = await documentsOf(ctx, user)
  const keys = recordsOf(texts, 'preferences').map(({ key }) => key)
  expect(new Set(keys).size).toBe(1000)
  expect(keys).toHaveLength(1000)
  const blockers = recordsOf(texts, 'blockers').map(({ title }) => title)
  expect([blockers.length, new Set(blockers).size]).toEqual([150, 150])
})

test('a document is read in pieces, each only when it is asked for', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  await ctx.db.$executeRawUnsafe(
    `INSERT INTO preferences SELECT $1, 'key ' || n, repeat('x', 10000) FROM generate_series(1, 2000) n`,
    user.userId,
  )
  let batches = 0
  const counting = atStatement(ctx, 'read-exported-preferences', (run) => {
    batches++
    return run()
  })
  const { documents } = await exportData(await asUser(counting, user), { userId: user.userId })
  const pieces = documents
    .find(({ name }) => name === 'preferences.json')
    ?.read()
    [Symbol.asyncIterator]()
  expect(batches).toBe(0)
  const sizes: number[] = []
  for (let piece = await pieces?.next(); piece && !piece.done; piece = await pieces?.next()) {
    expect(batches - sizes.length).toBeLessThanOrEqual(1)
    sizes.push(piece.value.length)
  }
  expect(Math.max(...sizes)).toBeLessThan(300_000)
  expect(sizes.length).toBeGreaterThan(18)
})

test('a session exports within ten minutes of its sign-in, an access token at any time, and each account twice a day', async () => {
  const ctx = await testContext()
  const user = await givenUser(ctx)
  const { userId } = user
  const program = await asToken(ctx, userId, ['account:manage'])
  ctx.clock.advance(10 * minute + 1)
  expect(await outcomeOf(exportData(await asUser(ctx, user), { userId }))).toBe('REAUTH_001')
  expect(await outcomeOf(exportData(program, { userId }))).toBe('accepted')
  expect(await outcomeOf(exportData(program, { userId }))).toBe('accepted')
  expect(await outcomeOf(exportData(program, { userId }))).toBe('RATE_001')
  ctx.clock.advance(day)
  const nextDay = await asToken(ctx, userId, ['account:manage'])
  expect(await outcomeOf(exportData(nextDay, { userId }))).toBe('accepted')
})

test('every export sends a notice to the address, even after a mail outage, and is audited', async () => {
  const ctx = await testContext()
  ctx.mailServer.accepts = false
  const user = await givenUser(ctx)
  await documentsOf(ctx, user)
  const [notice] = await ctx.db.notice.findMany({ where: { userId: user.userId } })
  expect(notice).toMatchObject({ kind: 'data_exported', sentAt: null, dueAt: expect.any(Date) })
  expect(Buffer.from(notice?.sealed ?? []).includes(user.email)).toBe(false)
  const actions = await ctx.db.auditEvent.findMany({ where: { userId: user.userId, action: 'data.exported' } })
  expect(actions).toMatchObject([{ actor: 'session', ip: '192.0.2.1' }])
})
