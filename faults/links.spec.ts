import { expect, test } from 'vitest'
import { givenPlainPerson } from '@/testing/person'
import { until } from '@/testing/until'
import { givenWorld } from '@/testing/world'

const CONFIRMATIONS = 200

test('B52 of two hundred confirmations of one link on two instances exactly one has an effect, though no limit stops them', async (context) => {
  const world = await givenWorld(context, { WITHDRAW_LIMIT: '1000', WITHDRAWAL_TIME_SCALE: '1' })
  const instances = [await world.start(), await world.start()] as const
  const [first] = instances
  const person = await givenPlainPerson(world)
  const asked = await fetch(`${first.url}/api/v1/withdrawal-requests`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: person.email }),
  })
  expect(asked.status).toBe(202)
  const token = await until(
    'the link arrives',
    () => /wrt_[\w.-]+/.exec(world.mail.to(person.email)[0]?.text ?? '')?.[0],
  )
  const confirm = async (n: number) => {
    const answer = await fetch(`${instances[n % 2]?.url}/api/v1/withdrawal-requests/confirm`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ confirmation: 'DELETE_MY_ACCOUNT' }),
    })
    return `${answer.status} ${(await answer.json()).error?.code ?? ''}`
  }
  const answers = await Promise.all(Array.from({ length: CONFIRMATIONS }, (_, n) => confirm(n)))
  expect(
    Object.fromEntries(
      Map.groupBy(answers, String)
        .entries()
        .map(([answer, all]) => [answer, all.length]),
    ),
  ).toEqual({ '202 ': 1, '400 WITHDRAWAL_006': CONFIRMATIONS - 1 })
  expect(await world.query('SELECT FROM withdrawals WHERE user_id = $1', [person.id])).toHaveLength(1)
  const audited = await world.query(`SELECT FROM audit_events WHERE user_id = $1 AND action = 'account.withdrawn'`, [
    person.id,
  ])
  expect(audited).toHaveLength(1)
})
