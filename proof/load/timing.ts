import { setTimeout as sleep } from 'node:timers/promises'
import { hashSync as bcryptHash } from 'bcryptjs'
import { expect, test } from 'vitest'
import { acceptPassword } from '@/domain/passwords/password-formats'
import foreignPasswords from '@/testing/foreign-passwords.json'
import type { Instance } from '@/testing/instance'
import { COSTLY, givenPeople } from '@/testing/people'
import { changeEmail, emailStatus, type Person } from '@/testing/person'
import { givenWorld, type World } from '@/testing/world'

/** Calls of each kind, in turn, so that whatever else the machine does falls on both alike. */
const SAMPLES = Number(process.env.SAMPLES ?? 400)
const HIGH = '1000000'
const SETTINGS = {
  SIGN_IN_LIMIT: HIGH,
  SIGN_IN_ADDRESS_LIMIT: HIGH,
  EMAIL_PASSWORD_LIMIT: HIGH,
  EMAIL_PASSWORD_DAY_LIMIT: HIGH,
  READ_LIMIT: HIGH,
  PASSWORD_RESET_ADDRESS_LIMIT: HIGH,
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

const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

/** Alternately, after a few that warm up; nothing tells them apart but, at most, a small part of what a call takes. */
async function expectAlike(
  what: string,
  first: () => Promise<unknown>,
  second: () => Promise<unknown>,
  samples = SAMPLES,
) {
  const times: [number[], number[]] = [[], []]
  for (let round = -20; round < samples; round++) {
    const order = round % 2 ? [0, 1] : [1, 0]
    for (const kind of order) {
      const startedAt = performance.now()
      await (kind === 0 ? first : second)()
      if (round >= 0) times[kind as 0 | 1].push(performance.now() - startedAt)
    }
  }
  const chance = distinguishability(...times)
  const [one, other] = times.map(median) as [number, number]
  process.stdout.write(`  ${what}: ${one.toFixed(2)} and ${other.toFixed(2)} ms (median), ${chance.toFixed(3)}\n`)
  const isSmall = Math.abs(one - other) < 0.05 * Math.max(one, other)
  expect({ what, isAlike: isSmall || Math.abs(chance - 0.5) < 0.1 }).toEqual({ what, isAlike: true })
}

async function csrfOf(instance: Instance) {
  const csrf = await fetch(`${instance.url}/api/auth/csrf`)
  const { csrfToken } = (await csrf.json()) as { csrfToken: string }
  return {
    csrfToken,
    cookie: csrf.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; '),
  }
}

/** People whose passwords came from elsewhere, in the cheapest and the costliest of the usual forms and some between. */
async function givenForeigners(world: World, count: number): Promise<(Person & { password: string })[]> {
  const fixtures = ['bcryptjs', 'better-auth', 'Django', 'Go x/crypto bcrypt', 'passlib argon2'].map((library) => {
    const fixture = foreignPasswords.find(({ made_by }) => made_by === library)
    if (!fixture) throw new Error(`no hash of ${library}`)
    return { password: fixture.password, stored: acceptPassword(fixture.given) }
  })
  const people = await givenPeople(world, count, { cost: COSTLY })
  const foreign = people.map((person, n) => ({ ...person, ...fixtures[n % fixtures.length] }))
  await world.query(
    `UPDATE users SET password_hash = f.stored FROM unnest($1::text[], $2::text[]) AS f (id, stored) WHERE users.id = f.id`,
    [foreign.map(({ id }) => id), foreign.map(({ stored }) => stored)],
  )
  return foreign
}

async function signInAt(instance: Instance) {
  const { csrfToken, cookie } = await csrfOf(instance)
  return async (email: string, password: string) => {
    const response = await fetch(`${instance.url}/api/auth/callback/credentials`, {
      method: 'POST',
      headers: { Cookie: cookie },
      body: new URLSearchParams({ csrfToken, email, password, json: 'true' }),
      redirect: 'manual',
    })
    await response.text()
    return response.status
  }
}

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
    const { csrfToken, cookie } = await csrfOf(instance)
    const signIn = async (email: string) => {
      const response = await fetch(`${instance.url}/api/auth/callback/credentials`, {
        method: 'POST',
        headers: { Cookie: cookie },
        body: new URLSearchParams({ csrfToken, email, password: 'not the password', json: 'true' }),
        redirect: 'manual',
      })
      expect(response.status).toBe(401)
      await response.text()
    }
    let turn = 0
    const next = (of: Person[]) => of[turn++ % of.length]?.email ?? ''
    const nobody = () => `old-x${Math.random().toString(16).slice(2, 17).padEnd(15, '0')}x@example.test`
    await expectAlike(
      'sign-in, known and unknown',
      () => signIn(next(people)),
      () => signIn(nobody()),
    )
    await expectAlike(
      'sign-in, known and withdrawn',
      () => signIn(next(people)),
      () => signIn(next(gone)),
    )
  },
)

