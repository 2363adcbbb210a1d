import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, type TestContext, test } from 'vitest'
import { median, rssMib } from '@/lab/bench/services'
import { envelopeProblem } from '@/proof/models/invariants'
import { wrongCode } from '@/testing/account'
import type { Answer, Instance } from '@/testing/instance'
import { tally } from '@/testing/outcomes'
import { givenPeople } from '@/testing/people'
import {
  changeEmail,
  emailStatus,
  mailedCode,
  type Person,
  resendVerification,
  signIn,
  verifyEmail,
  withdraw,
} from '@/testing/person'
import { expectGoodTrace } from '@/testing/traces'
import { until } from '@/testing/until'
import { givenWorld, type World } from '@/testing/world'

/** How long the load goes on. */
const MINUTES = Number(process.env.MINUTES || 10)
const MINUTE = 60_000
/** How often each person has the message sent again: more of them make more transitions in the same time. */
const RESENDS = Number(process.env.RESENDS || 1)
const AT_ONCE = 8
const SAMPLE_MS = 1_000

/** The windows end during the load, so that the cleanup removes as many rows as are written. */
const SETTINGS = {
  LOG_LEVEL: 'warn',
  EMAIL_CHANGE_WINDOW: 'PT20S',
  EMAIL_PASSWORD_WINDOW: 'PT20S',
  EMAIL_PASSWORD_DAY_WINDOW: 'PT20S',
  EMAIL_TAKEN_WINDOW: 'PT20S',
  EMAIL_TARGET_WINDOW: 'PT20S',
  EMAIL_TARGET_MAIL_LIMIT: '1000000',
  EMAIL_RESEND_COOLDOWN: 'PT0.001S',
  EMAIL_VERIFY_WINDOW: 'PT20S',
  WITHDRAW_WINDOW: 'PT20S',
  SIGN_IN_WINDOW: 'PT20S',
  SIGN_IN_ADDRESS_LIMIT: '1000000',
}

interface Range {
  world: World
  /** The instances that serve now. */
  instances: Instance[]
  appId: string
}

async function givenRange(test: Pick<TestContext, 'onTestFinished'>): Promise<Range> {
  const world = await givenWorld(test, SETTINGS)
  const shop = await world.givenApplication('shop')
  const registered = await world.operator.run('app', 'register', '--name', 'shop', '--endpoint', shop.url)
  const instances = [await world.start(), await world.start()]
  return { world, instances, appId: registered.app_id ?? '' }
}

/** Each person reads, changes the address, has the message sent again, guesses once, verifies, signs in, reads again and withdraws. */
class Load {
  readonly heard = { codes: [] as string[], problems: [] as string[] }
  private isOver = false
  private readonly waiting: Person[] = []
  private workers: Promise<void>[] = []

  constructor(private readonly range: Range) {
    this.workers = Array.from({ length: AT_ONCE }, (_, index) => this.work(index))
  }

  async stop() {
    this.isOver = true
    await Promise.all(this.workers)
  }

  private async work(index: number) {
    while (!this.isOver) {
      try {
        await this.live(await this.nextPerson(), index)
      } catch (error) {
        this.heard.problems.push(String(error))
        await sleep(200)
      }
    }
  }

  private async nextPerson(): Promise<Person> {
    const person = this.waiting.pop()
    if (person) return person
    const { world, appId } = this.range
    const people = await givenPeople(world, 50)
    await world.query(
      `INSERT INTO app_connections (id, user_id, app_id, subject, connected_at)
       SELECT 'con_' || id, id, $1, 'subject of ' || id, now() FROM unnest($2::text[]) id`,
      [appId, people.map(({ id }) => id)],
    )
    this.waiting.push(...people)
    return this.nextPerson()
  }

  private async live(person: Person, index: number) {
    const { world, instances } = this.range
    const instance = instances[index % instances.length] as Instance
    this.note(await emailStatus(instance, person))
    const changed = this.note(await changeEmail(instance, person))
    if (changed.status === 200) {
      const { request } = mailedCode(world, person)
      for (let sent = 0; sent < RESENDS; ) {
        const hit = await resendVerification(instance, person, request)
        // The clock may be set back by more than the millisecond of the wait.
        if (hit.status === 429) continue
        this.note(hit)
        sent++
      }
      const proof = mailedCode(world, person)
      this.note(await verifyEmail(instance, person, { ...proof, code: wrongCode(proof.code) }))
      const verified = this.note(await verifyEmail(instance, person, proof))
      if (verified.status === 200 && index === 0) await signIn(instance, { ...person, email: person.newEmail })
    }
    this.note(await emailStatus(instance, person))
    this.note(await withdraw(instance, person))
    // The mails and calls are dropped once they are read, because the memory of the test is bounded too.
    if (world.mail.mails.length > 2_000) world.mail.mails.splice(0, 1_000)
  }

