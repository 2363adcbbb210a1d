import { readFileSync } from 'node:fs'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { STEPS, type Step } from '@/contract/withdrawal'
import { openDatabase } from '@/server/adapters/database'
import { asUser, givenUser, runDueWork, type TestContext, testContext, testDatabase } from '@/testing/domain'
import { DUE_TIMES, LATER_STEPS } from '@/testing/later-steps'
import { heldUp, outcomeOf, untilWaiting } from '@/testing/outcomes'
import { atStatement, wrapping } from '@/testing/statements'
import { givenWithdrawal, stepOf, withdrawalOf } from '@/testing/withdrawals'
import type { Transact } from '../context'
import { day, hour, minute, second } from '../limits/durations'
import { runDeletionStep } from './run-deletion-step'
import { withdrawAccount } from './withdraw-account'

const after = (ms: number) => new Date(ctx.clock.now().getTime() + ms)

/** Makes the database fail in the transaction that ends a step. */
const failing = (error: unknown): TestContext => ({
  ...ctx,
  transaction: () => Promise.reject(error),
})

let ctx: TestContext

beforeEach(async () => {
  ctx = await testContext()
})

test('a step that is not due is left alone, and so is one of an unknown withdrawal', async () => {
  const { withdrawalId } = await givenWithdrawal(ctx)
  ctx.clock.advance(5 * minute - 1)
  expect(await runDeletionStep(ctx, { withdrawalId, step: 'user_profile' })).toBeNull()
  expect(await runDeletionStep(ctx, { withdrawalId: 'wd_other', step: 'user_profile' })).toBeNull()
  expect(await stepOf(ctx, withdrawalId, 'user_profile')).toMatchObject({ attempts: 0, completedAt: null })
})

test('a due step runs once', async () => {
  const { userId, withdrawalId } = await givenWithdrawal(ctx)
  ctx.clock.advance(5 * minute)
  const done = ctx.clock.now()
  expect(await runDeletionStep(ctx, { withdrawalId, step: 'user_profile' })).toBeNull()
  ctx.clock.advance(minute)
  expect(await runDeletionStep(ctx, { withdrawalId, step: 'user_profile' })).toBeNull()
  expect(await stepOf(ctx, withdrawalId, 'user_profile')).toMatchObject({
    status: 'completed',
    completedAt: done,
    dueAt: null,
    leaseUntil: null,
    attempts: 1,
    lastError: null,
  })
  expect(await ctx.db.user.count({ where: { id: userId } })).toBe(0)
})

test('a run holds its step for thirty seconds and is one span', async () => {
  const { userId, withdrawalId } = await givenWithdrawal(ctx)
  const spans: unknown[] = []
  ctx.traced = (name, attributes, work) => {
    spans.push({ name, attributes })
    return work()
  }
  const held: unknown[] = []
  ctx.mail.deleteMessages = async (deletedOf) => {
    held.push({ deletedOf, row: await stepOf(ctx, withdrawalId, 'data_archives') })
  }
  ctx.clock.advance(day)
  await runDeletionStep(ctx, { withdrawalId, step: 'data_archives' })
  expect(held).toEqual([
    { deletedOf: userId, row: expect.objectContaining({ status: 'processing', leaseUntil: after(30 * second) }) },
  ])
  expect(spans).toEqual([{ name: 'deletion_step', attributes: { step: 'data_archives', withdrawal_id: withdrawalId } }])
})

test('only the step of the archives empties archives and the local mailbox', async () => {
  const { withdrawalId } = await givenWithdrawal(ctx)
  let mailboxDeletions = 0
  ctx.mail.deleteMessages = async () => {
    mailboxDeletions++
  }
  ctx.clock.advance(Math.max(...DUE_TIMES))
  for (const step of LATER_STEPS.filter((step) => step !== 'data_archives')) {
    await runDeletionStep(ctx, { withdrawalId, step })
    expect(await stepOf(ctx, withdrawalId, step)).toMatchObject({ status: 'completed' })
  }
  expect([ctx.archived.size, mailboxDeletions]).toEqual([1, 0])
  await runDeletionStep(ctx, { withdrawalId, step: 'data_archives' })
  expect([ctx.archived.size, mailboxDeletions]).toEqual([0, 1])
  expect((await withdrawalOf(ctx, withdrawalId)).completedAt).toEqual(ctx.clock.now())
})

