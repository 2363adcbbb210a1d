import { createHash } from 'node:crypto'
import { decodeJwt } from 'jose'
import { beforeEach, expect, test } from 'vitest'
import { type Answer, type Caller, withdraw } from '@/testing/api-calls'
import { givenCaller, givenServiceOf } from '@/testing/callers'
import { outcomeOf } from '@/testing/outcomes'
import { givenService, type Service, times } from '@/testing/service'
import { until } from '@/testing/until'
import { givenLedger, ledgerLines, unmountLedger } from '@/testing/withdrawals'
import { registerApp } from '../../applications/manage'
import { addTransaction } from '../../applications/transactions'
import { createProcess } from '../../process'
import { listReceipts } from '../receipts/receipts'
import { rotateSigningKey } from '../receipts/signing-keys'
import { withdrawByOperator } from '../withdraw-account'
import { writeErasureLedger } from './erasure-ledger'
import { requireLevelLedger } from './ledger-before-answer'

let ctx: Service
let caller: Caller

beforeEach(async () => {
  ctx = await givenService()
  caller = await givenCaller(ctx)
})

const LINES = /\/\d{12}\.ndjson$/

/** The store fails for the objects whose names match, until the returned function is called. */
function failPuts(names = /./): () => void {
  const { put } = ctx.ledger
  ctx.ledger.put = (name, content) =>
    names.test(name) ? Promise.reject(new Error('the store is away')) : put(name, content)
  return () => {
    ctx.ledger.put = put
  }
}

const lineOf = ({ data }: Pick<Answer, 'data'>) =>
  ledgerLines(ctx).find(({ withdrawalId }) => withdrawalId === data.withdrawal_id)

const confirmation = 'DELETE_MY_ACCOUNT'

const BY: Record<string, () => Promise<{ code: string; details?: string }>> = {
  'the person': () => withdraw(caller),
  'a service': async () =>
    (await givenServiceOf(ctx, caller))('withdrawUser', { confirmation, requested_by: 'support' }),
  'the operator': async () => ({
    code: await outcomeOf(withdrawByOperator(ctx, { userId: caller.userId, confirmation })),
  }),
}
const account = () => ctx.db.user.findUniqueOrThrow({ where: { id: caller.userId } })
const withdrawals = () => ctx.db.withdrawal.findMany({ where: { userId: caller.userId } })

test.each(Object.entries(BY))(
  'F42 a withdrawal by %s is answered when its line stands in the ledger',
  async (_by, begin) => {
    const { put } = ctx.ledger
    const { promise: held, resolve: store } = Promise.withResolvers<void>()
    const written: string[] = []
    ctx.ledger.put = async (name, content) => {
      written.push(name)
      if (LINES.test(name)) await held
      return put(name, content)
    }
    let answer: { code: string } | undefined
    const answering = begin().then((given) => {
      answer = given
    })
    await until('the line is on its way', async () => written.some((name) => LINES.test(name)))
    const [row] = await withdrawals()
    expect(answer).toBeUndefined()
    expect(await listReceipts(ctx, { withdrawalId: row?.id ?? '' })).toEqual({ receipts: [] })
    store()
    await answering
    expect(answer).toMatchObject({ code: 'accepted' })
    expect(lineOf({ data: { withdrawal_id: row?.id } })).toBeDefined()
    expect((await listReceipts(ctx, { withdrawalId: row?.id ?? '' })).receipts).toHaveLength(1)
  },
)

test.each(Object.entries(BY))('F42 while the store is away a withdrawal by %s changes nothing', async (_by, begin) => {
  ctx.limits.withdraw = { places: 1, windowMs: 3_600_000 }
  const comeBack = failPuts()
  expect((await begin()).code).toBe('SERVER_002')
  expect(await account()).toMatchObject({ withdrawnAt: null })
  expect(await withdrawals()).toEqual([])
  expect(ctx.warnings).toContainEqual({ event: 'ledger_not_written', problem: 'the store is away' })
  comeBack()
  expect((await begin()).code).toBe('accepted')
})

