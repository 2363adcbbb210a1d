import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { PURPOSES, type Purpose } from '@/contract/access'
import {
  asUser,
  givenSession,
  givenUser,
  runDueWork,
  type TestContext,
  type TestUser,
  testContext,
} from '@/testing/domain'
import { givenProvider, type TestProvider } from '@/testing/identity-provider'
import { outcomeOf, tally } from '@/testing/outcomes'
import { changeEmail } from '../email/change-email'
import { withdrawAccount } from '../withdrawal/withdraw-account'
import { createAccessToken } from './access-tokens'
import { finishReauthentication, startReauthentication } from './reauthenticate'
import { endOtherSessions } from './sessions'
import { signOut } from './sign-ins'

const second = 1000
const minute = 60 * second

/** Two instances on one database: the second finishes what the first has started. */
let first: TestContext
let other: TestContext
let provider: TestProvider
let person: Person

beforeEach(async () => {
  first = await testContext()
  other = await testContext()
  provider = await givenProvider(first, other)
  person = await givenPerson()
})

interface Person extends TestUser {
  externalId: string
}

/** A person without a password whose sign-in is no longer fresh. */
async function givenPerson(): Promise<Person> {
  const user = await givenUser(first)
  const externalId = `crm-${randomBytes(6).toString('hex')}`
  await first.db.user.update({ where: { id: user.userId }, data: { externalId, passwordHash: null } })
  await first.db.session.updateMany({ where: { userId: user.userId }, data: { authenticatedAt: null } })
  return { ...user, externalId }
}

interface Started {
  person: Person
  url: string
  cookie: string
  sessionId: string
}

async function start(of: Person = person, purpose: Purpose = 'withdraw'): Promise<Started> {
  let cookie = ''
  const setCookie = (_name: string, value: string) => {
    cookie = value
  }
  const ctx = { ...(await asUser(first, of)), setCookie }
  const { authorization_url: url } = await startReauthentication(ctx, { userId: of.userId, purpose })
  return { person: of, url, cookie, sessionId: of.sessionId }
}

type Claims = Record<string, unknown>
const answerTo = ({ url, person }: Started, forge?: (claims: Claims) => Claims) =>
  provider.answer(url, person.externalId, forge)

const client = { userAgent: 'test', ip: '192.0.2.1' }
const finish = (
  started: Started,
  answer = answerTo(started),
  { cookie, sessionId }: Pick<Started, 'cookie' | 'sessionId'> = started,
  ctx = other,
) => finishReauthentication(ctx, { answer, cookie, sessionId, ...client })

const auditsOf = async ({ userId }: TestUser) =>
  (await first.db.auditEvent.findMany({ where: { userId, action: { startsWith: 'reauth' } }, orderBy: { at: 'asc' } }))
    .map(({ action }) => action.replace('reauthentication.', ''))
    .sort()

/** It has no effect, the audit says so, and even a valid answer cannot finish it any more. */
async function expectEnded(started: Started, refusal: string, ...brings: [answer?: URLSearchParams, from?: Started]) {
  const { person } = started
  const outcome = await finish(started, ...brings)
  expect(outcome).toMatchObject({ refusal })
  expect(outcome).not.toHaveProperty('sessionId')
  expect(await auditsOf(person)).toEqual(['refused', 'started'])
  expect(await finish(started)).toMatchObject({ refusal: 'used' })
  expect(await first.db.session.count({ where: { userId: person.userId } })).toBe(1)
}

test('a valid answer replaces the session by one that is fresh for its purpose', async () => {
  const started = await start()
  first.clock.advance(minute)
  other.clock.advance(minute)
  const outcome = await finish(started)
  if (!('sessionId' in outcome)) throw new Error(outcome.refusal)
  expect(outcome).toMatchObject({ purpose: 'withdraw', userId: person.userId })
  const sessions = await first.db.session.findMany({ where: { userId: person.userId } })
  const ended = sessions.find(({ id }) => id === person.sessionId)
  const startedNow = sessions.find(({ id }) => id === outcome.sessionId)
  expect(sessions).toHaveLength(2)
  expect(ended?.revokedAt).toEqual(other.clock.now())
  expect(startedNow).toMatchObject({
    revokedAt: null,
    authenticatedFor: 'withdraw',
    authenticatedAt: other.clock.now(),
  })
  expect(await auditsOf(person)).toEqual(['completed', 'started'])
  const caller = await asUser(other, { ...person, sessionId: outcome.sessionId })
  const confirmation = 'DELETE_MY_ACCOUNT' as const
  expect(await outcomeOf(withdrawAccount(caller, { userId: person.userId, confirmation }))).toBe('accepted')
})

test('the browser goes to the provider with prompt=login, max_age=0 and PKCE, and with nothing that names the person', async () => {
  first.freshSignIn.requiredAcr = 'urn:acme:mfa'
  const { url } = await start()
  const { searchParams, origin } = new URL(url)
  expect(origin).toBe(provider.issuer)
  expect(Object.fromEntries(searchParams)).toMatchObject({
    response_type: 'code',
    prompt: 'login',
    max_age: '0',
    code_challenge_method: 'S256',
    acr_values: 'urn:acme:mfa',
    scope: 'openid',
  })
  for (const secret of [person.email, person.externalId, person.userId, person.sessionId]) {
    expect(decodeURIComponent(url)).not.toContain(secret)
  }
})