test('the statement of docs/adding.md gives the steps of this release to a withdrawal that the last one started', async () => {
  const { withdrawalId } = await givenWithdrawal(ctx)
  const untouched = await givenWithdrawal(ctx)
  const last = LATER_STEPS.at(-1) as Step
  await ctx.db.deletionStep.delete({ where: { withdrawalId_step: { withdrawalId, step: last } } })
  const before = await ctx.db.deletionStep.findMany({ where: { withdrawalId: untouched.withdrawalId } })
  const [, statement = ''] = /```sql\n(.*?)```/s.exec(readFileSync('docs/adding.md', 'utf8')) ?? []
  await ctx.db.$executeRawUnsafe(
    statement.replace('<step>', last).replace('now()', `'${ctx.clock.now().toISOString()}'`),
  )
  expect(await ctx.db.deletionStep.findMany({ where: { withdrawalId: untouched.withdrawalId } })).toEqual(before)
  ctx.clock.advance(Math.max(...DUE_TIMES))
  for (const step of LATER_STEPS) await runDeletionStep(ctx, { withdrawalId, step })
  expect(await ctx.db.deletionStep.count({ where: { withdrawalId, status: 'completed' } })).toBe(STEPS.length)
})

test('a failed step releases its lease and backs off up to an hour', async () => {
  ctx.secrets = { ...ctx.secrets, randomFraction: () => 0 }
  const { withdrawalId } = await givenWithdrawal(ctx)
  ctx.clock.advance(5 * minute)
  const waits: number[] = []
  const step = { withdrawalId, step: 'user_profile' } as const
  const fail = () => expect(runDeletionStep(failing(new Error('lost')), step)).rejects.toThrow()
  for (let n = 0; n < 12; n++) {
    await fail()
    const { dueAt, leaseUntil } = await stepOf(ctx, withdrawalId, 'user_profile')
    expect(leaseUntil).toBeNull()
    const wait = Number(dueAt) - ctx.clock.now().getTime()
    waits.push(wait / second)
    ctx.clock.advance(wait - 1)
    expect(await runDeletionStep(failing(new Error('early')), step)).toBeNull()
    ctx.clock.advance(1)
  }
  expect(waits).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600])
  await ctx.db.deletionStep.updateMany({ where: { withdrawalId }, data: { attempts: 5_000 } })
  await fail()
  expect((await stepOf(ctx, withdrawalId, 'user_profile')).dueAt).toEqual(after(hour))
  ctx.clock.advance(hour)
  expect(await runDeletionStep(ctx, step)).toBeNull()
  expect(await stepOf(ctx, withdrawalId, 'user_profile')).toMatchObject({ status: 'completed', lastError: null })
})

const coded = (message: string, code: string) => Object.assign(new Error(message), { code })
test.each([
  ['a database error', coded('Key (email)=(ada@example.test) exists', '23505'), 'Error 23505'],
  [
    'a connection that is refused',
    new Error('no answer', { cause: coded('connect ada', 'ECONNREFUSED') }),
    'Error ECONNREFUSED',
  ],
  ['another error', new RangeError('ada@example.test'), 'RangeError'],
  ['what is no error', 'ada@example.test', 'unknown'],
])('only the kind of %s is stored and rethrown', async (_, error, kind) => {
  const { withdrawalId } = await givenWithdrawal(ctx)
  ctx.clock.advance(5 * minute)
  const thrown = await runDeletionStep(failing(error), { withdrawalId, step: 'user_profile' }).catch((e) => e)
  expect(thrown).toEqual(new Error(`user_profile failed: ${kind}`))
  expect(thrown.cause).toBeUndefined()
  expect((await stepOf(ctx, withdrawalId, 'user_profile')).lastError).toBe(kind)
})

async function givenConnectedWithdrawal() {
  const { withdrawalId } = await givenWithdrawal(ctx, ['calendar'])
  ctx.clock.advance(hour)
  return { withdrawalId, step: 'third_party_integrations' } as const
}

