import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import type { ReceiptClaims } from '@/contract/receipt'
import { STEP_LEASE_MS } from '@/domain/limits/durations'
import { answer } from '@/testing/application'
import { startWithdrawal } from '@/testing/completed-withdrawal'
import { givenPlainPerson, type Person } from '@/testing/person'
import { until } from '@/testing/until'
import { givenWorld, holdLock, isBlocked, isMarked, type World } from '@/testing/world'

// How far a check is when the service dies.
const MOMENTS = [
  // It becomes due while no service runs.
  'due',
  // The claim waits in the database, and nothing is sent.
  'claiming',
  // The application has the request.
  'asked',
  // The application has sent its answer, and the service has not read it.
  'answered',
  // The answer is stored, and its step not settled.
  'stored',
] as const

/** A withdrawal whose check is cut off. */
interface Case {
  moment: (typeof MOMENTS)[number]
  /** The application says that it is done and keeps the person, until it is told again. */
  isKept: boolean
  person: Person
  withdrawalId: string
  /** The ids of the messages that told the application. */
  requestIds: string[]
  /** How often the application was asked. */
  checks: number
  said: ('absent' | 'present')[]
  /** It was completed before a check was answered. */
  isTooEarly: boolean
}

test('F75 no check is lost by a kill at any of its moments, and no withdrawal is completed before its application said absent', async (context) => {
  // The check is due after 8.6 s, in which a busy machine finds time to take the locks.
  const settings = { WITHDRAWAL_TIME_SCALE: '0.0001', WITHDRAWAL_RETENTION: 'P30D', DATABASE_CONNECTIONS: '10' }
  const world = await givenWorld(context, settings)
  const { cases, at, locks, lateAnswers } = await givenCases(world)
  const first = await world.start()
  const withdraw = async (one: Case) => {
    one.withdrawalId = (await startWithdrawal(first, one.person)).withdrawalId
    await until('the application said that it is done', async () => (await taskOf(world, one)).is_done)
    // At once, because a slow machine may take longer for all of them than the check waits.
    if (one.moment === 'claiming') locks.push(await holdLock(world, TASK, [one.withdrawalId]))
  }

  await Promise.all(at('claiming', 'asked', 'answered', 'stored').map(withdraw))
  await until('the application is asked', () => at('asked', 'answered', 'stored').every(({ checks }) => checks === 1))
  for (const one of at('stored'))
    await until('the answer is stored', async () => (await taskOf(world, one)).is_answer_stored)
  await until('the claims wait', () => isBlocked(world, 'UPDATE deletion_tasks', at('claiming').length))
  await Promise.all(at('due').map(withdraw))
  first.signal('SIGSTOP')
  for (const send of lateAnswers) await send()
  await first.kill()
  for (const release of locks) await release()
  await until('the dead instance has let go', async () => !(await isBlocked(world, 'deletion_')))
  for (const one of cases) await expectCutOff(world, one)

  await letLeasesEnd(world)
  await world.start()
  for (const one of cases) await expectAbsent(world, one)
})

/** A person for each moment and each kind of application; what the application does with the first check follows from the moment. */
async function givenCases(world: World) {
  const cases: Case[] = []
  /** What follows the storing of an answer, or the claim, waits for them. */
  const locks: (() => Promise<void>)[] = []
  const lateAnswers: (() => Promise<void>)[] = []
  const shop = await world.givenApplication('shop', async (call, response) => {
    const { id = '', body = '' } = shop.received[call - 1] ?? {}
    const { type, data } = JSON.parse(body)
    const one = cases.find(({ person }) => person.id === data.account) as Case
    if (type === 'account.withdrawn') {
      one.requestIds.push(id)
      return answer(response, 204)
    }
    one.checks++
    one.isTooEarly ||= await isMarked(world, one.withdrawalId, 'completed_at')
    if (one.checks === 1) {
      if (one.moment === 'asked') return
      if (one.moment === 'answered') return lateAnswers.push(() => sayWhetherPresent(one, response))
      if (one.moment === 'stored') locks.push(await holdLock(world, STEP, [one.withdrawalId]))
    }
    await sayWhetherPresent(one, response)
  })
  const settings = ['--name', shop.name, '--endpoint', shop.url, '--confirms']
  const { app_id: app } = await world.operator.run('app', 'register', ...settings)
  for (const moment of MOMENTS)
    for (const isKept of [false, true]) {
      const person = await givenPlainPerson(world, app)
      cases.push({ moment, isKept, person, withdrawalId: '', requestIds: [], checks: 0, said: [], isTooEarly: false })
    }
  const at = (...moments: Case['moment'][]) => cases.filter(({ moment }) => moments.includes(moment))
  return { cases, at, locks, lateAnswers }
}