describe('a re-authentication on any instance', () => {
  const now = () => Math.floor(first.clock.now().getTime() / second)
  const forgeries: [string, (claims: Claims) => Claims, string][] = [
    ['an ID token without auth_time', ({ auth_time: _, ...claims }) => claims, 'not_fresh'],
    ['an auth_time older than the start', (claims) => ({ ...claims, auth_time: now() - 31 }), 'not_fresh'],
    ['an auth_time in the future', (claims) => ({ ...claims, auth_time: now() + 61 }), 'not_fresh'],
    ['an auth_time as text', (claims) => ({ ...claims, auth_time: String(now()) }), 'not_fresh'],
    [
      'a fresh iat over a stale auth_time',
      (claims) => ({ ...claims, iat: now(), auth_time: now() - 3600 }),
      'not_fresh',
    ],
    ['another sub', (claims) => ({ ...claims, sub: 'crm-somebody-else' }), 'other_person'],
    ['another aud', (claims) => ({ ...claims, aud: 'another-client' }), 'bad_proof'],
    ['two audiences and no azp', (claims) => ({ ...claims, aud: ['accounts', 'another'] }), 'bad_proof'],
    ['an azp of another client', (claims) => ({ ...claims, azp: 'another' }), 'bad_proof'],
    ['another iss', (claims) => ({ ...claims, iss: 'https://evil.test' }), 'bad_proof'],
    ['an expired ID token', (claims) => ({ ...claims, exp: now() - 31 }), 'bad_proof'],
    ['an auth_time of half a second', (claims) => ({ ...claims, auth_time: now() + 0.5 }), 'not_fresh'],
  ]
  test.each(forgeries)('fails with %s', async (_what, forge, refusal) => {
    const started = await start()
    await expectEnded(started, refusal, answerTo(started, forge))
  })

  test('fails with the sub of another account of this service', async () => {
    const [started, stranger] = [await start(), await givenPerson()]
    await expectEnded(started, 'other_person', provider.answer(started.url, stranger.externalId))
    expect(await first.db.session.count({ where: { userId: stranger.userId } })).toBe(1)
  })

  test('fails with the nonce of another request', async () => {
    const [started, another] = [await start(), await start(await givenPerson())]
    const nonce = new URL(another.url).searchParams.get('nonce')
    const answer = answerTo(started, (claims) => ({ ...claims, nonce }))
    await expectEnded(started, 'bad_proof', answer)
  })

  test('fails with the state of another browser: its cookie, no cookie, a forged cookie, or its session', async () => {
    const brings: ((another: Started) => Partial<Started>)[] = [
      ({ cookie }) => ({ cookie }),
      () => ({ cookie: '' }),
      () => ({ cookie: first.secrets.seal('{"state":"x"}').toString('base64url') }),
      ({ sessionId }) => ({ sessionId }),
    ]
    for (const of of brings) {
      const [started, another] = [await start(await givenPerson()), await start(await givenPerson())]
      await expectEnded(started, 'other_browser', answerTo(started), { ...started, ...of(another) })
    }
  })

  test('fails with a code that was issued to another request', async () => {
    const [started, another] = [await start(), await start(await givenPerson())]
    const answer = answerTo(started)
    answer.set('code', provider.answer(another.url, person.externalId).get('code') ?? '')
    await expectEnded(started, 'bad_proof', answer)
  })

  test('gives one session if twenty concurrent answers on both instances use one proof', async () => {
    const started = await start()
    const answers = Array.from({ length: 20 }, () => answerTo(started))
    const outcomes = await Promise.all(
      answers.map((answer, n) => finish(started, answer, started, n % 2 ? first : other)),
    )
    expect(tally(outcomes.map((outcome) => ('refusal' in outcome ? outcome.refusal : 'accepted')))).toEqual({
      accepted: 1,
      used: 19,
    })
    expect(await first.db.session.count({ where: { userId: person.userId } })).toBe(2)
    expect(await auditsOf(person)).toEqual(['completed', ...Array(19).fill('refused'), 'started'])
  })

  test('serves only the purpose for which it was started', async () => {
    const uses: Record<Purpose, (ctx: Awaited<ReturnType<typeof asUser>>, person: Person) => Promise<unknown>> = {
      withdraw: (ctx, { userId }) => withdrawAccount(ctx, { userId, confirmation: 'DELETE_MY_ACCOUNT' }),
      token: (ctx, { userId }) =>
        createAccessToken(ctx, { userId, name: 'x', scopes: ['email:manage'], expires_in_days: 1 }),
      change: (ctx, { userId, email }) =>
        changeEmail(ctx, {
          userId,
          new_email: `new-${email}`,
          reauthentication: 'fresh_sign_in',
          verification_method: 'email_code',
        }),
      sessions: endOtherSessions,
    }
    for (const purpose of ['token', 'change', 'sessions', 'withdraw'] as const) {
      const person = await givenPerson()
      const outcome = await finish(await start(person, purpose))
      const sessionId = 'sessionId' in outcome ? outcome.sessionId : ''
      const outcomes: Partial<Record<Purpose, string>> = {}
      for (const use of ['token', 'change', 'sessions', 'withdraw'] as const) {
        outcomes[use] = await outcomeOf(uses[use](await asUser(other, { ...person, sessionId }), person))
      }
      const refused = Object.fromEntries(PURPOSES.map((use) => [use, 'REAUTH_001']))
      expect(outcomes).toEqual({ ...refused, [purpose]: 'accepted' })
    }
  })

  test('fails if the session, the account or the password ends while the provider is asked', async () => {
    const ends: ((person: Person) => Promise<unknown>)[] = [
      ({ sessionId }) => signOut(first, sessionId),
      ({ userId }) => first.db.user.update({ where: { id: userId }, data: { withdrawnAt: first.clock.now() } }),
      ({ userId }) => first.db.user.update({ where: { id: userId }, data: { credentialVersion: { increment: 1 } } }),
    ]
    for (const end of ends) {
      const person = await givenPerson()
      const started = await start(person)
      provider.beforeToken = () => end(person)
      await expectEnded(started, 'ended')
      provider.beforeToken = async () => {}
    }
  })

  test('fails more than ten minutes after the start', async () => {
    const started = await start()
    for (const ctx of [first, other]) ctx.clock.advance(10 * minute + 1)
    await expectEnded(started, 'late')
  })

  test('fails without exactly the required acr', async () => {
    other.freshSignIn.requiredAcr = 'urn:acme:mfa'
    for (const acr of [undefined, 'urn:acme:mfa2', 'URN:ACME:MFA', ['urn:acme:mfa']]) {
      const started = await start(await givenPerson())
      const answer = answerTo(started, (claims) => ({ ...claims, acr }))
      await expectEnded(started, 'too_weak', answer)
    }
    const started = await start()
    const answer = answerTo(started, (claims) => ({ ...claims, acr: 'urn:acme:mfa' }))
    expect(await finish(started, answer)).toHaveProperty('sessionId')
  })

  test('fails if the person declines at the provider', async () => {
    const started = await start()
    const state = new URL(started.url).searchParams.get('state') ?? ''
    await expectEnded(started, 'declined', new URLSearchParams({ error: 'access_denied', state }))
  })
})

