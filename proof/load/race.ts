import { randomBytes, randomInt } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { hash } from '@node-rs/argon2'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Scope } from '@/contract/define'
import { USER_OPERATIONS } from '@/contract/user-operations'
import { setPassword } from '@/domain/accounts/user'
import type { SystemContext } from '@/domain/context'
import { createSessionToken } from '@/domain/sessions/authenticate'
import { openDatabase } from '@/server/adapters/database'
import { createSecrets } from '@/server/adapters/secrets'
import { tally, wrongCode } from '@/testing/domain'
import type { Instance } from '@/testing/instance'
import { CHEAP, COSTLY, givenPeople } from '@/testing/people'
import type { Person } from '@/testing/person'
import { until } from '@/testing/until'
import { givenWorld, type World } from '@/testing/world'
import { type Acknowledged, breaches, OBSERVER } from '../models/invariants'
import { codeOf, fire, type Hit, type Shot } from './gun'
import { change, codesTo, resend, sentMails, verify, withdraw } from './shots'

/** Multiplies the rounds; every `npm test` makes a few of each. */
const SCALE = Number(process.env.PROOF_SCALE ?? (process.env.SHORT ? 0.02 : 1))
const rounds = (count: number) => Math.max(1, Math.round(count * SCALE))
const HIGH = '1000000'
/** What would end the rounds before the limit that is looked at. */
const GENEROUS = {
  EMAIL_VERIFY_LIMIT: HIGH,
  WITHDRAW_LIMIT: HIGH,
  READ_LIMIT: HIGH,
  EXPORT_LIMIT: HIGH,
  PREVIEW_LIMIT: HIGH,
  WITHDRAWAL_TIME_SCALE: '1',
}

interface Range {
  world: World
  instances: Instance[]
  acknowledged: Acknowledged[]
  hits: Hit[]
}

const cleanUps: (() => unknown)[] = []
const report: string[] = []

/** A world whose instances live as long as this file. */
async function givenRange(settings: Record<string, string>): Promise<Range> {
  const world = await givenWorld({ onTestFinished: (end) => void cleanUps.push(end as () => unknown) }, settings)
  await world.query(OBSERVER)
  return { world, instances: [await world.start(), await world.start()], acknowledged: [], hits: [] }
}

afterAll(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp()
  process.stdout.write(`\n${report.join('\n')}\n`)
})

/** All at once, in turn at each of the instances. */
async function race(range: Range, count: number, shots: Shot[]): Promise<Hit[]> {
  const urls = range.instances.slice(0, count).map(({ url }) => url)
  const hits = await fire(urls, shots)
  range.hits.push(...hits.filter(({ status }) => status >= 300))
  for (const { status } of hits) expect(status).toBeLessThan(500)
  return hits
}

const codesOf = (hits: Hit[]) => tally(hits.map(codeOf))
const times = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index))

async function givenPending(range: Range, person: Person, email = person.newEmail) {
  const [hit] = (await race(range, 1, [change(person, email)])) as [Hit]
  expect(codeOf(hit), JSON.stringify(hit.body)).toBe('OK')
  return { id: hit.body.data.change_request_id as string, code: codesTo(range.world.mail, email).at(-1) ?? '' }
}