test(
  'L13 a request for a password reset takes as long for an unknown address, a withdrawn account and one without a password as for any other',
  OPTIONS,
  async (context) => {
    const world = await givenWorld(context, SETTINGS)
    const instance = await world.start()
    const people = await givenPeople(world, SAMPLES + 100)
    const [gone, noPassword] = [await givenPeople(world, SAMPLES + 100), await givenPeople(world, SAMPLES + 100)]
    const ids = (of: Person[]) => of.map(({ id }) => id)
    await world.query(`UPDATE users SET withdrawn_at = now(), email_key = NULL WHERE id = ANY($1)`, [ids(gone)])
    await world.query(`UPDATE users SET password_hash = NULL WHERE id = ANY($1)`, [ids(noPassword)])
    let turn = 0
    const ask = async (email: string) => {
      const response = await fetch(`${instance.url}/api/v1/password-resets`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ email }),
      })
      expect(response.status).toBe(202)
      await response.text()
    }
    const known = () => ask(people[turn++ % people.length]?.email ?? '')
    const others = {
      unknown: () => `old-x${Math.random().toString(16).slice(2, 17).padEnd(15, '0')}x@example.test`,
      withdrawn: () => gone[turn++ % gone.length]?.email ?? '',
      'without a password': () => noPassword[turn++ % noPassword.length]?.email ?? '',
    }
    for (const [what, other] of Object.entries(others)) {
      await expectAlike(`password reset, known and ${what}`, known, () => ask(other()))
    }
  },
)

test(
  'while password hashes of other systems exist, a sign-in takes as long for nobody’s address as for any account',
  OPTIONS,
  async (context) => {
    const world = await givenWorld(context, SETTINGS)
    const instance = await world.start()
    const signIn = await signInAt(instance)
    const foreign = await givenForeigners(world, 200)
    const own = await givenPeople(world, 200, { cost: COSTLY })
    // By then the instance has looked for hashes of other systems since they came.
    await expect
      .poll(
        async () => {
          const begun = performance.now()
          await signIn('nobody@example.test', 'x')
          return performance.now() - begun
        },
        { timeout: 60_000 },
      )
      .toBeGreaterThan(150)
    let turn = 0
    const wrong = (of: Person[]) => signIn(of[turn++ % of.length]?.email ?? '', 'not the password')
    const nobody = () => signIn(`old-x${Math.random().toString(16).slice(2, 17).padEnd(15, '0')}x@example.test`, 'x')
    // Each of these sign-ins is held back as long as the slowest check takes.
    const samples = Math.ceil(SAMPLES / 8)
    await expectAlike('sign-in, foreign hash and nobody', () => wrong(foreign), nobody, samples)
    await expectAlike('sign-in, own hash and nobody', () => wrong(own), nobody, samples)
    for (const form of [0, 2]) {
      const same = foreign.filter((_, n) => n % 5 === form)
      await expectAlike(`sign-in, form ${form} and nobody`, () => wrong(same), nobody, samples)
    }
  },
)

