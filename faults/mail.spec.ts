import { expect, test } from 'vitest'
import { expectPurged, startWithdrawal } from '@/testing/completed-withdrawal'
import { changeEmail, givenPerson, givenPlainPerson, withdraw } from '@/testing/person'
import { until } from '@/testing/until'
import { givenWorld, type World } from '@/testing/world'

const WITHDRAWN = 'Account deletion started'
const sentTo = (world: World, address: string, subject: string) =>
  world.mail.to(address).filter((mail) => mail.subject === subject)

test('F9 a withdrawal is accepted while the mail server is away, and the confirmation arrives later, once', async (context) => {
  // The confirmation may wait 17 s.
  const world = await givenWorld(context, { WITHDRAWAL_TIME_SCALE: '0.0002', WITHDRAWAL_RETENTION: 'P1DT12H' })
  await world.givenApplication('shop')
  const instance = await world.start()
  const person = await givenPerson(world, instance)
  await world.mail.goAway()
  const withdrawal = await startWithdrawal(instance, person)
  const degraded = await until('the health tells of it', async () => {
    const health = await instance.readiness()
    return health.body.mail === 'away' && health
  })
  expect(degraded).toMatchObject({ status: 200, body: { degraded: expect.arrayContaining(['mail']) } })
  await until('the account is erased and the confirmation was tried again', async () => {
    const rows = await world.query('SELECT FROM notices WHERE withdrawal_id = $1 AND attempts > 1', [
      withdrawal.withdrawalId,
    ])
    const users = await world.query('SELECT FROM users WHERE id = $1', [person.id])
    return rows.length === 1 && users.length === 0
  })
  await world.mail.startAgain()
  await until('the confirmation arrives', () => sentTo(world, person.email, WITHDRAWN).length > 0)
  await expectPurged(world, withdrawal)
  expect(sentTo(world, person.email, WITHDRAWN)).toHaveLength(1)
})

test('F10 a change ends with EMAIL_009 within 12 s when the mail server takes the message and never answers, and nothing is kept', async (context) => {
  const world = await givenWorld(context)
  const instance = await world.start()
  const person = await givenPlainPerson(world)
  context.onTestFinished(world.mail.hold())
  const ask = async () => {
    const { status, body, ms } = await changeEmail(instance, person)
    expect([status, body.error.code]).toEqual([503, 'EMAIL_009'])
    return ms
  }
  let refusedAfterMs = await ask()
  // A machine that is busy for a while may need another try.
  for (let tries = 1; refusedAfterMs >= 12_000 && tries < 3; tries++) refusedAfterMs = await ask()
  expect(refusedAfterMs).toBeLessThan(12_000)
  expect(await world.query('SELECT FROM email_change_requests')).toEqual([])
  const { status, ms } = await withdraw(instance, person)
  expect(status).toBe(202)
  expect(ms).toBeLessThan(refusedAfterMs)
})
