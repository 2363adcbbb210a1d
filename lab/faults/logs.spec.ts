import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, openSync } from 'node:fs'
import { expect, test } from 'vitest'
import { expectPurged, startWithdrawal } from '@/testing/completed-withdrawal'
import type { Instance } from '@/testing/instance'
import {
  changeEmail,
  emailStatus,
  givenPerson,
  givenPlainPerson,
  mailedCode,
  verifyEmail,
  withdraw,
} from '@/testing/person'
import { runAt } from '@/testing/raw-sql'
import { until } from '@/testing/until'
import { givenWorld, untilNothingWaitsToBeSent, type World } from '@/testing/world'

test('F21 requests go on and a withdrawal completes when the reader of the log is gone', async (context) => {
  const world = await givenWorld(context)
  await world.givenApplication('shop')
  const instance = await world.start()
  const person = await givenPerson(world, instance)
  instance.stdout?.destroy()
  expect(await allFlows(world, instance)).toEqual([200, 200, 200])
  await expectPurged(world, await startWithdrawal(instance, person))
  expect(instance.isRunning).toBe(true)
})

test('F21 requests are answered as usual while the reader of the log stalls, and the number of lost lines is logged afterwards', async (context) => {
  const world = await givenWorld(context)
  const instance = await world.start()
  instance.stdout?.pause()
  // Each of these calls costs little and writes a line of the log.
  const stranger = { id: 'usr_nobody', token: 'none' }
  const lineBytes = 250
  for (let bytes = 0; bytes < 2 * 1024 * 1024; bytes += 16 * lineBytes) {
    const answers = await Promise.all(Array.from({ length: 16 }, () => emailStatus(instance, stranger)))
    for (const { status, ms } of answers) {
      expect(status).toBe(401)
      expect(ms).toBeLessThan(10_000)
    }
  }
  expect(await allFlows(world, instance)).toEqual([200, 200, 200])
  expect(await instance.isLive()).toBe(true)
  instance.stdout?.resume()
  const [, lost] = await until('the log goes on', () => /"event":"log_lines_lost","lines":(\d+)/.exec(instance.output))
  expect(Number(lost)).toBeGreaterThan(0)
})

const FULL = '/dev/full'
test.skipIf(!existsSync(FULL))(
  'F21 the service starts and serves when the log volume is full from the start',
  async (context) => {
    const world = await givenWorld(context)
    await world.givenApplication('shop')
    const full = openSync(FULL, 'w')
    context.onTestFinished(() => closeSync(full))
    const instance = await world.start({}, { stdout: full })
    const person = await givenPerson(world, instance)
    expect(await allFlows(world, instance)).toEqual([200, 200, 200])
    await expectPurged(world, await startWithdrawal(instance, person))
    expect(await instance.stop()).toBe(0)
  },
)

test('F21 change, verification and withdrawal are refused whole while the audit cannot be written, and work again afterwards', async (context) => {
  const world = await givenWorld(context)
  await world.givenApplication('shop')
  const { role, url } = await givenServiceRole(world)
  const instance = await world.start({ DATABASE_URL: url })
  const person = await givenPerson(world, instance)
  const changing = await givenPlainPerson(world)
  const refuse = () => world.query(`REVOKE INSERT ON audit_events FROM ${role}`)
  const allow = () => world.query(`GRANT INSERT ON audit_events TO ${role}`)
  const expectRefusal = async (call: Promise<{ status: number; body: { error?: { code: string } } }>) => {
    const before = await traces(world)
    const { status, body } = await call
    expect([status, body.error?.code]).toEqual([500, 'SERVER_001'])
    expect(await traces(world)).toEqual(before)
  }

  await untilNothingWaitsToBeSent(world)
  await refuse()
  await expectRefusal(changeEmail(instance, changing))
  await allow()
  expect((await changeEmail(instance, changing)).status).toBe(200)
  await untilNothingWaitsToBeSent(world)

  await refuse()
  await expectRefusal(verifyEmail(instance, changing, mailedCode(world, changing)))
  await expectRefusal(withdraw(instance, person))
  expect((await emailStatus(instance, person)).status).toBe(200)
  await allow()
  expect((await verifyEmail(instance, changing, mailedCode(world, changing))).status).toBe(200)
  await expectPurged(world, await startWithdrawal(instance, person))
})

/** Changes, verifies and reads the address of a new person. */
async function allFlows(world: World, instance: Instance): Promise<number[]> {
  const person = await givenPlainPerson(world)
  const changed = await changeEmail(instance, person)
  const verified = await verifyEmail(instance, person, mailedCode(world, person))
  const { status } = await emailStatus(instance, person)
  return [changed.status, verified.status, status]
}

/** A role that may read and write rows, and neither owns nor creates anything. */
async function givenServiceRole(world: World): Promise<{ role: string; url: string }> {
  const role = `service_${randomBytes(6).toString('hex')}`
  const password = randomBytes(12).toString('hex')
  const schemas = 'SCHEMA public, completions, traces'
  await runAt(
    world.databaseUrl,
    `CREATE ROLE ${role} LOGIN PASSWORD '${password}'`,
    `GRANT USAGE ON ${schemas} TO ${role}`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN ${schemas} TO ${role}`,
    `GRANT USAGE ON ALL SEQUENCES IN ${schemas} TO ${role}`,
  )
  return { role, url: Object.assign(new URL(world.databaseUrl), { username: role, password }).href }
}

/** Every row that the three calls could leave behind. */
async function traces(world: World) {
  const tables = [
    'users',
    'sessions',
    'access_tokens',
    'email_change_requests',
    'notices',
    'audit_events',
    'withdrawals',
    'deletion_steps',
    'deletion_tasks',
    'app_connections',
    'ended_credentials',
    'outbox_events',
    'legal_records',
  ]
  const rows = await Promise.all(
    tables.map((table) => world.query(`SELECT to_jsonb(t) - 'last_used_at' AS row FROM ${table} t ORDER BY 1`)),
  )
  return Object.fromEntries(tables.map((table, index) => [table, rows[index]]))
}