/** The store had a line before. */
async function givenUnmounted() {
  await givenLedger()
  expect((await withdraw(await givenCaller(ctx))).code).toBe('accepted')
  await ctx.settle()
  return unmountLedger(ctx)
}

test('F44 a store that is unmounted takes no line: the account is as it was, and the chain has no gap', async () => {
  const mount = await givenUnmounted()
  ctx.process.ledger.storedAt = Number.NEGATIVE_INFINITY
  expect((await withdraw(caller)).code).toBe('SERVER_002')
  expect(await account()).toMatchObject({ withdrawnAt: null })
  expect([...ctx.ledgered.keys()]).toEqual([])
  expect(ctx.warnings).toContainEqual({ event: 'ledger_not_written', problem: 'ledger_missing' })
  mount()
  expect((await withdraw(caller)).code).toBe('accepted')
})

test('F44 a store that is unmounted while a withdrawal runs takes no line, and its answer comes when it is back', async () => {
  const mount = await givenUnmounted()
  // It has just taken an object, so that no call asks it.
  ctx.process.ledger.storedAt = Number.POSITIVE_INFINITY
  const keyed = { headers: { 'Idempotency-Key': 'once' } }
  expect((await withdraw(caller, keyed)).code).toBe('SERVER_002')
  expect([...ctx.ledgered.keys()]).toEqual([])
  mount()
  expect((await withdraw(caller, keyed)).code).toBe('accepted')
})

test('F44 F63 the operator command writes no line beside a store that is unmounted, also while a line waits', async () => {
  const mount = await givenUnmounted()
  const command = async () => {
    // A process that has just begun.
    ctx.process.ledger = createProcess().ledger
    return outcomeOf(
      requireLevelLedger(ctx).then(() => withdrawByOperator(ctx, { userId: caller.userId, confirmation })),
    )
  }
  expect(await command()).toBe('SERVER_002')
  ctx.waitsForLedger = false
  // Its line gets a place in the chain, and waits.
  const { put } = ctx.ledger
  ctx.ledger.put = () => Promise.reject(new Error('the store is away'))
  expect((await withdraw(await givenCaller(ctx))).code).toBe('accepted')
  await ctx.settle()
  Object.assign(ctx.ledger, { put })
  ctx.waitsForLedger = true
  expect(await ctx.db.erasureLedgerBatch.count()).toBe(1)
  expect(await command()).toBe('SERVER_002')
  expect([...ctx.ledgered.keys()]).toEqual([])
  expect(await account()).toMatchObject({ withdrawnAt: null })
  mount()
  expect(await command()).toBe('accepted')
})

test('F42 a store that goes away while applications are asked leaves the account and its place in the limit', async () => {
  ctx.limits.withdraw = { places: 1, windowMs: 3_600_000 }
  const app = { name: 'shop', endpoint: 'https://shop.test/hook', secret: 'whsec_c2VjcmV0', checks: true }
  await registerApp(ctx, { ...app, audience: 'everyone' })
  let comeBack = () => {}
  ctx.apps.answer = async () => {
    comeBack = failPuts()
    ctx.process.ledger.storedAt = Number.NEGATIVE_INFINITY
    return { status: 200, body: '{"blockers":[]}' }
  }
  expect((await withdraw(caller)).code).toBe('SERVER_002')
  expect(await withdrawals()).toEqual([])
  comeBack()
  ctx.apps.answer = async () => ({ status: 200, body: '{"blockers":[]}' })
  expect((await withdraw(caller)).code).toBe('accepted')
  await ctx.db.connectedApp.deleteMany()
})

