import { expect, test, vi } from 'vitest'
import type { Sql } from '@/domain/sql'
import { createClock } from './clock'

const HOUR = 60 * 60_000
const databaseAt = (time: () => number) => (async () => [{ now: new Date(time()) }]) as unknown as Sql

test("the time is the database’s, and setting the host's clock does not change it", async () => {
  const startedAt = Date.now()
  const clock = createClock(databaseAt(() => startedAt + 13 * HOUR))
  await clock.follow()
  vi.setSystemTime(startedAt - HOUR)
  expect(clock.now().getTime()).toBeLessThan(startedAt + 14 * HOUR)
  expect(clock.now().getTime()).toBeGreaterThanOrEqual(startedAt + 13 * HOUR)
  vi.useRealTimers()
  clock.stop()
})

test('while the database is away the time continues, and a slow answer is not used', async () => {
  const startedAt = Date.now()
  let answer: () => Promise<{ now: Date }[]> = async () => [{ now: new Date(startedAt + HOUR) }]
  const clock = createClock((() => answer()) as unknown as Sql)
  await clock.follow()
  answer = () => Promise.reject(new Error('away'))
  await expect(clock.follow()).rejects.toThrow('away')
  const passed = vi.spyOn(performance, 'now').mockReturnValue(0)
  const before = clock.now().getTime()
  answer = async () => {
    passed.mockReturnValue(300)
    return [{ now: new Date(startedAt + 2 * HOUR) }]
  }
  await clock.follow()
  expect(clock.now().getTime() - before).toBe(300)
  passed.mockRestore()
  clock.stop()
})

test('a first answer that took long is used only until a quicker one comes, which is asked for at once', async () => {
  let passedMs = 0
  const passed = vi.spyOn(performance, 'now').mockImplementation(() => passedMs)
  const startedAt = Date.now()
  const waits = [4_000, 400, 600, 300]
  const clock = createClock((async () => {
    // Read when the answer leaves, which a connection has kept waiting.
    passedMs += waits.shift() ?? 0
    return [{ now: new Date(startedAt + passedMs) }]
  }) as unknown as Sql)
  const offAfterFollowing = async () => {
    await clock.follow()
    return clock.now().getTime() - (startedAt + passedMs)
  }
  // The time of a reading is taken for the middle of its wait.
  expect(await offAfterFollowing()).toBe(200)
  expect(waits).toEqual([600, 300])
  expect(await offAfterFollowing()).toBe(150)
  expect(waits).toEqual([])
  passed.mockRestore()
  clock.stop()
})

test('a database that is slow to accept the first connection is asked again', async () => {
  let reads = 0
  const clock = createClock((async () => {
    if (++reads < 5) throw new Error('timeout exceeded when trying to connect')
    return [{ now: new Date() }]
  }) as unknown as Sql)
  await clock.follow()
  expect(reads).toBe(5)
  clock.stop()
})

test('F46 a database clock that is off by more than five minutes is reported once, and reported again when it agrees', async () => {
  const minute = 60_000
  let shift = 4 * minute
  const reports: boolean[] = []
  const clock = createClock(
    databaseAt(() => Date.now() + shift),
    (_skewMs, isOff) => reports.push(isOff),
  )
  const offAt = async (ms: number) => {
    shift = ms
    await clock.follow()
    return clock.isOff()
  }
  expect(await offAt(4 * minute)).toBe(false)
  expect([await offAt(6 * minute), await offAt(35 * 24 * HOUR), await offAt(-6 * minute)]).toEqual([true, true, true])
  expect(await offAt(-4 * minute)).toBe(false)
  expect(reports).toEqual([true, false])
  clock.stop()
})