test('an auth_time is accepted from 30 seconds before the start to 60 seconds after now', async () => {
  for (const offset of [-30, 60]) {
    const started = await start(await givenPerson())
    const auth_time = Math.floor(first.clock.now().getTime() / second) + offset
    const answer = answerTo(started, (claims) => ({ ...claims, auth_time }))
    expect(await finish(started, answer)).toHaveProperty('sessionId')
  }
})

test('an answer without a request of this service writes nothing', async () => {
  for (const state of ['', 'rea_', `rea_${'A'.repeat(22)}`, "rea_'; DROP TABLE users; --", '\0']) {
    const answer = new URLSearchParams({ code: 'x', state })
    const outcome = await finishReauthentication(other, { answer, cookie: 'x', sessionId: 'ses_x', ...client })
    expect({ state, outcome }).toEqual({ state, outcome: { refusal: 'unknown', purpose: null, userId: null } })
  }
})

test('while the provider is away, a re-authentication cannot start and writes nothing', async () => {
  await provider.close()
  expect(await outcomeOf(start())).toBe('SERVER_002')
  expect(await first.db.reauthRequest.count({ where: { userId: person.userId } })).toBe(0)
  expect(await auditsOf(person)).toEqual([])
})

test('a provider that fails after the start ends the re-authentication, and the old session stays', async () => {
  for (const fails of [500, 401, 503]) {
    const started = await start(await givenPerson())
    provider.fails = fails
    await expectEnded(started, 'provider_away')
    provider.fails = null
    expect(await first.db.session.count({ where: { id: started.sessionId, revokedAt: null } })).toBe(1)
  }
})

test('a re-authentication starts only with an external id and a provider', async () => {
  const user = { ...(await givenUser(first)), externalId: '' }
  expect(await outcomeOf(start(user))).toBe('REQUEST_005')
  first.identityProvider = null
  expect(await outcomeOf(start())).toBe('REQUEST_005')
  expect(await first.db.reauthRequest.count({ where: { userId: { in: [person.userId, user.userId] } } })).toBe(0)
})

test('a re-authentication is deleted after a day, and with the account', async () => {
  await start()
  await givenSession(first, person.userId)
  const left = () => first.db.reauthRequest.count({ where: { userId: person.userId } })
  first.clock.advance(24 * 60 * minute)
  await runDueWork(first)
  expect(await left()).toBe(1)
  first.clock.advance(1)
  await runDueWork(first)
  expect(await left()).toBe(0)
})