test(
  'a hundred sign-ins at once with password hashes of other systems leave reads under half a second',
  OPTIONS,
  async (context) => {
    const world = await givenWorld(context, SETTINGS)
    const instance = await world.start()
    const signIn = await signInAt(instance)
    const people = await givenForeigners(world, 100)
    const [reader] = (await givenPeople(world, 1)) as [Person]
    let open = true
    /** Comes again as it is told where its turn does not come in time. */
    const signInAtLast = async ({ email, password }: { email: string; password: string }): Promise<number> => {
      const status = await signIn(email, password)
      if (status !== 503) return status
      await sleep(5_000)
      return signInAtLast({ email, password })
    }
    const signingIn = Promise.all(people.map(signInAtLast)).finally(() => {
      open = false
    })
    const times: number[] = []
    while (open) {
      const begun = performance.now()
      expect((await emailStatus(instance, reader)).status).toBe(200)
      times.push(performance.now() - begun)
    }
    const statuses = await signingIn
    expect(statuses).toEqual(people.map(() => 200))
    const p99 = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0
    process.stdout.write(`  reads beside 100 sign-ins: ${times.length}, p99 ${p99.toFixed(1)} ms\n`)
    expect(p99).toBeLessThan(500)
    await expect
      .poll(
        () =>
          world.query(`SELECT id FROM users WHERE password_hash NOT LIKE '$argon2id$v=19$m=12288,%' AND id = ANY($1)`, [
            people.map(({ id }) => id),
          ]),
        { timeout: 60_000 },
      )
      .toEqual([])
  },
)

test(
  'a hundred wrong passwords against costly imported hashes do not hold up a sign-in of ours',
  OPTIONS,
  async (context) => {
    const world = await givenWorld(context, SETTINGS)
    const instance = await world.start()
    const signIn = await signInAt(instance)
    const imported = await givenPeople(world, 100)
    await world.query(`UPDATE users SET password_hash = $1 WHERE id = ANY($2)`, [
      bcryptHash('an imported password', 12),
      imported.map(({ id }) => id),
    ])
    const [own] = (await givenPeople(world, 1, { cost: COSTLY })) as [Person]
    const timed = async (email: string, password: string) => {
      const startedAt = performance.now()
      const status = await signIn(email, password)
      return { status, ms: performance.now() - startedAt }
    }
    const alone = await timed(own.email, own.password)
    let open = imported.length
    const guesses = imported.map(({ email }) => timed(email, 'not the password').finally(() => open--))
    await sleep(100)
    const beside = await timed(own.email, own.password)
    const openThen = open
    const all = await Promise.all(guesses)
    const last = Math.max(...all.map(({ ms }) => ms))
    process.stdout.write(
      `  a sign-in of ours alone: ${alone.ms.toFixed(0)} ms, beside 100 wrong bcrypt passwords: ${beside.ms.toFixed(0)} ms; the last of these: ${last.toFixed(0)} ms\n`,
    )
    expect([alone.status, beside.status]).toEqual([200, 200])
    expect(openThen).toBeGreaterThan(0)
  },
)

test(
  'L13 a change with a wrong password takes as long for a held address as for a free one',
  OPTIONS,
  async (context) => {
    const world = await givenWorld(context, SETTINGS)
    const instance = await world.start()
    const [caller] = (await givenPeople(world, 1, { cost: COSTLY })) as [Person]
    const held = await givenPeople(world, SAMPLES + 100)
    let turn = 0
    const change = async (newEmail: string) => {
      const { status, body } = await changeEmail(instance, { ...caller, newEmail, password: 'not the password' })
      expect([status, body.error.code]).toEqual([403, 'EMAIL_007'])
    }
    await expectAlike(
      'change, held and free',
      () => change(held[turn++ % held.length]?.email ?? ''),
      () => change(`old-p${String(turn++).padStart(16, '0')}@example.test`),
    )
  },
)

test('L13 the path of another user is refused as quickly as a path of nobody', OPTIONS, async (context) => {
  const world = await givenWorld(context, SETTINGS)
  const instance = await world.start()
  const [caller] = (await givenPeople(world, 1)) as [Person]
  const others = await givenPeople(world, 500)
  let turn = 0
  const read = async (id: string) => {
    expect((await emailStatus(instance, { id, token: caller.token })).status).toBe(403)
  }
  await expectAlike(
    'another user’s path and nobody’s',
    () => read(others[turn++ % others.length]?.id ?? ''),
    () => read(`usr_${String(turn++).padStart(22, 'A')}`),
  )
})
