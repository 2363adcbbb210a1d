import { expect, test } from 'vitest'
import { migrateDeploy } from '@/server/migrate'
import { answer } from '@/testing/application'
import { createDatabase } from '@/testing/database'
import type { Answer, Instance } from '@/testing/instance'
import {
  changeEmail,
  emailStatus,
  givenPlainPerson,
  mailedCode,
  type Person,
  verifyEmail,
  withdraw,
  withdrawalOf,
} from '@/testing/person'

import { FAULTS_DIR } from '@/testing/run-directory'
import { skip } from '@/testing/skip'
import { until } from '@/testing/until'
import { givenWorld, isMarked, type World } from '@/testing/world'

/** A built checkout of the last release; `npm run lab -- upgrade` makes one. */
const LAST_RELEASE = process.env.LAST_RELEASE ?? ''
const CALLS = Number(process.env.UPGRADE_CALLS ?? 50_000)
const READERS = 6
const PEOPLE = 240
/** The last step is due 4 s after the start; a process may claim it in the second after, on a busy machine later. */
const LATEST_COMPLETION_MS = 30_000

/** The instances that a load balancer sends calls to. One that leaves gets no new call, and ends when its last is answered. */
class Fleet {
  readonly failed: string[] = []
  calls = 0
  private readonly members: { instance: Instance; running: number }[] = []

  constructor(private readonly world: World) {}

  async join(release: string): Promise<Instance> {
    const instance = await this.world.start({}, { release })
    this.members.push({ instance, running: 0 })
    return instance
  }

  async leave(instance: Instance): Promise<void> {
    const index = this.members.findIndex((member) => member.instance === instance)
    const [member] = this.members.splice(index, 1)
    await until('the last call of the instance is answered', () => member?.running === 0)
    expect(await instance.stop()).toBe(0)
  }

  async call(expected: number, ask: (instance: Instance) => Promise<Answer>): Promise<void> {
    const member = this.members[this.calls++ % this.members.length] as (typeof this.members)[number]
    member.running++
    const failure = await ask(member.instance).then(
      ({ status, body }) => (status === expected ? undefined : `${status} ${JSON.stringify(body)}`),
      String,
    )
    member.running--
    if (failure) this.failed.push(failure)
  }
}

test('F23 both releases serve one database during an upgrade, a rollback and an upgrade again: no call fails and every step is on time', async (context) => {
  if (!LAST_RELEASE) return skip(context, 'there is no build of the last release (npm run lab -- upgrade)')
  // No withdrawal is purged before its steps are looked at.
  const settings = { READ_LIMIT: '10000000', WITHDRAWAL_RETENTION: 'P365D' }
  const world = await givenWorld(context, settings, await databaseOfLastRelease())
  const fleet = new Fleet(world)
  const old = [await fleet.join(LAST_RELEASE), await fleet.join(LAST_RELEASE)]
  const reader = await givenPlainPerson(world)
  const app = await givenSlowApplication(world, fleet)
  const people = await Promise.all(Array.from({ length: PEOPLE }, () => givenPlainPerson(world, app)))

  let isOver = false
  const readers = Array.from({ length: READERS }, async () => {
    while (!isOver || fleet.calls < CALLS) await fleet.call(200, (instance) => emailStatus(instance, reader))
  })
  const started: Person[] = []
  const journeys = (async () => {
    for (const person of people) {
      if (isOver) return
      await journey(world, fleet, person)
      started.push(person)
    }
  })()
  const untilMore = async () => {
    const before = started.length
    await until('people go on', () => started.length > before + 5)
  }

  await untilMore()
  const replace = async (instances: Instance[], release: string) => {
    const next: Instance[] = []
    for (const instance of instances) {
      next.push(await fleet.join(release))
      await untilMore()
      await fleet.leave(instance)
      await untilMore()
    }
    return next
  }
  const upgraded = await replace(old, process.cwd())
  const rolledBack = await replace(upgraded, LAST_RELEASE)
  await replace(rolledBack, process.cwd())
  isOver = true
  await Promise.all([...readers, journeys])
  expect(fleet.failed).toEqual([])
  expect(fleet.calls).toBeGreaterThanOrEqual(CALLS)
  await expectEveryStepOnTime(world, started)
}, 900_000)

/** Accepts each deletion task, and reports it completed to the instance whose turn it is. */
async function givenSlowApplication(world: World, fleet: Fleet): Promise<string> {
  const { received, url } = await world.givenApplication('shop', async (call, response) => {
    answer(response, 202)
    const { task } = JSON.parse(received[call - 1]?.body ?? '').data
    const path = `/api/v1/tasks/${task.id}`
    const report = { method: 'POST', path, token: task.report_token, scope: '', body: { status: 'completed' } } as const
    await fleet.call(200, (instance) => instance.call(report))
  })
  const options = ['--name', 'shop', '--endpoint', url, '--acknowledges', 'later']
  return (await world.operator.run('app', 'register', ...options)).app_id ?? ''
}

/** A change, its proof, and a withdrawal, each on the instance whose turn it is. */
async function journey(world: World, fleet: Fleet, person: Person) {
  await fleet.call(200, (instance) => changeEmail(instance, person))
  await until('the code arrives', () => mailedCode(world, person).code)
  await fleet.call(200, (instance) => verifyEmail(instance, person, mailedCode(world, person)))
  await fleet.call(202, (instance) => withdraw(instance, person))
}

async function expectEveryStepOnTime(world: World, people: Person[]) {
  for (const person of people) {
    const id = await withdrawalOf(world, person)
    await until(`the withdrawal of ${person.id} is completed`, () => isMarked(world, id, 'completed_at'))
  }
  const late = await world.query(
    `SELECT step, estimated_completion, completed_at FROM deletion_steps
     WHERE completed_at IS NULL OR completed_at > estimated_completion + $1 * interval '1 millisecond'`,
    [LATEST_COMPLETION_MS],
  )
  expect(late).toEqual([])
}

/** A database that the last release has migrated. */
async function databaseOfLastRelease() {
  const databaseUrl = await createDatabase('template1')
  await migrateDeploy(databaseUrl, `${LAST_RELEASE}/prisma/migrations`)
  return { databaseUrl, postgresLogs: [FAULTS_DIR], release: LAST_RELEASE }
}