/** A name, the rounds that were made and what came, for the report. */
async function repeat(name: string, count: number, round: (index: number) => Promise<unknown>) {
  const startedAt = performance.now()
  for (let index = 0; index < count; index++) await round(index)
  report.push(`${name}: ${count} rounds in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
}

let range: Range
beforeAll(async () => {
  range = await givenRange(GENEROUS)
})
afterEach(async () => {
  const { world, acknowledged, hits } = range
  const limits = { changesPerHour: 3 }
  const mails = sentMails(world.mail)
  expect(await breaches({ query: world.query, mails, answers: hits, acknowledged, limits })).toEqual([])
  hits.length = 0
})

const attemptsOf = async (id: string) => {
  const [row] = await range.world.query<{ attempts: number }>(
    'SELECT attempts FROM email_change_requests WHERE id = $1',
    [id],
  )
  return row?.attempts
}
let guessed = { rounds: 0, right: 0 }

describe.each([
  ['one instance', 1],
  ['two instances', 2],
])('on %s', (name, count) => {
  test('L1 five of 200 wrong codes are judged', async () => {
    const people = await givenPeople(range.world, rounds(20))
    await repeat(`L1 on ${name}`, people.length, async (round) => {
      const person = people[round] as Person
      const { id, code } = await givenPending(range, person)
      const hits = await race(
        range,
        count,
        times(200, () => verify(person, id, wrongCode(code))),
      )
      expect(codesOf(hits)).toEqual({ EMAIL_003: 5, EMAIL_005: 195 })
      expect(await attemptsOf(id)).toBe(5)
    })
  })

  test('L2 five of 200 codes are judged when the right one is among them', async () => {
    const people = await givenPeople(range.world, rounds(150))
    await repeat(`L2 on ${name}`, people.length, async (round) => {
      const person = people[round] as Person
      const { id, code } = await givenPending(range, person)
      const right = randomInt(200)
      const hits = await race(
        range,
        count,
        times(200, (n) => verify(person, id, n === right ? code : wrongCode(code))),
      )
      const { OK = 0, EMAIL_003 = 0, ...others } = codesOf(hits)
      expect(OK).toBeLessThanOrEqual(1)
      expect(OK + EMAIL_003).toBeLessThanOrEqual(5)
      expect(Object.keys(others).filter((other) => other !== 'EMAIL_005' && other !== 'EMAIL_006')).toEqual([])
      guessed = { rounds: guessed.rounds + 1, right: guessed.right + OK }
      if (OK)
        range.acknowledged.push({ what: 'verification', userId: person.id, email: `new-${person.mark}@example.test` })
    })
    report.push(`  right guesses so far: ${guessed.right} of ${guessed.rounds}`)
  })

  test('L3 one of 50 right codes succeeds, with one audit row and one message to the old address', async () => {
    const people = await givenPeople(range.world, rounds(20))
    await repeat(`L3 on ${name}`, people.length, async (round) => {
      const person = people[round] as Person
      const { id, code } = await givenPending(range, person)
      const hits = await race(
        range,
        count,
        times(50, () => verify(person, id, code)),
      )
      expect(codesOf(hits).OK).toBe(1)
      const audits = await range.world.query(
        `SELECT FROM audit_events WHERE subject_id = $1 AND action = 'email.changed'`,
        [id],
      )
      expect(audits).toHaveLength(1)
      const told = range.world.mail.to(person.email).filter(({ subject }) => /changed/i.test(subject))
      expect(told).toHaveLength(1)
    })
  })

  test('L4 three of 100 valid changes are accepted, and one is pending', async () => {
    const people = await givenPeople(range.world, rounds(20))
    await repeat(`L4 on ${name}`, people.length, async (round) => {
      const person = people[round] as Person
      const hits = await race(
        range,
        count,
        times(100, (n) => change(person, `n${n}-${person.mark}@example.test`)),
      )
      expect(codesOf(hits)).toEqual({ OK: 3, EMAIL_008: 97 })
      const mailed = range.world.mail.mails.filter(({ to }) => to[0]?.startsWith('n') && to[0].includes(person.mark))
      expect(mailed).toHaveLength(3)
      const pending = await range.world.query(
        `SELECT FROM email_change_requests WHERE user_id = $1 AND status = 'pending_verification'`,
        [person.id],
      )
      expect(pending).toHaveLength(1)
    })
  })

  test('L5 one of 50 resends is accepted, and the attempts stay', async () => {
    const people = await givenPeople(range.world, rounds(20))
    await repeat(`L5 on ${name}`, people.length, async (round) => {
      const person = people[round] as Person
      const { id, code } = await givenPending(range, person)
      await race(range, 1, [verify(person, id, wrongCode(code))])
      await range.world.query(
        `UPDATE email_change_requests SET sent_at = sent_at - interval '6 minutes' WHERE id = $1`,
        [id],
      )
      const hits = await race(
        range,
        count,
        times(50, () => resend(person, id)),
      )
      expect(codesOf(hits)).toEqual({ OK: 1, EMAIL_008: 49 })
      expect(codesTo(range.world.mail, `new-${person.mark}@example.test`)).toHaveLength(2)
      expect(await attemptsOf(id)).toBe(1)
    })
  })

  test('L6 one of 100 withdrawals starts', async () => {
    const people = await givenPeople(range.world, rounds(20))
    await repeat(`L6 on ${name}`, people.length, async (round) => {
      const person = people[round] as Person
      const hits = await race(
        range,
        count,
        times(100, () => withdraw(person)),
      )
      expect(codesOf(hits)).toEqual({ OK: 1, WITHDRAWAL_002: 99 })
    })
  })

  test('L8 five of 100 wrong passwords are hashed', async () => {
    const people = await givenPeople(range.world, rounds(20), { cost: COSTLY })
    const refusedAfter: number[] = []
    await repeat(`L8 on ${name}`, people.length, async (round) => {
      const person = people[round] as Person
      const hits = await race(
        range,
        count,
        times(100, () => change(person, undefined, 'not the password')),
      )
      expect(codesOf(hits)).toEqual({ EMAIL_007: 5, EMAIL_008: 95 })
      refusedAfter.push(...hits.filter((hit) => codeOf(hit) === 'EMAIL_008').map(({ ms }) => ms))
    })
    refusedAfter.sort((a, b) => a - b)
    const at = (share: number) => Math.round(refusedAfter[Math.floor((refusedAfter.length - 1) * share)] ?? 0)
    report.push(`  refused of 100 at once after ${at(0.5)} ms (median), ${at(0.95)} ms (95 %)`)
  })

  test('L9 F28 a concurrent verification and withdrawal leave a withdrawn account with nothing pending', async () => {
    const people = await givenPeople(range.world, rounds(250))
    const ends: string[] = []
    await repeat(`L9 verify ∥ withdraw on ${name}`, people.length, async (round) => {
      const person = people[round] as Person
      const { id, code } = await givenPending(range, person)
      const shots = [verify(person, id, code), withdraw(person)]
      const hits = await race(range, count, round % 2 ? shots : shots.toReversed())
      const [verified, withdrawn] = (round % 2 ? hits : hits.toReversed()) as [Hit, Hit]
      expect(codeOf(withdrawn)).toBe('OK')
      expect(['OK', 'AUTH_001', 'EMAIL_006']).toContain(codeOf(verified))
      ends.push(codeOf(verified))
      range.acknowledged.push({ what: 'withdrawal', id: withdrawn.body.data.withdrawal_id, userId: person.id })
    })
    report.push(`  verifications: ${JSON.stringify(tally(ends))}`)
  })

  test('L9 a concurrent change and password change leave nothing pending', async () => {
    const people = await givenPeople(range.world, rounds(250))
    const open = openDatabase(range.world.databaseUrl)
    const secrets = createSecrets({ auth: ['auth-secret-of-the-race'], code: ['code-secret-of-the-race'] })
    const newHash = await hash('a new password', CHEAP)
    const passwords = { hash: async () => newHash, verify: async () => false }
    // No application waits for the event.
    const background = () => {}
    const clock = { now: () => new Date() }
    const operator = { ...open, secrets, passwords, clock, background } as unknown as SystemContext
    const ends: string[] = []
    await repeat(`L9 change ∥ new password on ${name}`, people.length, async (round) => {
      const person = people[round] as Person
      const changing = race(range, count, [change(person)])
      // The change takes its time for the message: the new password comes at any moment of it.
      await setTimeout(randomInt(30))
      await setPassword(operator, { userId: person.id, password: 'a new password' })
      const [hit] = (await changing) as [Hit]
      // The new password ends the access token too.
      expect(['OK', 'EMAIL_007', 'AUTH_001']).toContain(codeOf(hit))
      ends.push(codeOf(hit))
      const pending = await range.world.query(
        `SELECT FROM email_change_requests WHERE user_id = $1 AND status = 'pending_verification'`,
        [person.id],
      )
      expect(pending).toEqual([])
    })
    await open.close()
    report.push(`  changes: ${JSON.stringify(tally(ends))}`)
  })

  test('L9 one of two users who verify the same address at once gets it', async () => {
    const people = await givenPeople(range.world, rounds(250) * 2)
    await repeat(`L9 one address on ${name}`, people.length / 2, async (round) => {
      const both = people.slice(round * 2, round * 2 + 2) as [Person, Person]
      const email = `both-${both[0].mark}@example.test`
      const shots = []
      for (const person of both) {
        const { id, code } = await givenPending(range, person, email)
        shots.push(verify(person, id, code))
      }
      const hits = await race(range, count, shots)
      expect(codesOf(hits)).toEqual({ OK: 1, EMAIL_002: 1 })
    })
  })

  test('B1 every code of two concurrent changes sets only the address that it was mailed to', async () => {
    const people = await givenPeople(range.world, rounds(250))
    const ends: string[] = []
    await repeat(`B1 on ${name}`, people.length, async (round) => {
      const person = people[round] as Person
      const mark = randomBytes(6).toString('hex')
      const [own, victim] = [`own-${mark}@example.test`, `victim-${mark}@example.test`]
      const shots = [change(person, own), change(person, victim)]
      const hits = await race(range, count, round % 2 ? shots : shots.toReversed())
      expect(codesOf(hits)).toEqual({ OK: 2 })
      const ids = hits.map(({ body }) => body.data.change_request_id as string)
      const codes = codesTo(range.world.mail, own)
      expect(codes).toHaveLength(1)
      // The attacker reads one of the mailboxes, and knows both requests.
      const tries = await race(
        range,
        count,
        ids.map((id) => verify(person, id, codes[0] as string)),
      )
      const [user] = await range.world.query<{ email: string }>('SELECT email FROM users WHERE id = $1', [person.id])
      const isTaken = tries.some((hit) => codeOf(hit) === 'OK')
      for (const hit of tries) if (codeOf(hit) === 'OK') expect(hit.body.data.new_email).toBe(own)
      expect(user?.email).toBe(isTaken ? own : person.email)
      ends.push(isTaken ? 'own address' : 'none')
    })
    report.push(`  set: ${JSON.stringify(tally(ends))}`)
  })
})

test('L2 the right code is judged in 5 of 200 tries over all rounds', () => {
  const { rounds: all, right } = guessed
  report.push(`L2 in all: ${right} of ${all} (${((100 * right) / all).toFixed(1)} %)`)
  // 2.5 %, and four standard deviations more.
  const mean = all * 0.025
  expect(right).toBeLessThanOrEqual(mean + 4 * Math.sqrt(mean) + 1)
})

describe('with the limits of the contract, on two instances', () => {
  let strict: Range
  beforeAll(async () => {
    strict = await givenRange({ WITHDRAWAL_TIME_SCALE: '1' })
  })

  test('L1 thirty of 200 wrong codes count as calls and five are judged', async () => {
    const people = await givenPeople(strict.world, rounds(20))
    await repeat('L1 with all limits', people.length, async (round) => {
      const person = people[round] as Person
      const { id, code } = await givenPending(strict, person)
      const hits = await race(
        strict,
        2,
        times(200, () => verify(person, id, wrongCode(code))),
      )
      expect(codesOf(hits)).toEqual({ EMAIL_003: 5, EMAIL_005: 25, RATE_001: 170 })
    })
  })

  test('L6 five of 100 withdrawals count as calls and one starts', async () => {
    const people = await givenPeople(strict.world, rounds(20))
    await repeat('L6 with all limits', people.length, async (round) => {
      const hits = await race(
        strict,
        2,
        times(100, () => withdraw(people[round] as Person)),
      )
      expect(codesOf(hits)).toEqual({ OK: 1, WITHDRAWAL_002: 4, RATE_001: 95 })
    })
    expect(await breaches({ query: strict.world.query, answers: strict.hits })).toEqual([])
  })
})

test('L6 each application is called once, however many instances and calls there are', async () => {
  const quick = await givenRange({ WITHDRAW_LIMIT: HIGH, WITHDRAWAL_RETENTION: 'P3650D' })
  const { world } = quick
  const application = await world.givenApplication('shop')
  const registered = await world.operator.run('app', 'register', '--name', 'shop', '--endpoint', application.url)
  const people = await givenPeople(world, rounds(20))
  await world.query(
    `INSERT INTO app_connections (id, user_id, app_id, subject, connected_at)
     SELECT 'con_' || id, id, $1, 'subject of ' || id, now() FROM users WHERE email LIKE 'old-%'`,
    [registered.app_id],
  )
  const ids: string[] = []
  await repeat('L6 to the end, two instances', people.length, async (round) => {
    const hits = await race(
      quick,
      2,
      times(100, () => withdraw(people[round] as Person)),
    )
    expect(codesOf(hits)).toEqual({ OK: 1, WITHDRAWAL_002: 99 })
    ids.push(hits.find(({ status }) => status === 202)?.body.data.withdrawal_id)
  })
  await until('all are completed', async () => {
    const left = await world.query('SELECT FROM withdrawals WHERE completed_at IS NULL')
    return left.length === 0
  })
  const appCalls = ids.flatMap((id) =>
    application.of(id).map((call) => ({ app: 'shop', id: call.id, withdrawalId: id })),
  )
  expect(appCalls).toHaveLength(people.length)
  expect(await breaches({ query: world.query, appCalls, answers: quick.hits })).toEqual([])
})

type UserOperation = (typeof USER_OPERATIONS)[keyof typeof USER_OPERATIONS]

/** What an operation needs, and how it ends for the owner with a body and ids that change nothing. */
const ROWS: Record<UserOperation['name'], { scope: Scope; forbidden: string; own: string }> = {
  changeEmail: { scope: 'email:manage', forbidden: '403 AUTH_002', own: '400 EMAIL_001' },
  verifyEmail: { scope: 'email:manage', forbidden: '403 AUTH_002', own: '404 EMAIL_006' },
  getEmailStatus: { scope: 'email:manage', forbidden: '403 AUTH_002', own: '200 OK' },
  resendVerification: { scope: 'email:manage', forbidden: '403 AUTH_002', own: '404 EMAIL_006' },
  cancelEmailChange: { scope: 'email:manage', forbidden: '403 AUTH_002', own: '404 EMAIL_006' },
  previewWithdrawal: { scope: 'account:manage', forbidden: '403 WITHDRAWAL_005', own: '200 OK' },
  withdrawAccount: { scope: 'account:manage', forbidden: '403 WITHDRAWAL_005', own: '400 WITHDRAWAL_001' },
  getWithdrawalStatus: { scope: 'account:manage', forbidden: '403 WITHDRAWAL_005', own: '404 WITHDRAWAL_004' },
  exportData: { scope: 'account:manage', forbidden: '403 AUTH_002', own: '200 OK' },
  listReceipts: { scope: 'account:manage', forbidden: '403 WITHDRAWAL_005', own: '403 WITHDRAWAL_005' },
  createAccessToken: { scope: 'tokens:manage', forbidden: '403 AUTH_002', own: '400 REQUEST_001' },
  listAccessTokens: { scope: 'tokens:manage', forbidden: '403 AUTH_002', own: '200 OK' },
  revokeAccessToken: { scope: 'tokens:manage', forbidden: '403 AUTH_002', own: '404 REQUEST_005' },
  listSessions: { scope: 'tokens:manage', forbidden: '403 AUTH_002', own: '200 OK' },
  endSession: { scope: 'tokens:manage', forbidden: '403 AUTH_002', own: '404 REQUEST_005' },
  endOtherSessions: { scope: 'tokens:manage', forbidden: '403 AUTH_002', own: '200 OK' },
  startReauthentication: { scope: 'account:manage', forbidden: '403 AUTH_002', own: '400 REQUEST_001' },
  changePassword: { scope: 'account:manage', forbidden: '403 AUTH_002', own: '400 REQUEST_001' },
}

interface Kind {
  authorization: string | null
  /** Whose path is its own. */
  owner: Person
  scopes: Scope[]
  /** Where it differs from what the scopes say. */
  except?: (operation: string, path: Place) => string
  withdrawalId?: string
}

const PLACES = ['own', 'other', 'unknown'] as const
type Place = (typeof PLACES)[number]
const UNKNOWN = '401 AUTH_001'

/** A credential of every kind, each of a user of its own. */
async function givenKinds({ world, instances }: Range): Promise<Record<string, Kind>> {
  const both: Scope[] = ['email:manage', 'account:manage']
  const secrets = createSecrets({ auth: ['auth-secret-of-the-fault-tests'], code: ['code-secret-of-the-fault-tests'] })
  const at = (ms: number) => ({ secrets, clock: { now: () => new Date(Date.now() + ms) } }) as SystemContext
  const one = async (scopes: Scope[] = both) => (await givenPeople(world, 1, { scopes }))[0] as Person
  const withSession = async (change = 'ip = ip') => {
    const owner = await one()
    const id = `ses_${randomBytes(16).toString('base64url')}`
    await world.query(
      `INSERT INTO sessions VALUES ($1, $2, 'proof', '192.0.2.1', now(), now(), now() + interval '1 day')`,
      [id, owner.id],
    )
    await world.query(`UPDATE sessions SET ${change} WHERE id = $1`, [id])
    return { owner, id, token: createSessionToken(at(0), id).token }
  }
  const withToken = async (scopes: Scope[], change = 'name = name'): Promise<Kind> => {
    const owner = await one(scopes)
    await world.query(`UPDATE access_tokens SET ${change} WHERE user_id = $1`, [owner.id])
    return { authorization: `Bearer ${owner.token}`, owner, scopes }
  }
  const dead = (authorization: string | null, owner: Person): Kind => ({
    authorization,
    owner,
    scopes: [],
    except: () => UNKNOWN,
  })
  const alive = await withSession('authenticated_at = now()')
  const signedOut = await withSession('revoked_at = now()')
  const over = await withSession(`expires_at = now() - interval '1 second'`)
  const revoked = await withToken(both, 'revoked_at = now()')
  const expired = await withToken(both, `expires_at = now() - interval '1 second'`)
  const basic = await one()
  const doubled = await one()
  const bearer = (token: string) => `Bearer ${token}`

  const gone = await one()
  const [hit] = (await fire([instances[0]?.url ?? ''], [withdraw(gone)])) as [Hit]
  const { withdrawal_id: withdrawalId = '', status_token: statusToken = '' } = hit.body.data as Record<string, string>
  const withdrawn = (token: string, found: Record<string, string>): Kind => ({
    authorization: bearer(token),
    owner: gone,
    scopes: [],
    withdrawalId,
    except: (operation, path) => (path === 'own' && found[operation]) || UNKNOWN,
  })
  return {
    'no credential': dead(null, await one()),
    junk: dead('Bearer junk', await one()),
    'a well-formed token of nobody': dead(bearer(`uat_${'A'.repeat(43)}`), await one()),
    'another scheme': dead(`Basic ${basic.token}`, basic),
    'two tokens in one header': dead(`Bearer ${doubled.token}, Bearer ${doubled.token}`, doubled),
    'an unsigned JWT': dead('Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ1c3JfeCJ9.x', await one()),
    'both scopes': await withToken(both),
    'email alone': await withToken(['email:manage']),
    'account alone': await withToken(['account:manage']),
    'no scope': await withToken([]),
    'a revoked token': dead(revoked.authorization, revoked.owner),
    'an expired token': dead(expired.authorization, expired.owner),
    'a session': { authorization: bearer(alive.token), owner: alive.owner, scopes: [...both, 'tokens:manage'] },
    'a session that signed out': dead(bearer(signedOut.token), signedOut.owner),
    'a session that is over': dead(bearer(over.token), over.owner),
    'a session token of an hour ago': dead(bearer(createSessionToken(at(-3_600_000), alive.id).token), alive.owner),
    'a session token with another ending': dead(bearer(`${alive.token.slice(0, -3)}AAA`), alive.owner),
    // The shape of the body is looked at before the account.
    'the token that withdrew': withdrawn(gone.token, {
      withdrawAccount: '400 WITHDRAWAL_001',
      getWithdrawalStatus: '200 OK',
    }),
    'a status token': withdrawn(statusToken, { getWithdrawalStatus: '200 OK', listReceipts: '200 OK' }),
  }
}

const cellsOf = ({ method, path, name }: UserOperation, kind: Kind, other: Person) => {
  const row = ROWS[name]
  const another = row.scope === 'email:manage' ? 'account:manage' : 'email:manage'
  const users = { own: kind.owner.id, other: other.id, unknown: `usr_${randomBytes(16).toString('base64url')}` }
  // A path without a user is the same wherever it is asked.
  const places = path.includes('{userId}') ? PLACES : PLACES.filter((place) => place === 'own')
  return places.flatMap((place) =>
    [row.scope, null, another, `${row.scope}, ${row.scope}`].map((scope) => {
      const ids: Record<string, string> = {
        userId: users[place],
        withdrawalId: kind.withdrawalId ?? `wd_${'A'.repeat(22)}`,
      }
      const headers: Record<string, string> = {
        ...(kind.authorization && { Authorization: kind.authorization }),
        ...(scope && { 'X-Required-Scope': scope }),
      }
      const target = path.replaceAll(/\{(\w+)\}/g, (_, id: string) => ids[id] ?? 'none')
      const shot: Shot = { method, path: `/api/v1${target}`, headers, ...(method === 'POST' && { body: '{}' }) }
      const granted = kind.except?.(name, place) ?? (kind.scopes.includes(row.scope) && place === 'own' ? row.own : '')
      const isAsked = scope === row.scope
      const due = granted === UNKNOWN || (isAsked && granted) ? granted : row.forbidden
      return { shot, due, what: `${name}, ${place} path, scope header ${scope}` }
    }),
  )
}

test('L12 every operation answers every credential on every path with its exact status and code', async () => {
  const operations = Object.values(USER_OPERATIONS)
  const kinds = Object.entries(await givenKinds(range))
  const [other] = (await givenPeople(range.world, 1)) as [Person]
  const wrong: string[] = []
  let count = 0
  for (const operation of operations) {
    for (const [kindName, kind] of kinds) {
      const cells = cellsOf(operation, kind, other)
      const hits = await fire(
        [range.instances[0]?.url ?? ''],
        cells.map(({ shot }) => shot),
      )
      count += cells.length
      for (const [index, { due, what }] of cells.entries()) {
        const hit = hits[index] as Hit
        const came = `${hit.status} ${codeOf(hit)}`
        if (came !== due) wrong.push(`${what}, ${kindName}: ${came} instead of ${due}`)
      }
    }
  }
  report.push(
    `L12: ${count} cells: ${operations.length} operations × ${kinds.length} credentials × 3 users × 4 scope headers`,
  )
  expect(wrong).toEqual([])
})
