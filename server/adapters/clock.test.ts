import { expect, test, vi } from 'vitest'
import type { Sql } from '@/domain/sql'
import { createClock } from './clock'

const HOUR = 60 * 60_000
const databaseAt = (time: () => number) => (async () => [{ now: new Date(time()) }]) as unknown as Sql

test("the time is the database’s, and setting the host's clock does not change it", async () => {
  const begin = Date.now()
  const clock = createClock(databaseAt(() => begin + 13 * HOUR))
  await clock.follow()
  vi.setSystemTime(begin - HOUR)
  expect(clock.now().getTime() - (begin + 13 * HOUR)).toBeLessThan(1_000)
  expect(clock.now().getTime()).toBeGreaterThanOrEqual(begin + 13 * HOUR)
  vi.useRealTimers()
  clock.stop()
})

test('while the database is away the time continues, and a slow answer is not used', async () => {
  const begin = Date.now()
  let answer: () => Promise<{ now: Date }[]> = async () => [{ now: new Date(begin + HOUR) }]
  const clock = createClock((() => answer()) as unknown as Sql)
  await clock.follow()
  answer = () => Promise.reject(new Error('away'))
  await expect(clock.follow()).rejects.toThrow('away')
  answer = async () => {
    await new Promise((resolve) => setTimeout(resolve, 300))
    return [{ now: new Date(begin + 2 * HOUR) }]
  }
  await clock.follow()
  const gone = clock.now().getTime() - (begin + HOUR)
  expect(gone).toBeGreaterThanOrEqual(300)
  expect(gone).toBeLessThan(HOUR / 2)
  clock.stop()
})

test('a database that is slow to accept the first connection is asked a few times', async () => {
  let asked = 0
  const failing = (times: number, message = 'timeout exceeded when trying to connect') =>
    (async () => {
      if (++asked <= times) throw new Error(message)
      return [{ now: new Date() }]
    }) as unknown as Sql
  const outcomes: [Sql, number, string | undefined][] = [
    [failing(4), 5, undefined],
    [failing(100), 5, 'timeout exceeded'],
    [failing(100, 'password authentication failed'), 1, 'password'],
  ]
  for (const [sql, looks, refusal] of outcomes) {
    asked = 0
    const clock = createClock(sql)
    const following = clock.follow()
    if (refusal) await expect(following).rejects.toThrow(refusal)
    else await following
    expect(asked).toBe(looks)
    clock.stop()
  }
})

test('F46 a database clock that is off by more than five minutes is told once, and told again when it agrees', async () => {
  const minute = 60_000
  let shift = 4 * minute
  const told: boolean[] = []
  const clock = createClock(
    databaseAt(() => Date.now() + shift),
    (_skewMs, isOff) => told.push(isOff),
  )
  const offAt = async (ms: number) => {
    shift = ms
    await clock.follow()
    return clock.isOff()
  }
  expect(await offAt(4 * minute)).toBe(false)
  expect([await offAt(6 * minute), await offAt(35 * 24 * HOUR), await offAt(-6 * minute)]).toEqual([true, true, true])
  expect(await offAt(-4 * minute)).toBe(false)
  expect(told).toEqual([true, false])
  clock.stop()
})
