import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { compactVerify, createLocalJWKSet, decodeJwt, decodeProtectedHeader } from 'jose'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { type ReceiptClaims, receiptClaims } from '@/contract/receipt'
import { call, withdraw } from '@/testing/api-calls'
import { givenCaller } from '@/testing/callers'
import { asNobody, givenUser, pass, passDays, runDueWork, type TestContext, testContext } from '@/testing/domain'
import { installed } from '@/testing/install-context'
import { failingAt } from '@/testing/outcomes'
import { atStatement } from '@/testing/statements'
import { givenConnectedApps, givenParticipant, givenWithdrawal, withdrawAs, withdrawalOf } from '@/testing/withdrawals'
import { waiveTask } from '../../applications/operate-tasks'
import type { Context } from '../../context'
import { day, hour, minute } from '../../limits/durations'
import { cleanUp } from '../../work/cleanup'
import { DELETION_MAP } from '../deletion-map'
import { writeErasureLedger } from '../ledger/erasure-ledger'
import { purgeRetainedData } from '../purge-retained-data'
import { reportOnTask } from '../report-on-task'
import { createStatusToken } from '../status-token'
import { listReceipts, writeDueReceipts } from './receipts'
import { listSigningKeys, publishedKeys, rotateSigningKey } from './signing-keys'

const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url')

async function receiptsOf(withdrawalId: string, on = ctx) {
  const { receipts } = await listReceipts(on, { withdrawalId })
  return receipts.map(({ kind, receipt }) => ({ kind, receipt, claims: decodeJwt<ReceiptClaims>(receipt) }))
}

let ctx: TestContext

beforeEach(async () => {
  ctx = await installed()
})

test('F32 a withdrawal gets a receipt of its acceptance, its completion and its purge, each with the hash of the one before', async () => {
  ctx.apps.answer = async ({ endpoint }) => ({ status: endpoint.includes('shop') ? 204 : 410 })
  const { withdrawalId } = await givenWithdrawal(ctx, ['calendar', 'shop'])
  await passDays(ctx, 31)
  const receipts = await receiptsOf(withdrawalId)
  expect(receipts.map(({ kind, claims }) => [kind, claims.kind])).toEqual([
    ['acceptance', 'acceptance'],
    ['completion', 'completion'],
    ['purge', 'purge'],
  ])
  const [acceptance, completion, purge] = receipts as [(typeof receipts)[0], (typeof receipts)[0], (typeof receipts)[0]]
  expect(receipts.map(({ claims }) => claims.previous)).toEqual([
    undefined,
    sha256(acceptance.receipt),
    sha256(completion.receipt),
  ])
  const { ledgerSeq, ledgerHash } = await withdrawalOf(ctx, withdrawalId)
  expect(acceptance.claims).toEqual({
    iss: 'https://accounts.test',
    iat: Date.parse('2026-11-20T09:00:00.000Z') / 1000,
    jti: expect.stringMatching(/^rcp_[\w-]{22}$/),
    sub: withdrawalId,
    kind: 'acceptance',
    withdrawal: {
      started_at: '2026-11-20T09:00:00.000Z',
      purge_due_at: '2026-12-20T09:00:00.000Z',
      due_by: '2026-12-20T09:00:00.000Z',
    },
    log: { seq: ledgerSeq, hash: ledgerHash },
  })
  expect(completion.claims.withdrawal).toMatchObject({ completed_at: '2026-11-21T09:00:00.000Z' })
  expect(completion.claims.log).toEqual({ seq: ledgerSeq, hash: ledgerHash })
  expect(completion.claims.applications).toMatchObject([
    { name: 'calendar', answer: 'gone', at: '2026-11-21T09:00:00.000Z' },
    { name: 'shop', answer: 'told', at: '2026-11-21T09:00:00.000Z' },
  ])
  expect(purge.claims.erased?.map(({ category }) => category)).toContain('ended_credentials')
})

