import { expect, test } from 'vitest'
import { median } from '@/lab/bench/services'
import type { Instance } from '@/testing/instance'
import { COSTLY, givenPeople } from '@/testing/people'
import { changeEmail, emailStatus, type Person } from '@/testing/person'
import { givenWorld, type World } from '@/testing/world'

/** The number of calls of each kind. They are mixed, so that other load of the machine affects both alike. */
const SAMPLES = Number(process.env.SAMPLES ?? 400)
const HIGH = '1000000'
const SETTINGS = {
  SIGN_IN_LIMIT: HIGH,
  SIGN_IN_ADDRESS_LIMIT: HIGH,
  EMAIL_PASSWORD_LIMIT: HIGH,
  EMAIL_PASSWORD_DAY_LIMIT: HIGH,
  READ_LIMIT: HIGH,
  PASSWORD_RESET_ADDRESS_LIMIT: HIGH,
  WITHDRAWAL_REQUEST_ADDRESS_LIMIT: HIGH,
}

/**
 * How often a call of the first kind took longer than one of the second, which is 0.5 where nobody can tell them apart.
 * Its deviation by chance alone is 0.02 with 400 calls of each.
 */
function distinguishability(first: number[], second: number[]): number {
  const sorted = second.toSorted((a, b) => a - b)
  const below = (value: number) => {
    let [low, high] = [0, sorted.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((sorted[middle] ?? 0) < value) low = middle + 1
      else high = middle
    }
    return low
  }
  return first.reduce((sum, value) => sum + below(value), 0) / (first.length * sorted.length)
}

const WARM_UP = 20

function shuffled<T>(values: T[]): T[] {
  const keyed = values.map((value) => ({ value, key: Math.random() }))
  return keyed.toSorted((a, b) => a.key - b.key).map(({ value }) => value)
}

/**
 * In random order, because what a call leaves to be done after its answer slows the calls that follow, and every regular order lets more
 * calls of one kind follow it. The first few warm up; nothing tells them apart but, at most, a small part of what a call takes.
 */
async function expectAlike(what: string, first: () => Promise<unknown>, second: () => Promise<unknown>) {
  const times: [number[], number[]] = [[], []]
  const order = Array.from({ length: 2 * (SAMPLES + WARM_UP) }, (_, n) => n % 2)
  for (const [n, kind] of shuffled(order).entries()) {
    const startedAt = performance.now()
    await (kind === 0 ? first : second)()
    if (n >= 2 * WARM_UP) times[kind as 0 | 1].push(performance.now() - startedAt)
  }
  const chance = distinguishability(...times)
  const [one, other] = times.map(median) as [number, number]
  process.stdout.write(`  ${what}: ${one.toFixed(2)} and ${other.toFixed(2)} ms (median), ${chance.toFixed(3)}\n`)
  const isSmall = Math.abs(one - other) < 0.05 * Math.max(one, other)
  expect({ what, isAlike: isSmall || Math.abs(chance - 0.5) < 0.1 }).toEqual({ what, isAlike: true })
}

async function signInAt(instance: Instance) {
  const csrf = await fetch(`${instance.url}/api/auth/csrf`)
  const { csrfToken } = (await csrf.json()) as { csrfToken: string }
  const cookies = csrf.headers.getSetCookie().map((line) => line.split(';')[0])
  return async (email: string) => {
    const response = await fetch(`${instance.url}/api/auth/callback/credentials`, {
      method: 'POST',
      headers: { Cookie: cookies.join('; ') },
      body: new URLSearchParams({ csrfToken, email, password: 'not the password', json: 'true' }),
      redirect: 'manual',
    })
    expect(response.status).toBe(401)
    await response.text()
  }
}

let turn = 0
const next = (of: Person[]) => of[turn++ % of.length] as Person
const nobody = () => `old-x${Math.random().toString(16).slice(2, 17).padEnd(15, '0')}x@example.test`

const OPTIONS = { timeout: 1_200_000 }

test(
  'L13 a sign-in takes as long for an unknown address and for a withdrawn account as for a known one',
  OPTIONS,
  async (context) => {
    const world = await givenWorld(context, SETTINGS)
    const instance = await world.start()
    const people = await givenPeople(world, SAMPLES + 100, { cost: COSTLY })
    const gone = await givenPeople(world, SAMPLES + 100, { cost: COSTLY })
    await world.query(`UPDATE users SET withdrawn_at = now(), email_key = NULL WHERE id = ANY($1)`, [
      gone.map(({ id }) => id),
    ])
    const signIn = await signInAt(instance)
    await expectAlike(
      'sign-in, known and unknown',
      () => signIn(next(people).email),
      () => signIn(nobody()),
    )
    await expectAlike(
      'sign-in, known and withdrawn',
      () => signIn(next(people).email),
      () => signIn(next(gone).email),
    )
  },
)