/** The kill came at the moment that is named. */
async function expectCutOff(world: World, one: Case) {
  const { moment, checks } = one
  const { is_answer_stored } = await taskOf(world, one)
  expect({ moment, checks, is_answer_stored }).toEqual({
    moment,
    checks: moment === 'due' || moment === 'claiming' ? 0 : 1,
    is_answer_stored: moment === 'stored',
  })
  expect(await receiptsOf(world, one)).toMatchObject([{ kind: 'acceptance' }])
}

async function expectAbsent(world: World, one: Case) {
  const { moment, isKept, withdrawalId } = one
  await until(`${moment} is completed`, () => isMarked(world, withdrawalId, 'completed_at'))
  const { isTooEarly, checks, said, requestIds } = one
  const answers = isKept ? ['present', 'absent'] : ['absent']
  expect({ moment, isTooEarly, checks, said, requestIds: requestIds.length, ids: new Set(requestIds).size }).toEqual({
    moment,
    isTooEarly: false,
    // Every answer, and the request that got none.
    checks: said.length + Number(moment === 'asked'),
    // An answer that was not stored is asked for again.
    said: moment === 'answered' ? [answers[0], ...answers] : answers,
    requestIds: answers.length,
    ids: 1,
  })
  const { absent_at } = await taskOf(world, one)
  expect(await receiptsOf(world, one)).toMatchObject([
    { kind: 'acceptance' },
    { kind: 'completion', applications: [{ name: 'shop', answer: 'absent', at: absent_at?.toISOString() }] },
  ])
}

const TASK = 'SELECT FROM deletion_tasks WHERE withdrawal_id = $1 FOR UPDATE'
const STEP = `SELECT FROM deletion_steps WHERE withdrawal_id = $1 AND step = 'third_party_integrations' FOR UPDATE`

/** Ends when the answer is on its way. */
function sayWhetherPresent(one: Case, response: ServerResponse): Promise<void> {
  const present = one.isKept && one.requestIds.length === 1
  one.said.push(present ? 'present' : 'absent')
  return new Promise((resolve) => response.end(JSON.stringify({ present, account: one.person.id }), resolve))
}

interface Task {
  is_done: boolean
  is_answer_stored: boolean
  absent_at: Date | null
}

async function taskOf(world: World, { withdrawalId }: Case): Promise<Task> {
  const [task] = await world.query<Task>(
    `SELECT completed_at IS NOT NULL AS is_done, absent_at IS NOT NULL OR times_present > 0 AS is_answer_stored, absent_at
     FROM deletion_tasks WHERE withdrawal_id = $1`,
    [withdrawalId],
  )
  return task as Task
}

/** Makes what waits older, as if the service had been down until every lease of the dead instance ended. */
async function letLeasesEnd(world: World) {
  const passed = `interval '${STEP_LEASE_MS} ms'`
  for (const table of ['deletion_tasks', 'deletion_steps'])
    await world.query(`UPDATE ${table} SET due_at = due_at - ${passed}, lease_until = lease_until - ${passed}`)
}

async function receiptsOf(world: World, { withdrawalId }: Case): Promise<ReceiptClaims[]> {
  const rows = await world.query<{ receipt: string }>(
    'SELECT receipt FROM withdrawal_receipts WHERE withdrawal_id = $1 ORDER BY issued_at',
    [withdrawalId],
  )
  return rows.map(({ receipt }) => JSON.parse(Buffer.from(receipt.split('.')[1] ?? '', 'base64url').toString()))
}
