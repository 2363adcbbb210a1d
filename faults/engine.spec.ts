import { expect, test } from 'vitest'
import { expectPurged, givenStartedWithdrawal } from '@/testing/completed-withdrawal'
import { givenWorld } from '@/testing/world'

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
  // A busy machine is late with more than the engine.
  const ready = { status: 'ready', engine: 'away', degraded: expect.arrayContaining(['engine']) }
  expect(await instance.readiness()).toMatchObject({ status: 200, body: ready })
  await expectPurged(world, withdrawal)
})
