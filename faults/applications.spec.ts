import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { type Application, accept, answer, type Script } from '@/testing/application'
import { until } from '@/testing/until'
import { givenWorld } from '@/testing/world'
import { expectFullEnd, givenLeaver } from './ending'

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
  const leaver = await givenLeaver(world, instance)

  await until('the shop knows', async () => {
    const rows = await world.query(`SELECT FROM deletion_tasks WHERE app_name = 'shop' AND status = 'completed'`)
    return rows.length === 1
  })
  const states = await world.query<{ status: string }>(`SELECT status FROM deletion_tasks WHERE app_name = 'hanging'`)
  expect(states).toEqual([{ status: 'processing' }])

  await expectFullEnd(world, leaver)
  const calls = (application: Application) => application.received.length
  expect([shop, gone, hanging, busy, broken].map(calls)).toEqual([1, 1, 2, 2, 4])
  const waited = ({ received: [first, second] }: Application) => (second?.at ?? 0) - (first?.at ?? 0)
  expect(waited(hanging)).toBeGreaterThan(8_000)
  expect(waited(busy)).toBeGreaterThan(13_000)
})

test('F18 an instance that is stopped while an application hangs exits at once, and the next instance calls it again', async (context) => {
  const world = await givenWorld(context)
  const shop = await world.givenApplication(
    'shop',
    firstThen(() => {}),
  )
  const first = await world.start()
  const leaver = await givenLeaver(world, first)
  await until('the application hangs', () => shop.received.length === 1)
  const stoppedAt = Date.now()
  expect(await first.stop()).toBe(0)
  expect(Date.now() - stoppedAt).toBeLessThan(8_000)
  await world.start()
  await expectFullEnd(world, leaver)
  expect(shop.received).toHaveLength(2)
})