test("a receipt shows each application's answer: erased, kept a part, did not know the person, was told, or waived", async () => {
  const statusOf: Record<string, number> = { erases: 202, keeps: 202, knows_nobody: 404, is_told: 204, refuses: 503 }
  ctx.apps.answer = async ({ endpoint }) => ({ status: statusOf[new URL(endpoint).host.replace('.test', '')] ?? 204 })
  const names = Object.keys(statusOf)
  for (const name of names) await givenParticipant(ctx, name, { categories: ['bills'], reasons: ['law'] })
  const { withdrawalId } = await givenWithdrawal(ctx)
  await pass(ctx, day / 24)
  const tasks = await ctx.db.deletionTask.findMany({ where: { withdrawalId } })
  const idOf = (name: string) => tasks.find(({ appName }) => appName === name)?.id ?? ''
  const report = (name: string, more: object) => {
    const [taskId, caller] = [idOf(name), asNobody(ctx) as unknown as Context]
    return reportOnTask(caller, { taskId, status: 'completed', ...more })
  }
  await report('erases', { records: 14 })
  await report('keeps', { retained: [{ category: 'bills', reason: 'law' }] })
  await waiveTask(ctx, { taskId: idOf('refuses'), reason: 'refused' })
  await passDays(ctx, 1)
  const { claims } = (await receiptsOf(withdrawalId))[1] as { claims: ReceiptClaims }
  const applications = claims.applications?.filter(({ name }) => name in statusOf)
  expect(applications?.map(({ name, answer, reported_records }) => [name, answer, reported_records])).toEqual([
    ['erases', 'erased', 14],
    ['is_told', 'told', undefined],
    ['keeps', 'retained_part', undefined],
    ['knows_nobody', 'gone', undefined],
    ['refuses', 'waived', undefined],
  ])
  expect(applications?.every(({ told_at, at }) => told_at && at)).toBe(true)
  await ctx.db.connectedApp.deleteMany({ where: { name: { in: names } } })
})

test("the completion receipt has the sums of the steps' counts, one for each category", async () => {
  const { withdrawalId } = await givenWithdrawal(ctx, ['shop'])
  await passDays(ctx, 2)
  const rows = await ctx.db.deletionCount.findMany({ where: { withdrawalId } })
  const { claims } = (await receiptsOf(withdrawalId))[1] as { claims: ReceiptClaims }
  const counted = new Map<string, number>()
  for (const { category, records, outcome, step } of rows) {
    if (outcome === 'erased' && step !== 'purge') counted.set(category, (counted.get(category) ?? 0) + records)
  }
  expect(Object.fromEntries(claims.erased?.map(({ category, records }) => [category, records]) ?? [])).toEqual(
    Object.fromEntries(counted),
  )
  expect(counted.get('shared_data')).toBe(1)
  const kept = rows.filter(({ outcome }) => outcome !== 'erased')
  expect(claims.retained).toHaveLength(kept.length)
  expect(new Set(claims.retained?.map(({ until }) => until))).toEqual(new Set(['2026-12-20T09:00:00.000Z']))
})

test('a receipt has no member beyond the closed list, and nothing of the person', async () => {
  const { userId, email, withdrawalId } = await givenWithdrawal(ctx, ['shop'])
  await passDays(ctx, 31)
  for (const { receipt, claims } of await receiptsOf(withdrawalId)) {
    expect(receiptClaims.safeParse(claims).error?.issues).toBeUndefined()
    const text = JSON.stringify([claims, decodeProtectedHeader(receipt)])
    for (const mark of [userId, email, '"Ada', 'Lovelace', '192.0.2.1']) expect(text).not.toContain(mark)
    for (const { table } of DELETION_MAP) if (table.includes('_')) expect(text).not.toContain(`"${table}:`)
  }
})

/** One receipt with a key set that holds its key. */
async function givenReceipt() {
  const { withdrawalId } = await givenWithdrawal(ctx)
  const [acceptance] = await receiptsOf(withdrawalId)
  const jwks = await publishedKeys(ctx)
  const receipt = acceptance?.receipt ?? ''
  const { kid } = decodeProtectedHeader(receipt)
  const key = jwks.keys.find((key) => key.kid === kid)
  if (!key) throw new Error('the key is not published')
  return { receipt, jwks, key }
}

/** The receipt with one bit of each of its bytes flipped, one after the other. */
function* flipped(receipt: string) {
  for (const [index, part] of receipt.split('.').entries()) {
    const bytes = Buffer.from(part, 'base64url')
    for (let at = 0; at < bytes.length; at += 7) {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ 1
      yield receipt
        .split('.')
        .map((same, place) => (place === index ? changed.toString('base64url') : same))
        .join('.')
    }
  }
}

test('F32 jose verifies a receipt, with its type and the thumbprint of its key, and no receipt with a changed byte', async () => {
  const { receipt, jwks, key } = await givenReceipt()
  const keys = createLocalJWKSet(jwks)
  expect((await compactVerify(receipt, keys)).protectedHeader).toEqual({
    alg: 'Ed25519',
    typ: 'withdrawal-receipt+jwt',
    kid: sha256(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x: key.x })),
  })
  for (const changed of flipped(receipt)) await expect(compactVerify(changed, keys)).rejects.toThrow()
})

