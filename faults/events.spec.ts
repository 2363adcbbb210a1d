import { expect, test } from 'vitest'
import { expectPurged, givenStartedWithdrawal, startWithdrawal } from '@/testing/completed-withdrawal'
import { LATER_STEPS } from '@/testing/later-steps'
import { givenPerson } from '@/testing/person'
import { until } from '@/testing/until'
import { givenWorld } from '@/testing/world'
import { LossyNetwork } from './lossy-network'

test('F14 F15 an event that arrives three times, after the end or for nobody changes nothing, and every step completes once', async (context) => {
  const world = await givenWorld(context)
  const shop = await world.givenApplication('shop')
  const engine = await world.givenEngine(() => 3)
  const instance = await world.start(engine.settings)
  await world.start(engine.settings)
  engine.serviceUrl = instance.url
  const withdrawal = await givenStartedWithdrawal(world, instance)
  await expectPurged(world, withdrawal)
  expect(shop.received).toHaveLength(1)

  const [event] = engine.events
  if (!event) throw new Error('no event')
  await engine.run('process-withdrawal', event)
  await engine.run('process-withdrawal', { ...event, data: { withdrawal_id: 'wd_unknown' } })
  await expectPurged(world, withdrawal)
  expect(shop.received).toHaveLength(1)
})

test('F13 the sweep completes a withdrawal whose event the engine has lost', async (context) => {
  const world = await givenWorld(context)
  await world.givenApplication('shop')
  const engine = await world.givenEngine(() => 0)
  const instance = await world.start(engine.settings)
  engine.serviceUrl = instance.url
  await expectPurged(world, await givenStartedWithdrawal(world, instance))
  expect(engine.events).toHaveLength(1)
})

test('F12 a service whose engine is away stays ready, reports itself as degraded and completes the withdrawal by itself', async (context) => {
  const world = await givenWorld(context)
  await world.givenApplication('shop')
  const instance = await world.start({
    INNGEST_EVENT_KEY: 'ab'.repeat(16),
    INNGEST_SIGNING_KEY: 'cd'.repeat(16),
    // Nothing listens there.
    INNGEST_BASE_URL: 'http://127.0.0.1:9',
  })
  const withdrawal = await givenStartedWithdrawal(world, instance)
  const ready = { status: 'ready', engine: 'away', degraded: ['engine'] }
  expect(await instance.readiness()).toMatchObject({ status: 200, body: ready })
  await expectPurged(world, withdrawal)
})

const RUN = ['load-steps', ...LATER_STEPS]
// The last step is due after 17 s, so that no run begins after it.
const UNHURRIED = { WITHDRAWAL_TIME_SCALE: '0.0002', WITHDRAWAL_RETENTION: 'P1DT6H' }

/** Each step once, in order, to the last; the first ones may have been the sweep's already, and some may have been early. */
function expectWholeRun(run: string[]) {
  const steps = run.filter((name) => !/^\d/.test(name) && !/-again-\d+$/.test(name))
  expect(steps).toEqual(RUN.filter((name) => steps.includes(name)))
  expect(steps).toEqual(expect.arrayContaining(['load-steps', LATER_STEPS.at(-1)]))
}

test('F29 each step completes once when the network loses the first answer to every engine call', async (context) => {
  const world = await givenWorld(context, UNHURRIED)
  const shop = await world.givenApplication('shop')
  const engine = await world.givenEngine()
  const instance = await world.start(engine.settings)
  const network = await LossyNetwork.start(instance.url)
  context.onTestFinished(() => network.stop())
  engine.serviceUrl = network.url
  const withdrawal = await givenStartedWithdrawal(world, instance)
  const run = await until('the run has ended', () => engine.runs[0])
  expectWholeRun(run)
  expect(network.lost).toBeGreaterThanOrEqual(run.length)
  await expectPurged(world, withdrawal)
  expect(shop.received).toHaveLength(1)
})

test('F23 F24 sleeping runs continue where they were when another process takes over', async (context) => {
  const world = await givenWorld(context, UNHURRIED)
  const shop = await world.givenApplication('shop')
  const engine = await world.givenEngine()
  const first = await world.start(engine.settings)
  engine.serviceUrl = first.url
  const people = []
  for (let count = 0; count < 3; count++) people.push(await givenPerson(world, first))
  const withdrawals = []
  for (const person of people) withdrawals.push(await startWithdrawal(first, person))
  await until('every run sleeps before its last step', () => shop.received.length === people.length)
  expect(await first.stop()).toBe(0)
  engine.serviceUrl = (await world.start(engine.settings)).url
  await until('all runs have ended', () => engine.runs.length === people.length)
  for (const run of engine.runs) expectWholeRun(run)
  await Promise.all(withdrawals.map((withdrawal) => expectPurged(world, withdrawal)))
  expect(shop.received).toHaveLength(people.length)
})