  private note(hit: Answer): Answer {
    this.heard.codes.push(hit.status < 300 ? 'OK' : (hit.body?.error?.code ?? String(hit.status)))
    const problem = envelopeProblem(hit)
    if (problem) this.heard.problems.push(problem)
    if (hit.status >= 500) this.heard.problems.push(`${hit.status} ${JSON.stringify(hit.body)}`)
    return hit
  }
}

interface Sample {
  /** MiB of the first instance, which nothing ends. */
  memory: number
  /** Files and sockets that it has open. */
  descriptors: number
  connections: number
  /** The rows that are overdue. */
  queue: number
  buckets: number
}

async function sample({ world, instances }: Range): Promise<Sample> {
  const { pid } = instances[0] as Instance
  const descriptors = readdirSync(`/proc/${pid}/fd`).length
  const [row] = await world.query<{ connections: number; queue: number; buckets: number }>(
    `SELECT (SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database()) AS connections,
            (SELECT count(*)::int FROM deletion_steps WHERE due_at < now())
            + (SELECT count(*)::int FROM notices WHERE due_at < now())
            + (SELECT count(*)::int FROM outbox_events WHERE due_at < now()) AS queue,
            (SELECT count(*)::int FROM rate_limits) AS buckets`,
  )
  if (!row) throw new Error('no figures')
  return { memory: rssMib(pid), descriptors, ...row }
}

/** Until the load has gone on for so long. */
async function watch(range: Range, ms: number): Promise<Sample[]> {
  const samples: Sample[] = []
  for (const end = Date.now() + ms; Date.now() < end; await sleep(SAMPLE_MS)) samples.push(await sample(range))
  return samples
}

/** Compares the median of the last quarter with that of the second, because a leak grows on at any speed of the machine. */
function expectFlat(samples: Sample[], slack: Record<keyof Sample, number>) {
  const quarter = (at: number) =>
    samples.slice(Math.floor((samples.length * at) / 4), Math.floor((samples.length * (at + 1)) / 4))
  const figures = Object.keys(slack).map((key) => {
    const values = (at: number) => median(quarter(at).map((one) => one[key as keyof Sample]))
    return { what: key as keyof Sample, quarters: [values(0), values(1), values(2), values(3)] }
  })
  for (const { what, quarters } of figures) process.stdout.write(`  ${what} by quarters: ${quarters.join(', ')}\n`)
  const grown = figures.filter(({ what, quarters: [, before = 0, , after = 0] }) => after > before * 1.15 + slack[what])
  expect(grown).toEqual([])
}

const untilAllEnded = ({ world }: Range) =>
  until(
    'all that was begun has ended',
    async () => {
      const [row] = await world.query<{ open: number }>(
        `SELECT (SELECT count(*)::int FROM withdrawals WHERE completed_at IS NULL OR purged_at IS NULL)
              + (SELECT count(*)::int FROM notices WHERE due_at IS NOT NULL) AS open`,
      )
      return row?.open === 0
    },
    300_000,
  )

const steadyMs = MINUTES * MINUTE
test('L15 L18 steady load causes no refusal, and memory, connections, descriptors, queues and buckets stay level', {
  timeout: steadyMs + 10 * MINUTE,
}, async (context) => {
  const range = await givenRange(context)
  const load = new Load(range)
  const samples = await watch(range, steadyMs)
  await load.stop()
  process.stdout.write(`steady: ${JSON.stringify(tally(load.heard.codes))}\n`)
  const kinds = ['email_change.requested', 'email_change.resent', 'email.changed', 'account.withdrawn']
  process.stdout.write(`  ${await expectGoodTrace(range.world, kinds)} transitions\n`)
  expect([...new Set(load.heard.problems)].slice(0, 5)).toEqual([])
  expect(Object.keys(tally(load.heard.codes)).sort()).toEqual(['EMAIL_003', 'OK'])
  expectFlat(samples, { memory: 48, descriptors: 24, connections: 4, queue: 40, buckets: 1_000 })
  await untilAllEnded(range)
  for (const { output } of range.instances) expect(output).not.toContain('unexpected_error')
})