/** The commands of docs/api.md. */
const RECIPE = /```sh\n(decode\(\)[^`]*)```/.exec(readFileSync('docs/api.md', 'utf8'))?.[1] ?? 'exit 1'

test.skipIf(spawnSync('openssl', ['version']).status !== 0)(
  'F32 openssl alone verifies a receipt by the recipe of the documents',
  async () => {
    const { receipt, jwks } = await givenReceipt()
    const directory = mkdtempSync(path.join(tmpdir(), 'receipt-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    writeFileSync(path.join(directory, 'jwks.json'), JSON.stringify(jwks))
    const verify = (text: string) => {
      writeFileSync(path.join(directory, 'receipt.txt'), `${text}\n`)
      return spawnSync('sh', ['-c', `curl() { cat jwks.json; }\n${RECIPE}`], { cwd: directory }).status === 0
    }
    expect(verify(receipt)).toBe(true)
    const changed = [...flipped(receipt)]
    for (const text of [changed[0], changed.at(-1)]) expect(verify(text ?? '')).toBe(false)
  },
)

test('the status token reads the receipts for 24 months, whatever the purge has cleared; nothing else does', async () => {
  const caller = await givenCaller(ctx)
  const { data } = await withdraw(caller)
  const other = await givenWithdrawal(ctx)
  const ids = { withdrawalId: String(data.withdrawal_id) }
  const read = (token: string | null, more = {}) => call(caller, 'listReceipts', { token, ids, ...more })
  const token = String(data.status_token)
  expect((await read(token)).data).toMatchObject({ receipts: [{ kind: 'acceptance' }] })
  await passDays(ctx, 31)
  const { data: all, headers } = await read(token)
  expect(all).toEqual(await listReceipts(ctx, { withdrawalId: ids.withdrawalId }))
  expect(all.receipts).toHaveLength(3)
  expect(headers.get('RateLimit')).toMatch(/^"read"/)

  const stranger = await givenCaller(ctx)
  for (const wrong of [null, caller.token, createStatusToken(ctx, other.withdrawalId)]) {
    expect((await read(wrong)).code).toBe('AUTH_001')
  }
  expect((await read(stranger.token)).code).toBe('WITHDRAWAL_005')
  expect((await read(token, { scope: 'email:manage' })).code).toBe('WITHDRAWAL_005')
  ctx.clock.advance(730 * day - 32 * day)
  await cleanUp(ctx)
  expect((await read(token)).data.receipts).toHaveLength(3)
  ctx.clock.advance(3 * day)
  await cleanUp(ctx)
  expect((await read(token)).code).toBe('AUTH_001')
})

test('F62 receipts wait for their ledger line, and then the sweep writes each once', async () => {
  ctx.waitsForLedger = false
  // Nothing can be added to the ledger while another transaction holds its end.
  const held = atStatement(ctx, 'lock-ledger-head', () => Promise.reject(new Error('held')))
  const user = await givenUser(ctx)
  const { id } = await withdrawAs(held, user)
  for (const _day of [1, 2]) await pass(held, day).catch(() => {})
  const due = { completedAt: expect.any(Date), receiptDueAt: expect.any(Date) }
  expect(await withdrawalOf(ctx, id)).toMatchObject(due)
  expect(await receiptsOf(id)).toEqual([])
  await writeErasureLedger(ctx)
  await Promise.all([writeDueReceipts(ctx), writeDueReceipts(ctx)])
  expect((await receiptsOf(id)).map(({ kind }) => kind)).toEqual(['acceptance', 'completion'])
  expect(await withdrawalOf(ctx, id)).toMatchObject({ receiptDueAt: null })
})

test('F30 receipts that fail, and a ledger that is away, do not stop the receipts behind them', async () => {
  const ids: string[] = []
  for (let count = 0; count < 5; count++) ids.push((await givenWithdrawal(ctx)).withdrawalId)
  await passDays(ctx, 1)
  const waiting = { id: { in: ids } }
  const makeDue = async () => {
    await ctx.db.withdrawalReceipt.deleteMany({ where: { kind: 'completion' } })
    await ctx.db.withdrawal.updateMany({ where: waiting, data: { receiptDueAt: ctx.clock.now() } })
  }
  const dueOnes = async () => {
    const rows = await ctx.db.withdrawal.findMany({ where: { ...waiting, receiptDueAt: { not: null } } })
    return rows.map(({ id }) => id).sort()
  }
  await makeDue()
  const broken = [...ids].sort().slice(0, 3)
  const failing = writeDueReceipts(failingAt(ctx, 'lock-due-receipts', broken), 2)
  await expect(failing).rejects.toMatchObject({ errors: { length: 3 } })
  expect(await dueOnes()).toEqual(broken)

  await makeDue()
  ctx.ledger.put = () => Promise.reject(new Error('the store is away'))
  ctx.waitsForLedger = false
  await givenWithdrawal(ctx)
  await expect(runDueWork(ctx)).rejects.toThrow('the store is away')
  expect(await dueOnes()).toEqual([])
})

test('an application without an answer is open in the purge receipt, and told in the later completion receipt', async () => {
  ctx.apps.answer = async () => ({ status: 500 })
  const user = await givenUser(ctx)
  await givenConnectedApps(ctx, user, ['shop'])
  const { id } = await withdrawAs(ctx, user)
  await passDays(ctx, 31)
  await purgeRetainedData(ctx)
  const [, purge] = await receiptsOf(id)
  expect(purge).toMatchObject({ kind: 'purge', claims: { applications: [{ name: 'shop', answer: 'open' }] } })
  ctx.apps.answer = async () => ({ status: 204 })
  await passDays(ctx, 2)
  const receipts = await receiptsOf(id)
  expect(receipts.map(({ kind }) => kind)).toEqual(['acceptance', 'purge', 'completion'])
  expect(receipts[2]?.claims).toMatchObject({
    previous: sha256(purge?.receipt ?? ''),
    applications: [{ name: 'shop', answer: 'told' }],
  })
})

test('a new key is published a day before it signs, and old receipts are verified with the old one', async () => {
  await ctx.db.signingKey.deleteMany()
  const first = await givenWithdrawal(ctx)
  await rotateSigningKey(ctx)
  await expect(rotateSigningKey(ctx)).rejects.toThrow('Invalid request')
  expect((await listSigningKeys(ctx)).map(({ state }) => state)).toEqual(['signing', 'waiting'])
  const kidOf = async (id: string) => decodeProtectedHeader((await receiptsOf(id))[0]?.receipt ?? '').kid
  const [old, next] = (await publishedKeys(ctx)).keys
  expect(await kidOf((await givenWithdrawal(ctx)).withdrawalId)).toBe(old?.kid)
  ctx.clock.advance(day)
  expect(await kidOf((await givenWithdrawal(ctx)).withdrawalId)).toBe(next?.kid)
  await rotateSigningKey(ctx)
  expect((await listSigningKeys(ctx)).map(({ state }) => state)).toEqual(['retired', 'signing', 'waiting'])
  const [acceptance] = await receiptsOf(first.withdrawalId)
  await compactVerify(acceptance?.receipt ?? '', createLocalJWKSet(await publishedKeys(ctx)))
})

test('a key whose private part a failover has lost holds no rotation up', async () => {
  await ctx.db.signingKey.deleteMany()
  await rotateSigningKey(ctx)
  // So the ledger brings it back.
  await ctx.db.signingKey.updateMany({ where: { number: 2 }, data: { sealedPrivate: null } })
  expect((await rotateSigningKey(ctx)).map(({ state }) => state)).toEqual(['signing', 'retired', 'waiting'])
})

test('the private part of a key that no longer signs is deleted an hour after the next one signs, and not before', async () => {
  await ctx.db.signingKey.deleteMany()
  await rotateSigningKey(ctx)
  const arePrivate = async () =>
    (await ctx.db.signingKey.findMany({ orderBy: { number: 'asc' } })).map((key) => key.sealedPrivate !== null)
  ctx.clock.advance(day + hour)
  await cleanUp(ctx)
  expect(await arePrivate()).toEqual([true, true])
  ctx.clock.advance(1)
  await cleanUp(ctx)
  expect(await arePrivate()).toEqual([false, true])
  expect((await listSigningKeys(ctx)).map(({ state }) => state)).toEqual(['retired', 'signing'])
})

test('after a leak a new key signs at once, on instances whose clock is behind too, and no key before it ever again', async () => {
  const [ctx, behind] = [await testContext(), await testContext()]
  await ctx.db.signingKey.deleteMany()
  ctx.clock.advance(5 * minute)
  await rotateSigningKey(ctx)
  const keys = await rotateSigningKey(ctx, { isNow: true })
  expect(keys.map(({ state }) => state)).toEqual(['retired', 'retired', 'signing'])
  expect(await ctx.db.signingKey.count({ where: { sealedPrivate: { not: null } } })).toBe(1)
  for (const later of [0, 2 * day]) {
    for (const each of [ctx, behind]) {
      each.clock.advance(later)
      const [acceptance] = await receiptsOf((await givenWithdrawal(each)).withdrawalId, each)
      expect(decodeProtectedHeader(acceptance?.receipt ?? '').kid).toBe(keys[2]?.kid)
    }
  }
})

test('instances that start together agree on one first key, even if their clocks differ', async () => {
  const contexts = await Promise.all(Array.from({ length: 4 }, () => testContext()))
  // The first one makes the key.
  contexts[0]?.clock.advance(1_000)
  await contexts[0]?.db.signingKey.deleteMany()
  const lists = await Promise.all(contexts.map((ctx) => listSigningKeys(ctx)))
  expect(new Set(lists.map((keys) => JSON.stringify(keys.map(({ kid }) => kid))))).toHaveLength(1)
  expect(lists[0]).toHaveLength(1)
})