test('F42 a store that fails after the commit is told, and the same key gets the first answer once the line stands', async () => {
  const repeat = () => withdraw(caller, { headers: { 'Idempotency-Key': 'once' } })
  const comeBack = failPuts(LINES)
  const first = await repeat()
  expect([first.status, first.code, first.headers.get('Retry-After')]).toEqual([503, 'SERVER_002', '5'])
  expect(first.details).toMatch(/^The deletion has begun/)
  expect((await repeat()).code).toBe('SERVER_002')
  comeBack()
  const repeated = await repeat()
  expect(repeated).toMatchObject({ status: 202, code: 'accepted' })
  expect(lineOf(repeated)).toBeDefined()
  failPuts()
  expect((await repeat()).text).toBe(repeated.text)
  expect(await withdrawals()).toHaveLength(1)
})

test('F42 a call that its limit refuses writes nothing into the store', async () => {
  await addTransaction(ctx, { userId: caller.userId, status: 'pending', title: '', ip: '' })
  const { put } = ctx.ledger
  let puts = 0
  ctx.ledger.put = (name, content) => {
    puts++
    return put(name, content)
  }
  const codes: string[] = []
  for (let n = 0; n < 7; n++) {
    // As if the last object had been stored long ago.
    ctx.process.ledger.storedAt = Number.NEGATIVE_INFINITY
    codes.push((await withdraw(caller)).code)
  }
  expect(codes).toEqual([...times(5, () => 'WITHDRAWAL_003'), 'RATE_001', 'RATE_001'])
  expect(puts).toBe(5)
})

test('F42 concurrent withdrawals share writes of the ledger', async () => {
  const callers = await Promise.all(times(16, () => givenCaller(ctx)))
  const { put } = ctx.ledger
  const written: string[] = []
  ctx.ledger.put = async (name, content) => {
    written.push(name)
    return put(name, content)
  }
  const answers = await Promise.all(callers.map((caller) => withdraw(caller)))
  for (const answer of answers) expect(lineOf(answer)).toBeDefined()
  expect(written.filter((name) => LINES.test(name)).length).toBeLessThan(16)
  expect(written.filter((name) => name === 'erasure-ledger/probe')).toHaveLength(1)
})

test('F42 F62 with LEDGER_BEFORE_ANSWER=0 a withdrawal waits for no store, and its acceptance is signed once the line stands', async () => {
  ctx.waitsForLedger = false
  const comeBack = failPuts()
  const keyed = { headers: { 'Idempotency-Key': 'once' } }
  const answer = await withdraw(caller, keyed)
  expect([answer.code, answer.data.receipt]).toEqual(['accepted', undefined])
  expect((await withdraw(caller, keyed)).text).toBe(answer.text)
  const read = () => listReceipts(ctx, { withdrawalId: String(answer.data.withdrawal_id) })
  expect(await read()).toEqual({ receipts: [] })
  await ctx.settle()
  comeBack()
  await writeErasureLedger(ctx)
  const [, again] = [await read(), await read()]
  expect(again.receipts).toMatchObject([{ kind: 'acceptance' }])
})

test('F62 an acceptance names the line that stands in the store, and is the same for every later reader', async () => {
  const keyed = { headers: { 'Idempotency-Key': 'once' } }
  const answer = await withdraw(caller, keyed)
  const line = lineOf(answer)
  const hash = createHash('sha256').update(JSON.stringify(line)).digest('base64url')
  expect(decodeJwt(String(answer.data.receipt))).toMatchObject({ kind: 'acceptance', log: { seq: line?.seq, hash } })
  // As if the process had died before it signed.
  await ctx.db.withdrawalReceipt.deleteMany()
  const [read] = (await listReceipts(ctx, { withdrawalId: String(answer.data.withdrawal_id) })).receipts
  expect(read?.receipt).toBe(answer.data.receipt)
  // Another key signs now.
  await rotateSigningKey(ctx, { isNow: true })
  expect((await withdraw(caller, keyed)).text).toBe(answer.text)
})