/** Accounts whose address was replaced an hour ago; each person asks at the replaced address. */
async function givenMoved(world: World, count: number): Promise<Person[]> {
  const people = await givenPeople(world, count)
  await world.query(
    `INSERT INTO email_change_requests (id, user_id, status, method, old_email, old_email_key, new_email, new_email_key, code_mac,
                                        requested_at, request_ip, sent_at, expires_at, closed_at, closed_ip, old_verified_at, account_version)
     SELECT 'ecr_' || substr(id, 5), id, 'verified', 'email_code', 'was-' || email, 'was-' || email, email, email, '',
            at, '', at, at, at, '', at, 0
     FROM users, (VALUES (now() - interval '1 hour')) AS hour (at) WHERE id = ANY($1)`,
    [people.map(({ id }) => id)],
  )
  return people.map((person) => ({ ...person, email: `was-${person.email}` }))
}

/** The bytes of an answer, but for its time, its id and what is left of the limits. */
function sameOfAll({ status, headers }: Response, body: string): string {
  const own = ['date', 'ratelimit', 'x-request-id']
  const lines = [...headers].map(([name, value]) => `${name}: ${own.includes(name) ? '' : value}`)
  return [`${status} ${body.replaceAll(/\d/g, '0')}`, ...lines].join('\n')
}

for (const path of ['password-resets', 'withdrawal-requests']) {
  test(
    `L13 a request to /${path} has the same answer in the same time for an unknown, replaced or unverified address, a withdrawn account and one without a password as for any other`,
    OPTIONS,
    async (context) => {
      const world = await givenWorld(context, SETTINGS)
      const instance = await world.start()
      const people = await givenPeople(world, SAMPLES + 100)
      const [gone, noPassword] = [await givenPeople(world, SAMPLES + 100), await givenPeople(world, SAMPLES + 100)]
      const [moved, unverified] = [await givenMoved(world, SAMPLES + 100), await givenPeople(world, SAMPLES + 100)]
      const ids = (of: Person[]) => of.map(({ id }) => id)
      await world.query(`UPDATE users SET withdrawn_at = now(), email_key = NULL WHERE id = ANY($1)`, [ids(gone)])
      await world.query(`UPDATE users SET password_hash = NULL WHERE id = ANY($1)`, [ids(noPassword)])
      await world.query(`UPDATE users SET email_verified_at = NULL WHERE id = ANY($1)`, [ids(unverified)])
      const answers = new Map<string, number>()
      const ask = async (email: string) => {
        const response = await fetch(`${instance.url}/api/v1/${path}`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ email }),
        })
        const answer = sameOfAll(response, await response.text())
        answers.set(answer, (answers.get(answer) ?? 0) + 1)
      }
      const others = {
        unknown: nobody,
        withdrawn: () => next(gone).email,
        'without a password': () => next(noPassword).email,
        replaced: () => next(moved).email,
        unverified: () => next(unverified).email,
      }
      for (const [what, other] of Object.entries(others)) {
        await expectAlike(
          `${path}, known and ${what}`,
          () => ask(next(people).email),
          () => ask(other()),
        )
      }
      expect([...answers.keys()]).toEqual([expect.stringMatching(/^202 /)])
      process.stdout.write(`  ${path}: ${[...answers.values()]} equal answers\n`)
    },
  )
}

test(
  'L13 a change with a wrong password takes as long for a held address as for a free one',
  OPTIONS,
  async (context) => {
    const world = await givenWorld(context, SETTINGS)
    const instance = await world.start()
    const [caller] = (await givenPeople(world, 1, { cost: COSTLY })) as [Person]
    const held = await givenPeople(world, SAMPLES + 100)
    const change = async (newEmail: string) => {
      const { status, body } = await changeEmail(instance, { ...caller, newEmail, password: 'not the password' })
      expect([status, body.error.code]).toEqual([403, 'EMAIL_007'])
    }
    await expectAlike(
      'change, held and free',
      () => change(next(held).email),
      () => change(`old-p${String(turn++).padStart(16, '0')}@example.test`),
    )
  },
)

test('L13 the path of another user is refused as quickly as a path of nobody', OPTIONS, async (context) => {
  const world = await givenWorld(context, SETTINGS)
  const instance = await world.start()
  const [caller] = (await givenPeople(world, 1)) as [Person]
  const others = await givenPeople(world, 500)
  const read = async (id: string) => {
    expect((await emailStatus(instance, { id, token: caller.token })).status).toBe(403)
  }
  await expectAlike(
    'another user’s path and nobody’s',
    () => read(next(others).id),
    () => read(`usr_${String(turn++).padStart(22, 'A')}`),
  )
})
