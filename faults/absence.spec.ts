import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import type { ReceiptClaims } from '@/contract/receipt'
import { STEP_LEASE_MS } from '@/domain/limits/durations'
import { answer } from '@/testing/application'
import { startWithdrawal } from '@/testing/completed-withdrawal'
import { givenPlainPerson, type Person } from '@/testing/person'
import { until } from '@/testing/until'
import { givenWorld, holdLock, isBlocked, isMarked, type World } from '@/testing/world'

/** How far the check is when the service is killed, and how often the application has been asked by then. */
const MOMENTS = {
  'told, and not asked yet': 0,
  'being claimed': 0,
  asked: 1,
  'answered, and the answer not stored': 1,
  'answered, and the answer stored': 1,
}
type Moment = keyof typeof MOMENTS

/** A withdrawal of which the service is killed at one moment of its check. */
interface Case {
  moment: Moment
  /** The application keeps the person when it is told for the first time. */
  isKept: boolean
  person: Person
  withdrawalId: string
  /** The ids of the messages that told the application. */
  told: string[]
  /** How often the application was asked, and what it answered. */
  asked: number
  said: ('absent' | 'present')[]
  isCompletedTooEarly: boolean
}

test('F75 an absence check survives a kill at every moment: it is asked until its answer is stored, and an application that kept the person is told again', async (context) => {
  const world = await givenWorld(context, { WITHDRAWAL_RETENTION: 'P30D', DATABASE_CONNECTIONS: '10' })
  const cases: Case[] = []
  const at = (...moments: Moment[]) => cases.filter(({ moment }) => moments.includes(moment))
  /** Let go after the kill. */
  const locks: (() => Promise<void>)[] = []
  /** Answers that are sent when the service cannot read them any more. */
  const lateAnswers: (() => Promise<void>)[] = []

  const shop = await world.givenApplication('shop', async (call, response) => {
    const { id, body } = shop.received[call - 1] ?? { id: '', body: '{}' }
    const { type, data } = JSON.parse(body)
    const one = cases.find(({ person }) => person.id === data.account)
    if (!one) return answer(response, 500)
    if (type === 'account.withdrawn') {
      one.told.push(id)
      return answer(response, 204)
    }
    one.asked++
    one.isCompletedTooEarly ||= await isMarked(world, one.withdrawalId, 'completed_at')
    if (one.asked === 1) {
      if (one.moment === 'asked') return
      if (one.moment === 'answered, and the answer not stored')
        return lateAnswers.push(() => sayWhetherPresent(one, response))
      // What follows the storing of the answer waits.
      if (one.moment === 'answered, and the answer stored') locks.push(await holdLock(world, STEP, [one.withdrawalId]))
    }
    await sayWhetherPresent(one, response)
  })
  const settings = ['--name', shop.name, '--endpoint', shop.url, '--confirms']
  const { app_id: app } = await world.operator.run('app', 'register', ...settings)
  for (const moment of Object.keys(MOMENTS) as Moment[]) {
    for (const isKept of [false, true]) {
      const person = await givenPlainPerson(world, app)
      cases.push({ moment, isKept, person, withdrawalId: '', told: [], asked: 0, said: [], isCompletedTooEarly: false })
    }
  }
  const first = await world.start()
  const withdraw = (some: Case[]) =>
    Promise.all(
      some.map(async (one) => {
        one.withdrawalId = (await startWithdrawal(first, one.person)).withdrawalId
      }),
    )
  const areTold = (some: Case[]) =>
    until('the application is told', async () => (await tasksOf(world, some)).every(({ is_told }) => is_told))

  const claimed = at('being claimed')
  const due = at('told, and not asked yet')
  await withdraw(cases.filter((one) => !due.includes(one)))
  await areTold(claimed)
  for (const { withdrawalId } of claimed) locks.push(await holdLock(world, TASK, [withdrawalId]))
  const others = at('asked', 'answered, and the answer not stored', 'answered, and the answer stored')
  await until('the application is asked', () => others.every(({ asked }) => asked === 1))
  await until('the answers are stored', async () => {
    const tasks = await tasksOf(world, at('answered, and the answer stored'))
    return tasks.every(({ is_stored }) => is_stored)
  })
  await until('the claims wait', () => isBlocked(world, 'UPDATE deletion_tasks', claimed.length))
  await withdraw(due)
  await areTold(due)
  first.signal('SIGSTOP')
  for (const send of lateAnswers) await send()
  await first.kill()
  for (const release of locks) await release()
  await until('the dead instance has let go', async () => !(await isBlocked(world, 'deletion_')))

  expect(cases.map(({ moment, asked }) => [moment, asked])).toEqual(
    cases.map(({ moment }) => [moment, MOMENTS[moment]]),
  )
  for (const one of cases) {
    const [task] = await tasksOf(world, [one])
    expect(task?.is_stored, one.moment).toBe(one.moment === 'answered, and the answer stored')
    expect(await receiptsOf(world, one)).toMatchObject([{ kind: 'acceptance' }])
  }
  await letLeasesEnd(world)

  await world.start()
  for (const { withdrawalId, moment } of cases)
    await until(`${moment}: completed`, () => isMarked(world, withdrawalId, 'completed_at'))
  for (const one of cases) {
    const { moment, isKept, isCompletedTooEarly, said, told, asked } = one
    const isAskedAgain = moment !== 'answered, and the answer stored'
    expect({ moment, isKept, isCompletedTooEarly, last: said.at(-1), asked, told: told.length }).toEqual({
      moment,
      isKept,
      isCompletedTooEarly: false,
      last: 'absent',
      asked: MOMENTS[moment] + Number(isAskedAgain) + Number(isKept),
      told: isKept ? 2 : 1,
    })
    expect(said.includes('present')).toBe(isKept)
    expect(new Set(told).size).toBe(1)
    const [task] = await tasksOf(world, [one])
    expect(await receiptsOf(world, one)).toMatchObject([
      { kind: 'acceptance' },
      {
        kind: 'completion',
        sub: one.withdrawalId,
        applications: [{ name: 'shop', answer: 'absent', at: task?.absent_at?.toISOString() }],
      },
    ])
  }
})

