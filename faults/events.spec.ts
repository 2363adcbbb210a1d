import { expect, test } from 'vitest'
import { expectFullEnd } from './ending'
import { givenPerson, withdraw } from './person'
import { givenWorld } from './world'

test('an event that comes three times at once, and again after the end, changes nothing: every step ends once', async (context) => {
  const world = await givenWorld(context)
  const shop = await world.givenApplication('shop')
  const engine = await world.givenEngine(() => 3)
  const instances = [await world.start(engine.settings), await world.start(engine.settings)]
  const [instance] = instances
  if (!instance) throw new Error('no instance')
  engine.serviceUrl = instance.url
  const person = await givenPerson(world, instance)
  const { body } = await withdraw(instance, person)
  const withdrawalId = body.data.withdrawal_id
  await expectFullEnd(world, { person, withdrawalId })
  expect(shop.received).toHaveLength(1)

  const [event] = engine.events
  if (!event) throw new Error('no event')
  await engine.run('process-withdrawal', event)
  await engine.run('process-withdrawal', { ...event, data: { withdrawal_id: 'wd_unknown' } })
  await expectFullEnd(world, { person, withdrawalId })
  expect(shop.received).toHaveLength(1)
})

test('an event that the engine takes and loses: the sweep of the engine ends the withdrawal', async (context) => {
  const world = await givenWorld(context)
  await world.givenApplication('shop')
  const engine = await world.givenEngine(() => 0)
  const instance = await world.start(engine.settings)
  engine.serviceUrl = instance.url
  const person = await givenPerson(world, instance)
  const { body } = await withdraw(instance, person)
  await expectFullEnd(world, { person, withdrawalId: body.data.withdrawal_id })
  expect(engine.events).toHaveLength(1)
})

test('an engine that never answers: an instance without one ends the withdrawal from the same rows', async (context) => {
  const world = await givenWorld(context)
  await world.givenApplication('shop')
  const engine = await world.givenEngine(() => 'no answer')
  const instance = await world.start(engine.settings)
  const person = await givenPerson(world, instance)
  const { status, ms, body } = await withdraw(instance, person)
  expect(status).toBe(202)
  expect(ms).toBeLessThan(2_000)
  await world.start()
  await expectFullEnd(world, { person, withdrawalId: body.data.withdrawal_id })
})
