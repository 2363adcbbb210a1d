import path from 'node:path'
import { expect, test } from 'vitest'
import { answer } from '@/testing/application'
import { expectPurged, givenStartedWithdrawal, startWithdrawal } from '@/testing/completed-withdrawal'
import type { Answer } from '@/testing/instance'
import { COSTLY, givenPeople } from '@/testing/people'
import { changeEmail, emailStatus, givenPerson, type Person } from '@/testing/person'
import { until } from '@/testing/until'
import { givenWorld } from '@/testing/world'

const PRELOAD = path.resolve('lab/faults/preload/out-of-memory.ts')

test('F22 an instance that runs out of memory exits, and its replacement completes the withdrawals', async (context) => {
  const world = await givenWorld(context)
  const allAccepted = Promise.withResolvers<void>()
  const shop = await world.givenApplication('shop', async (call, response) => {
    if (call === 1) {
      await allAccepted.promise
      first.signal('SIGUSR2')
      // The client has gone before the answer.
      await first.end()
    }
    answer(response, 204)
  })
  const first = await world.start({ NODE_OPTIONS: `--import=${PRELOAD} --max-old-space-size=256` })
  const people = [await givenPerson(world, first), await givenPerson(world, first)]
  const withdrawals = []
  for (const person of people) withdrawals.push(await startWithdrawal(first, person))
  allAccepted.resolve()
  expect(await first.end()).toBe('SIGABRT')
  expect(first.output).toContain('heap out of memory')

  await world.start()
  await Promise.all(withdrawals.map((withdrawal) => expectPurged(world, withdrawal)))
  expect(shop.received.length).toBeGreaterThan(people.length)
})

test('F22 L11 an instance with 256 MB answers 200 password checks at once and the reads beside them', async (context) => {
  const world = await givenWorld(context)
  const instance = await world.start({ NODE_OPTIONS: '--max-old-space-size=256' })
  const people = await givenPeople(world, 200, { cost: COSTLY })
  const changes = Promise.all(people.map((person) => changeEmail(instance, person)))
  let isChecking = true
  const reads: Answer[] = []
  const reading = (async () => {
    for (let count = 0; isChecking; count++) reads.push(await emailStatus(instance, people[count % 200] as Person))
  })()
  const answers = await changes
  const statuses = answers.map(({ status }) => status)
  isChecking = false
  await reading
  // Every call gets an answer. One that would wait for a hash beyond the limit of a request is refused with Retry-After.
  expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([])
  expect(statuses).toContain(200)
  expect(reads.every(({ status }) => status === 200)).toBe(true)
  // Reads do not wait in the queue of the hashes.
  const times = reads.map(({ ms }) => ms).sort((a, b) => a - b)
  expect(times[Math.floor(times.length * 0.95)]).toBeLessThan(Math.max(...answers.map(({ ms }) => ms)) / 3)
  expect(instance.isRunning).toBe(true)
})

test('F22 an instance that stalls beyond its leases fails its health check, loses its work to another and changes nothing when it resumes', async (context) => {
  const world = await givenWorld(context)
  let isBusyOver = false
  const shop = await world.givenApplication('shop', (call, response) => {
    // Nobody answers the first call, because the instance that made it is stopped.
    if (call === 1) first.signal('SIGSTOP')
    else answer(response, 204)
  })
  // The answer keeps the step open, so that a late write of the first instance would show.
  await world.givenApplication('busy', (_call, response) => answer(response, isBusyOver ? 204 : 503))
  const first = await world.start()
  const withdrawal = await givenStartedWithdrawal(world, first)
  await until('the first calls the shop', () => shop.received.length === 1)
  expect(await first.isLive()).toBe(false)

  await world.start()
  const tasksOfShop = () =>
    world.query<{ status: string; due_at: Date | null; completed_at: Date | null }>(
      `SELECT status, due_at, completed_at FROM deletion_tasks WHERE app_name = 'shop'`,
    )
  // If the purge has already run, the row is gone.
  const isCompleted = async () => (await tasksOfShop()).every(({ status }) => status === 'completed')
  await until('the second has told the shop', async () => shop.received.length === 2 && isCompleted())
  const stored = await tasksOfShop()
  first.signal('SIGCONT')
  await until('the first moves again', () => first.isLive())
  const before = world.applications[1]?.received.length ?? 0
  await until('the step has run again', () => (world.applications[1]?.received.length ?? 0) > before + 2)
  expect([stored, []]).toContainEqual(await tasksOfShop())
  isBusyOver = true
  await expectPurged(world, withdrawal)
  expect(shop.received).toHaveLength(2)
})