const TASK = 'SELECT FROM deletion_tasks WHERE withdrawal_id = $1 FOR UPDATE'
const STEP = `SELECT FROM deletion_steps WHERE withdrawal_id = $1 AND step = 'third_party_integrations' FOR UPDATE`

/** Ends when the answer is on its way. One that keeps the person deletes it when it is told again. */
function sayWhetherPresent(one: Case, response: ServerResponse): Promise<void> {
  const present = one.isKept && one.told.length === 1
  one.said.push(present ? 'present' : 'absent')
  return new Promise((resolve) => response.end(JSON.stringify({ present, account: one.person.id }), () => resolve()))
}

interface Task {
  is_told: boolean
  is_stored: boolean
  absent_at: Date | null
}

const tasksOf = (world: World, cases: Case[]): Promise<Task[]> =>
  world.query(
    `SELECT completed_at IS NOT NULL AS is_told, absent_at IS NOT NULL OR times_present > 0 AS is_stored, absent_at
     FROM deletion_tasks WHERE withdrawal_id = ANY ($1)`,
    [cases.map(({ withdrawalId }) => withdrawalId)],
  )

/** Makes whatever waits older, as if the service had been down until the leases of the dead instance ended. */
async function letLeasesEnd(world: World) {
  for (const table of ['deletion_tasks', 'deletion_steps'])
    await world.query(
      `UPDATE ${table} SET due_at = due_at - $1::int * interval '1 ms', lease_until = lease_until - $1::int * interval '1 ms'`,
      [STEP_LEASE_MS],
    )
}

async function receiptsOf({ operator }: World, { withdrawalId }: Case): Promise<ReceiptClaims[]> {
  const { receipts } = (await operator.run('receipt', 'show', withdrawalId)) as unknown as {
    receipts: { receipt: string }[]
  }
  return receipts.map(({ receipt }) => JSON.parse(Buffer.from(receipt.split('.')[1] ?? '', 'base64url').toString()))
}
