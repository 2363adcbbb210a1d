import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { type TestContext, testContext } from '@/testing/domain'
import { DUE_TIMES, LATER_STEPS } from '@/testing/later-steps'
import { tally } from '@/testing/outcomes'
import { givenWithdrawal, withdrawalOf } from '@/testing/withdrawals'
import type { SystemContext } from './context'
import { DUE_WORK, runDueSteps } from './due-work'
import type { AppAnswer } from './ports'
import { createProcess } from './process'

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000]

let ctx: TestContext
/** The calls to applications by their names, those that are not answered yet, and the status of each answer; 0 hangs. */
let called: string[]
let hanging: { name: string; answer(answer: AppAnswer): void }[]
let statuses: Record<string, number>

beforeEach(async () => {
  ctx = await testContext()
  ctx.passwords = { hash: async (password) => password, verify: async () => true, timeOf: async () => 0 }
  called = []
  hanging = []
  statuses = {}
  ctx.apps.answer = ({ endpoint }) => {
    const name = new URL(endpoint).host.replace('.test', '')
    called.push(name)
    const status = statuses[name] ?? 204
    return status > 0 ? Promise.resolve({ status }) : new Promise((resolve) => hanging.push({ name, answer: resolve }))
  }
})
afterEach(async () => {
  statuses = {}
  answerAll({ status: 204 })
  await ctx.settle()
  await ctx.db.withdrawal.deleteMany()
})

function answerAll(answer: AppAnswer) {
  for (const one of hanging.splice(0)) one.answer(answer)
}

/** Does what the timer does, which waits only for the work itself. */
async function sweep(ctx: SystemContext) {
  for (const { run } of DUE_WORK) await run(ctx)
}

const stateOf = async (withdrawalId: string, appName: string) =>
  (await ctx.db.deletionTask.findFirstOrThrow({ where: { withdrawalId, appName } })).status
const isOpen = async (withdrawalId: string) =>
  (await ctx.db.deletionStep.count({ where: { withdrawalId, dueAt: { not: null } } })) > 0

test('F18 an application that hangs delays no other of the same person, no other withdrawal, no purge and no housekeeping', async () => {
  statuses.hangs = 0
  statuses.busy = 503
  const { withdrawalId: old } = await givenWithdrawal(ctx)
  ctx.clock.advance(day)
  await sweep(ctx)
  await ctx.settle()
  ctx.clock.advance(29 * day - hour)
  const { withdrawalId: stuck } = await givenWithdrawal(ctx, ['hangs', 'busy'])
  const { withdrawalId: other } = await givenWithdrawal(ctx, ['shop'])
  ctx.clock.advance(hour)
  await sweep(ctx)
  await expect.poll(() => stateOf(other, 'shop')).toBe('completed')
  expect(await stateOf(stuck, 'hangs')).toBe('processing')
  expect((await withdrawalOf(ctx, old)).purgedAt).toEqual(ctx.clock.now())
  statuses.busy = 204
  ctx.clock.advance(10 * second)
  await sweep(ctx)
  await expect.poll(() => stateOf(stuck, 'busy')).toBe('completed')
  expect(tally(called)).toEqual({ shop: 1, hangs: 1, busy: 2 })
  // The call lasts longer than a day.
  ctx.clock.advance(day)
  await sweep(ctx)
  await expect.poll(() => isOpen(other)).toBe(false)
  expect(tally(called)).toMatchObject({ shop: 1 })
})

test('a ledger whose store hangs delays no other due work', async () => {
  ctx.ledger.put = () => Promise.reject(new Error('away'))
  ctx.waitsForLedger = false
  await givenWithdrawal(ctx)
  const store = Promise.withResolvers<void>()
  onTestFinished(() => store.resolve())
  ctx.ledger.put = () => store.promise
  const ended: string[] = []
  for (const { name, run } of DUE_WORK) run(ctx).then(() => ended.push(name))
  const others = DUE_WORK.map(({ name }) => name).filter((name) => name !== 'write-ledger')
  await expect.poll(() => ended.toSorted()).toEqual(others.toSorted())
})

test('a sweep stops at a batch of steps that it cannot claim, and calls the applications once it can', async () => {
  for (let count = 0; count < 2; count++) await givenWithdrawal(ctx, ['shop'])
  const [first] = await ctx.db.withdrawal.findMany()
  await ctx.db.deletionStep.createMany({
    data: Array.from({ length: 100 }, (_, n) => ({
      withdrawalId: first?.id ?? '',
      step: `later_${n}`,
      status: 'pending',
      estimatedCompletion: ctx.clock.now(),
      dueAt: ctx.clock.now(),
    })),
  })
  ctx.clock.advance(day)
  const looks: string[] = []
  let claims = 0
  const refusing: TestContext = {
    ...ctx,
    sql: async (statement, values) => {
      if (statement.name.startsWith('due-')) looks.push(statement.name)
      if (statement.name !== 'claim-deletion-step') return ctx.sql(statement, values)
      claims++
      return []
    },
  }
  await runDueSteps(refusing, 2)
  await ctx.settle()
  expect(looks.sort()).toEqual(['due-calls', 'due-calls', 'due-erasures'])
  expect(claims).toBe(102)
  await ctx.db.$executeRaw`DELETE FROM deletion_steps WHERE step LIKE 'later%'`
  await runDueSteps(ctx, 2)
  await ctx.settle()
  expect(called).toEqual(['shop', 'shop'])
})

