import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { expectPurged, givenStartedWithdrawal } from '@/testing/completed-withdrawal'
import type { Answer, Instance } from '@/testing/instance'
import { changeEmail, emailStatus, givenPlainPerson, mailedCode, type Person, verifyEmail } from '@/testing/person'
import { until } from '@/testing/until'
import { givenWorld, isMarked, type World } from '@/testing/world'

const HOUR = 60 * 60_000
const PRELOAD = path.resolve('lab/faults/preload/shifted-clock.ts')
const shiftedBy = (ms: number) => ({ NODE_OPTIONS: `--import=${PRELOAD}`, CLOCK_SHIFT_MS: String(ms) })

test('F17 F46 the database clock alone decides limits and codes when two instances are 13 hours ahead and one hour behind, and a third one runs the steps', async (context) => {
  // The last step of a withdrawal is due after 17 s.
  const world = await givenWorld(context, { WITHDRAWAL_TIME_SCALE: '0.0002', WITHDRAWAL_RETENTION: 'P1DT6H' })
  await world.givenApplication('shop')
  const ahead = await world.start(shiftedBy(13 * HOUR))
  const behind = await world.start(shiftedBy(-HOUR))
  const instances = [ahead, behind, ahead, behind] as const

  const limited = await givenPlainPerson(world)
  const answers: Answer[] = []
  for (const instance of instances) answers.push(await changeEmail(instance, limited))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429])
  const again = await changeEmail(ahead, limited)
  expect([again.status, again.body.error.code]).toEqual([429, 'EMAIL_008'])
  for (const refusal of [answers[3], again]) {
    const wait = Number(refusal?.headers.get('Retry-After'))
    expect(wait).toBeGreaterThan(3_500)
    expect(wait).toBeLessThanOrEqual(3_600)
  }
  for (const answer of [...answers, again]) await expectTrueTimes(world, answer)
  expect((await verifyEmail(ahead, limited, mailedCode(world, limited))).status).toBe(200)

  const late = await givenPlainPerson(world)
  expect((await changeEmail(ahead, late)).status).toBe(200)
  await expire(world, late)
  await expectExpired(world, behind, late)

  const withdrawal = await givenStartedWithdrawal(world, behind)
  const startedAt = Date.now()
  for (const { output } of [ahead, behind]) expect(output).toContain('"event":"clock_off"')
  await world.start()
  await until('the last step has ended', () => isMarked(world, withdrawal.withdrawalId, 'completed_at'))
  // The instance that is ahead would have ended a day's schedule at once.
  expect(Date.now() - startedAt).toBeGreaterThan(0.0002 * 24 * HOUR - 1_000)
  await expectPurged(world, withdrawal)
})

test('F17 a clock that jumps ahead and back during the run revives no expired code and reopens no limit', async (context) => {
  const world = await givenWorld(context)
  const file = path.join(world.dataDir, 'clock-shift')
  const instance = await world.start({ ...shiftedBy(0), CLOCK_SHIFT_FILE: file })
  const limited = await givenPlainPerson(world)
  const late = await givenPlainPerson(world)
  for (let count = 0; count < 3; count++) expect((await changeEmail(instance, limited)).status).toBe(200)
  expect((await changeEmail(instance, late)).status).toBe(200)
  await expire(world, late)

  for (const hours of [13, -1, 0.08, -13]) {
    writeFileSync(file, String(hours * HOUR))
    instance.signal('SIGUSR2')
    await until('the clock has jumped', () => readFileSync(`${file}.seen`, 'utf8') === String(hours * HOUR))
    const refusal = await changeEmail(instance, limited)
    expect([refusal.status, refusal.body.error.code]).toEqual([429, 'EMAIL_008'])
    expect(Number(refusal.headers.get('Retry-After'))).toBeGreaterThan(3_000)
    await expectTrueTimes(world, refusal)
    await expectExpired(world, instance, late)
    const status = await emailStatus(instance, limited)
    expect(status.body.data.pending_change.has_pending).toBe(true)
    await expectTrueTimes(world, status)
  }
  expect((await verifyEmail(instance, limited, mailedCode(world, limited))).status).toBe(200)
})

/** Half a minute ago: less than any jump here. */
const expire = (world: World, { id }: Person) =>
  world.query(`UPDATE email_change_requests SET expires_at = now() - interval '30 s' WHERE user_id = $1`, [id])

async function expectExpired(world: World, instance: Instance, person: Person) {
  const refusal = await verifyEmail(instance, person, mailedCode(world, person))
  expect([refusal.status, refusal.body.error.code]).toEqual([410, 'EMAIL_004'])
}

async function expectTrueTimes(world: World, { body }: Answer) {
  const [{ now } = { now: new Date(0) }] = await world.query<{ now: Date }>('SELECT clock_timestamp() AS now')
  const times = JSON.stringify(body).match(/\d{4}-\d\d-\d\dT[^"]*/g) ?? []
  expect(times.length).toBeGreaterThan(0)
  for (const time of times) expect(time).toMatch(/^[\d-]+T[\d:]+\.\d{3}Z$/)
  // The margin is smaller than any jump here, and larger than the delay of a busy machine.
  expect(Math.abs(now.getTime() - Date.parse(body.timestamp))).toBeLessThan(60_000)
}