test('an application that refuses the message keeps the step open, and is called again when it says, within a day', async () => {
  const step = await givenConnectedWithdrawal()
  ctx.apps.answer = async () => ({ status: 503, retryAfterMs: minute })
  const nextTry = after(minute)
  expect(await runDeletionStep(ctx, step)).toEqual(nextTry)
  expect(await stepOf(ctx, step.withdrawalId, step.step)).toMatchObject({
    status: 'processing',
    dueAt: nextTry,
    leaseUntil: null,
    lastError: 'HTTP 503',
  })
  ctx.apps.answer = async () => ({ status: 429, retryAfterMs: 7 * day })
  ctx.clock.advance(minute)
  expect(await runDeletionStep(ctx, step)).toEqual(after(day))
  ctx.apps.answer = async () => ({ status: 204 })
  ctx.clock.advance(day)
  expect(await runDeletionStep(ctx, step)).toBeNull()
  expect(await stepOf(ctx, step.withdrawalId, step.step)).toMatchObject({ status: 'completed', lastError: null })
})

test("if an application's answer cannot be stored, the step fails and the application is called again", async () => {
  const step = await givenConnectedWithdrawal()
  let requests = 0
  ctx.apps.answer = async () => ({ status: requests++ === 0 ? 200 : 204 })
  const forgetful = atStatement(ctx, 'complete-deletion-task', () => Promise.reject(new Error('lost')))
  await expect(runDeletionStep(forgetful, step)).rejects.toThrow('third_party_integrations failed: Error')
  expect(await stepOf(ctx, step.withdrawalId, step.step)).toMatchObject({ status: 'processing', lastError: 'Error' })
  ctx.clock.advance(minute)
  expect(await runDeletionStep(ctx, step)).toBeNull()
  expect(requests).toBe(2)
  expect(await stepOf(ctx, step.withdrawalId, step.step)).toMatchObject({ status: 'completed', lastError: null })
})

test('F41 a withdraw call that waited for the first one and the erasure of its account never wait for each other', async () => {
  // The row of a message that was taken would wait for the account too.
  ctx.mailServer.accepts = false
  const user = await givenUser(ctx)
  const [caller, again] = [await asUser(ctx, user), await asUser(ctx, user)]
  const other = openDatabase((await testDatabase()).url)
  onTestFinished(() => other.close())
  const wish = { userId: user.userId, confirmation: 'DELETE_MY_ACCOUNT' as const }
  const tries = { call: 0, erasure: 0 }
  const erase = async () => {
    const { id: withdrawalId } = await ctx.db.withdrawal.findFirstOrThrow({ where: { userId: user.userId } })
    ctx.clock.advance(5 * minute)
    const transact: Transact = (work) =>
      ctx.transact((...of) => {
        tries.erasure++
        return work(...of)
      })
    await runDeletionStep({ ...ctx, transact }, { withdrawalId, step: 'user_profile' })
  }
  let erasing: Promise<void> | undefined
  const { promise: erasureWaits, resolve: noteWaiting } = Promise.withResolvers<void>()
  // Has waited for the account's lock, and takes its place in the limit once the erasure waits too.
  const slow = wrapping(other.transact, (sql) => {
    tries.call++
    return async (statement, values) => {
      if (statement.name === 'take-places-inside') await erasureWaits
      const rows = await sql(statement, values)
      if (statement.name === 'lock-account' && !erasing) {
        erasing = erase()
        await untilWaiting(ctx)
        noteWaiting()
      }
      return rows
    }
  })
  const refused = await heldUp(
    ctx,
    ['users', user.userId],
    () => outcomeOf(withdrawAccount({ ...again, transact: slow }, wish)),
    // Its line is written after this transaction.
    (...of) => withdrawAccount({ ...caller, waitsForLedger: false, transact: (work) => work(...of) }, wish),
  )
  await erasing
  expect([refused, tries]).toEqual(['WITHDRAWAL_002', { call: 1, erasure: 1 }])
  expect(await ctx.db.rateLimit.count({ where: { userId: user.userId } })).toBe(0)
})

test('F46 while the clock is doubtful no step and no purge runs', async () => {
  const { withdrawalId } = await givenWithdrawal(ctx)
  ctx.clock.advance(35 * day)
  const doubtful: TestContext = { ...ctx, clock: { ...ctx.clock, isOff: () => true } }
  await runDueWork(doubtful)
  expect(await withdrawalOf(ctx, withdrawalId)).toMatchObject({ completedAt: null, purgedAt: null })
  await runDueWork(ctx)
  await runDueWork(ctx)
  expect(await withdrawalOf(ctx, withdrawalId)).toMatchObject({
    completedAt: expect.any(Date),
    purgedAt: expect.any(Date),
  })
})