test('an application whose secret no key opens is shown as failing, and delays no other', async () => {
  const { withdrawalId } = await givenWithdrawal(ctx, ['sealed', 'shop'])
  await ctx.db.connectedApp.updateMany({ where: { name: 'sealed' }, data: { sealedSecret: Buffer.from('other') } })
  ctx.clock.advance(hour)
  await sweep(ctx)
  await ctx.settle()
  const [sealed, shop] = await ctx.db.deletionTask.findMany({ where: { withdrawalId }, orderBy: { appName: 'asc' } })
  expect(sealed).toMatchObject({ status: 'processing', lastError: expect.stringContaining('signing secret') })
  expect(shop).toMatchObject({ status: 'completed' })
})

test('a waiting call takes the next free place, and first tries have places of their own', async () => {
  statuses.hangs = 0
  for (let count = 0; count < 5; count++) await givenWithdrawal(ctx, ['hangs'])
  ctx.clock.advance(second)
  const { withdrawalId: late } = await givenWithdrawal(ctx, ['shop'])
  ctx.clock.advance(30 * second)
  const { withdrawalId: fresh } = await givenWithdrawal(ctx, ['shop'])
  ctx.clock.advance(hour - 30 * second)
  for (let sweeps = 0; sweeps < 3; sweeps++) await runDueSteps(ctx, 2)
  await expect.poll(() => hanging).toHaveLength(2)
  // No sweep runs in between.
  for (let ended = 1; ended <= 3; ended++) {
    hanging.shift()?.answer({ status: 503 })
    await expect.poll(() => called).toHaveLength(2 + ended)
    expect(hanging).toHaveLength(2)
  }
  expect(await stateOf(late, 'shop')).toBe('pending')
  answerAll({ status: 503 })
  await expect.poll(() => stateOf(late, 'shop')).toBe('completed')
  await ctx.settle()

  ctx.clock.advance(minute)
  await runDueSteps(ctx, 2)
  await expect.poll(() => hanging).toHaveLength(2)
  await expect.poll(() => stateOf(fresh, 'shop')).toBe('completed')
  expect(hanging).toHaveLength(2)
  ctx.apps.answer = async () => ({ status: 204 })
})

test('B5 one of several concurrent sweeps claims each row, so every step, call, mail and event happens once', async () => {
  ctx.mailServer.accepts = false
  ctx.engine.accepts = false
  const ids: string[] = []
  for (let count = 0; count < 8; count++) ids.push((await givenWithdrawal(ctx, ['shop'])).withdrawalId)
  ctx.mailServer.accepts = true
  ctx.engine.accepts = true
  const started: string[] = []
  const instances = Array.from(
    { length: 4 },
    (): TestContext => ({
      ...ctx,
      process: createProcess(),
      traced: (name, attributes, work) => {
        started.push(`${name} ${attributes.step} ${attributes.withdrawal_id}`)
        return work()
      },
    }),
  )
  for (const [index, dueMs] of DUE_TIMES.entries()) {
    ctx.clock.advance(dueMs - (DUE_TIMES[index - 1] ?? 0))
    for (let sweeps = 0; sweeps < 3; sweeps++) await Promise.all(instances.map(sweep))
    await ctx.settle()
  }
  for (const id of ids) expect(await withdrawalOf(ctx, id)).toMatchObject({ completedAt: expect.any(Date) })
  expect(started.toSorted()).toEqual(
    ids.flatMap((id) => LATER_STEPS.map((step) => `deletion_step ${step} ${id}`)).toSorted(),
  )
  expect(called).toHaveLength(ids.length)
  expect(ctx.engine.events.map(({ data }) => data.withdrawal_id).toSorted()).toEqual(ids.toSorted())
  const recipients = ctx.mailbox
    .filter(({ message }) => message.template === 'account-withdrawal-started')
    .map(({ to }) => to)
  expect([recipients.length, new Set(recipients).size]).toEqual([ids.length, ids.length])
})

test('two copies of this code in one process share the places for calls', async () => {
  statuses.hangs = 0
  for (let count = 0; count < 5; count++) await givenWithdrawal(ctx, ['hangs'])
  ctx.clock.advance(hour)
  vi.resetModules()
  const copy = await import('./due-work')
  expect(copy.runDueSteps).not.toBe(runDueSteps)
  for (let sweeps = 0; sweeps < 3; sweeps++) {
    await Promise.all([runDueSteps(ctx, 2), copy.runDueSteps(ctx, 2)])
    await expect.poll(() => hanging).toHaveLength(2)
  }
})
