import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { type Application, accept, answer, type Script } from '@/testing/application'
import { expectPurged, givenStartedWithdrawal, placesOf, startWithdrawal } from '@/testing/completed-withdrawal'
import { givenPerson, givenPlainPerson } from '@/testing/person'
import { until } from '@/testing/until'
import { givenWorld, isMarked } from '@/testing/world'

const firstThen =
  (fault: (response: ServerResponse) => unknown, times = 1): Script =>
  (call, response, request) =>
    call <= times ? fault(response) : accept(call, response, request)

test('F18 a failing application delays no other, is called again under the same id, and the withdrawal completes', async (context) => {
  const world = await givenWorld(context)
  const shop = await world.givenApplication('shop')
  const gone = await world.givenApplication('gone', (_call, response) => answer(response, 410))
  const hanging = await world.givenApplication(
    'hanging',
    firstThen(() => {}),
  )
  const broken = await world.givenApplication(
    'broken',
    firstThen((response) => answer(response, 500), 3),
  )
  const busy = await world.givenApplication(
    'busy',
    firstThen((response) => answer(response, 429, { 'Retry-After': '14' })),
  )
  const instance = await world.start()
  const withdrawal = await givenStartedWithdrawal(world, instance)

  await until('the shop knows', async () => {
    const rows = await world.query(`SELECT FROM deletion_tasks WHERE app_name = 'shop' AND status = 'completed'`)
    return rows.length === 1
  })
  const states = await world.query<{ status: string }>(`SELECT status FROM deletion_tasks WHERE app_name = 'hanging'`)
  expect(states).toEqual([{ status: 'processing' }])

  await expectPurged(world, withdrawal)
  const calls = (application: Application) => application.received.length
  expect([shop, gone, hanging, busy, broken].map(calls)).toEqual([1, 1, 2, 2, 4])
  const waited = ({ received: [first, second] }: Application) => (second?.at ?? 0) - (first?.at ?? 0)
  expect(waited(hanging)).toBeGreaterThan(8_000)
  expect(waited(busy)).toBeGreaterThan(13_000)
})

test('F19 withdrawals whose application hangs delay nobody else, and their purge comes in time', async (context) => {
  const world = await givenWorld(context)
  const instance = await world.start()
  const hanging = await world.givenApplication('hanging', () => {})
  const stuck = await givenPerson(world, instance)
  const [{ id: app = '' } = {}] = await world.query<{ id: string }>(
    `SELECT id FROM connected_apps WHERE name = 'hanging'`,
  )
  const many = []
  for (let count = 0; count < 24; count++) many.push(await givenPlainPerson(world, app))
  const person = await givenPlainPerson(world)
  const { withdrawalId } = await startWithdrawal(instance, stuck)
  for (const one of many) await startWithdrawal(instance, one)
  await until('the application hangs', () => hanging.received.length >= 4)
  const other = await startWithdrawal(instance, person)
  // Its last step is due after 4.3 s; a call hangs for 10 s.
  const isCompleted = () => isMarked(world, other.withdrawalId, 'completed_at')
  await until('the other withdrawal is completed', isCompleted, 9_000)

  await until('the purge comes', () => isMarked(world, withdrawalId, 'purged_at'), 12_000)
  expect(await isMarked(world, withdrawalId, 'completed_at')).toBe(false)
  // What it is still to be told, under its own id of the person.
  expect(await placesOf(world, [stuck.mark, stuck.token])).toEqual(['table deletion_tasks'])
  // Logs may hold ids.
  expect((await placesOf(world, [stuck.id])).filter((place) => place.startsWith('table'))).toEqual([])
})

test('F18 an instance that is stopped while an application hangs exits at once, and the next instance calls it again', async (context) => {
  const world = await givenWorld(context)
  const shop = await world.givenApplication(
    'shop',
    firstThen(() => {}),
  )
  const first = await world.start()
  const withdrawal = await givenStartedWithdrawal(world, first)
  await until('the application hangs', () => shop.received.length === 1)
  const stoppedAt = Date.now()
  expect(await first.stop()).toBe(0)
  expect(Date.now() - stoppedAt).toBeLessThan(8_000)
  await world.start()
  await expectPurged(world, withdrawal)
  expect(shop.received).toHaveLength(2)
})
