import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { answer } from '@/testing/application'
import { expectPurged } from '@/testing/completed-withdrawal'
import { listening } from '@/testing/listening'
import { givenPerson, withdraw, withdrawalOf } from '@/testing/person'
import { until } from '@/testing/until'
import { givenWorld, holdLock, isBlocked } from '@/testing/world'

test('F1 an instance that is killed between commit and event loses nothing, because the event is sent later under the same id', async (context) => {
  const world = await givenWorld(context)
  await world.givenApplication('shop')
  const events: { id: string; data: object }[] = []
  const engine = createServer(async (request, response) => {
    // The kill cuts short what the instance sends at that moment.
    const sent = (await json(request).catch(() => [])) as typeof events
    events.push(...sent)
    if (events.length === 1) await first.kill()
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ ids: ['evt'], status: 200 }))
  })
  context.onTestFinished(() => void engine.close())
  const settings = { INNGEST_DEV: '1', INNGEST_BASE_URL: `http://127.0.0.1:${await listening(engine)}` }
  const first = await world.start(settings)
  const person = await givenPerson(world, first)
  await withdraw(first, person).catch(() => {})
  const withdrawalId = await withdrawalOf(world, person)
  await until('the instance is dead', () => !first.isRunning)

  await world.start(settings)
  await expectPurged(world, { person, withdrawalId })
  await until('the event comes again', () => events.length > 1)
  expect(new Set(events.map(({ id }) => id))).toEqual(new Set([`evt_${withdrawalId}`]))
  expect(events[0]?.data).toEqual({ withdrawal_id: withdrawalId })
})

test('F2 an application is called again under the same id when the instance is killed before its answer', async (context) => {
  const world = await givenWorld(context)
  const accepted = Promise.withResolvers<void>()
  const shop = await world.givenApplication('shop', async (call, response) => {
    await accepted.promise
    if (call === 1) await first.kill()
    answer(response, 200)
  })
  await world.givenApplication('games')
  const first = await world.start()
  const person = await givenPerson(world, first)
  await withdraw(first, person)
  accepted.resolve()
  const withdrawalId = await withdrawalOf(world, person)
  await until('the instance is dead', () => !first.isRunning)

  await world.start()
  await expectPurged(world, { person, withdrawalId })
  expect(shop.received).toHaveLength(2)
})

test('F2 a kill inside the erasure of the profile leaves nothing half erased, and the next run erases everything', async (context) => {
  const world = await givenWorld(context)
  await world.givenApplication('shop')
  const first = await world.start()
  const person = await givenPerson(world, first)
  const release = await holdLock(world, 'SELECT FROM preferences WHERE user_id = $1 FOR UPDATE', [person.id])
  await withdraw(first, person)
  const withdrawalId = await withdrawalOf(world, person)
  await until('the erasure waits', () => isBlocked(world, 'DELETE FROM preferences'))
  await first.kill()
  await release()
  await until('the dead instance has let go', async () => !(await isBlocked(world, 'DELETE')))
  expect(await world.query('SELECT FROM profiles WHERE user_id = $1', [person.id])).toHaveLength(1)

  await world.start()
  await expectPurged(world, { person, withdrawalId })
})

test('F2 F24 when one of two instances is killed, every application is called under one id and every step completes once', async (context) => {
  const world = await givenWorld(context)
  let running = [] as Awaited<ReturnType<typeof world.start>>[]
  const shop = await world.givenApplication('shop', async (call, response) => {
    // One of the two instances dies while the call of either waits for its answer.
    if (call === 3) await running[0]?.kill()
    answer(response, 204)
  })
  await world.givenApplication('games')
  running = [await world.start(), await world.start()]
  const [first, second] = running
  if (!first || !second) throw new Error('two instances')
  const people = []
  for (let count = 0; count < 6; count++) people.push(await givenPerson(world, count % 2 ? first : second))
  // A client without an answer asks the other instance.
  await Promise.all(
    people.map((person, index) => {
      const [instance, other] = index % 2 ? [first, second] : [second, first]
      return withdraw(instance, person).catch(() => withdraw(other, person))
    }),
  )
  const ids = await Promise.all(people.map((person) => withdrawalOf(world, person)))
  await Promise.all(people.map((person, index) => expectPurged(world, { person, withdrawalId: ids[index] ?? '' })))
  expect(first.isRunning).toBe(false)
  expect(second.isRunning).toBe(true)
  expect(shop.received.length).toBeGreaterThanOrEqual(people.length)
})
