import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Purpose } from '@/contract/access'
import {
  asUser,
  givenSession,
  givenUser,
  outcomeOf,
  runDueWork,
  type TestContext,
  type TestUser,
  tally,
  testContext,
} from '@/testing/domain'
import { givenProvider, type TestProvider } from '@/testing/identity-provider'
import { changeEmail } from '../email/change-email'
import { withdrawAccount } from '../withdrawal/withdraw-account'
import { createAccessToken } from './access-tokens'
import { finishReauthentication, startReauthentication } from './reauthenticate'
import { signOut } from './sessions'

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
  url: string
  cookie: string
  sessionId: string
}

async function start(person: TestUser, purpose: Purpose = 'withdraw'): Promise<Started> {
  let cookie = ''
  const setCookie = (_name: string, value: string) => {
    cookie = value
  }
  const ctx = { ...(await asUser(first, person)), setCookie }
  const { authorization_url: url } = await startReauthentication(ctx, { userId: person.userId, purpose })
  return { url, cookie, sessionId: person.sessionId }
}

const client = { userAgent: 'test', ip: '192.0.2.1' }
const finish = (answer: URLSearchParams, { cookie, sessionId }: Omit<Started, 'url'>, ctx = other) =>
  finishReauthentication(ctx, { answer, cookie, sessionId, ...client })

const auditsOf = async ({ userId }: TestUser) =>
  (await first.db.auditEvent.findMany({ where: { userId, action: { startsWith: 'reauth' } }, orderBy: { at: 'asc' } }))
    .map(({ action }) => action.replace('reauthentication.', ''))
    .sort()

/** It had no effect, the audit says so, and even a valid answer cannot finish it any more. */
async function expectEnded(person: Person, begun: Started, refusal: string, outcome: unknown) {
  expect(outcome).toMatchObject({ refusal })
  expect(outcome).not.toHaveProperty('sessionId')
  expect(await auditsOf(person)).toEqual(['refused', 'started'])
  const again = await finish(provider.answer(begun.url, person.externalId), begun)
  expect(again).toMatchObject({ refusal: 'used' })
  expect(await first.db.session.count({ where: { userId: person.userId } })).toBe(1)
}

test('a valid answer replaces the session by one that is fresh for its purpose', async () => {
  const begun = await start(person)
  first.clock.advance(minute)
  other.clock.advance(minute)
  const outcome = await finish(provider.answer(begun.url, person.externalId), begun)
  if (!('sessionId' in outcome)) throw new Error(outcome.refusal)
  expect(outcome).toMatchObject({ purpose: 'withdraw', userId: person.userId })
  const sessions = await first.db.session.findMany({ where: { userId: person.userId } })
  const ended = sessions.find(({ id }) => id === person.sessionId)
  const begunNow = sessions.find(({ id }) => id === outcome.sessionId)
  expect(sessions).toHaveLength(2)
  expect(ended?.revokedAt).toEqual(other.clock.now())
  expect(begunNow).toMatchObject({ revokedAt: null, authenticatedFor: 'withdraw', authenticatedAt: other.clock.now() })
  expect(await auditsOf(person)).toEqual(['completed', 'started'])
  const caller = await asUser(other, { ...person, sessionId: outcome.sessionId })
  const confirmation = 'DELETE_MY_ACCOUNT' as const
  expect(await outcomeOf(withdrawAccount(caller, { userId: person.userId, confirmation }))).toBe('accepted')
})

test('the browser goes to the provider with prompt=login, max_age=0 and PKCE, and with nothing that names the person', async () => {
  first.freshSignIn.requiredAcr = 'urn:acme:mfa'
  const { url } = await start(person)
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
  type Claims = Record<string, unknown>
  const now = () => Math.floor(first.clock.now().getTime() / second)
  const forgeries: [string, (claims: Claims) => Claims, string][] = [
    ['an ID token without auth_time', ({ auth_time: _, ...claims }) => claims, 'not_asked'],
    ['an auth_time older than the start', (claims) => ({ ...claims, auth_time: now() - 31 }), 'not_asked'],
    ['an auth_time in the future', (claims) => ({ ...claims, auth_time: now() + 61 }), 'not_asked'],
    ['an auth_time as text', (claims) => ({ ...claims, auth_time: String(now()) }), 'not_asked'],
    [
      'a fresh iat over a stale auth_time',
      (claims) => ({ ...claims, iat: now(), auth_time: now() - 3600 }),
      'not_asked',
    ],
    ['another sub', (claims) => ({ ...claims, sub: 'crm-somebody-else' }), 'other_person'],
    ['another aud', (claims) => ({ ...claims, aud: 'another-client' }), 'bad_proof'],
    ['two audiences and no azp', (claims) => ({ ...claims, aud: ['accounts', 'another'] }), 'bad_proof'],
    ['an azp of another client', (claims) => ({ ...claims, azp: 'another' }), 'bad_proof'],
    ['another iss', (claims) => ({ ...claims, iss: 'https://evil.test' }), 'bad_proof'],
    ['an expired ID token', (claims) => ({ ...claims, exp: now() - 31 }), 'bad_proof'],
    ['an auth_time of half a second', (claims) => ({ ...claims, auth_time: now() + 0.5 }), 'not_asked'],
  ]
  test.each(forgeries)('fails with %s', async (_what, forge, refusal) => {
    const begun = await start(person)
    const outcome = await finish(provider.answer(begun.url, person.externalId, forge), begun)
    await expectEnded(person, begun, refusal, outcome)
  })

  test('fails with the sub of another account of this service', async () => {
    const [person, stranger] = [await givenPerson(), await givenPerson()]
    const begun = await start(person)
    const outcome = await finish(provider.answer(begun.url, stranger.externalId), begun)
    await expectEnded(person, begun, 'other_person', outcome)
    expect(await first.db.session.count({ where: { userId: stranger.userId } })).toBe(1)
  })

  test('fails with the nonce of another request', async () => {
    const [begun, another] = [await start(person), await start(await givenPerson())]
    const nonce = new URL(another.url).searchParams.get('nonce')
    const answer = provider.answer(begun.url, person.externalId, (claims) => ({ ...claims, nonce }))
    await expectEnded(person, begun, 'bad_proof', await finish(answer, begun))
  })

  test('fails with the state of another browser: its cookie, no cookie, a forged cookie, or its session', async () => {
    for (const of of ['cookie', 'none', 'forged', 'session'] as const) {
      const [person, stranger] = [await givenPerson(), await givenPerson()]
      const [begun, another] = [await start(person), await start(stranger)]
      const brings = {
        cookie: { cookie: another.cookie, sessionId: begun.sessionId },
        none: { cookie: '', sessionId: begun.sessionId },
        forged: { cookie: first.secrets.seal('{"state":"x"}').toString('base64url'), sessionId: begun.sessionId },
        session: { cookie: begun.cookie, sessionId: another.sessionId },
      }[of]
      const outcome = await finish(provider.answer(begun.url, person.externalId), brings)
      await expectEnded(person, begun, 'other_browser', outcome)
    }
  })

  test('fails with a code that was issued to another request', async () => {
    const [begun, another] = [await start(person), await start(await givenPerson())]
    const answer = provider.answer(begun.url, person.externalId)
    answer.set('code', provider.answer(another.url, person.externalId).get('code') ?? '')
    await expectEnded(person, begun, 'bad_proof', await finish(answer, begun))
  })

  test('gives one session if twenty concurrent answers on both instances use one proof', async () => {
    const begun = await start(person)
    const answers = Array.from({ length: 20 }, () => provider.answer(begun.url, person.externalId))
    const outcomes = await Promise.all(answers.map((answer, n) => finish(answer, begun, n % 2 ? first : other)))
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
    }
    for (const purpose of ['token', 'change', 'withdraw'] as const) {
      const person = await givenPerson()
      const begun = await start(person, purpose)
      const outcome = await finish(provider.answer(begun.url, person.externalId), begun)
      const sessionId = 'sessionId' in outcome ? outcome.sessionId : ''
      const outcomes: Partial<Record<Purpose, string>> = {}
      for (const use of ['token', 'change', 'withdraw'] as const) {
        outcomes[use] = await outcomeOf(uses[use](await asUser(other, { ...person, sessionId }), person))
      }
      const refused = { token: 'REAUTH_001', change: 'REAUTH_001', withdraw: 'REAUTH_001' }
      expect(outcomes).toEqual({ ...refused, [purpose]: 'accepted' })
    }
  })

  test('fails if the session was ended meanwhile', async () => {
    const begun = await start(person)
    await signOut(first, person.sessionId)
    await expectEnded(person, begun, 'ended', await finish(provider.answer(begun.url, person.externalId), begun))
  })

  test('fails if the session, the account or the password ends while the provider is asked', async () => {
    const ends: ((person: Person) => Promise<unknown>)[] = [
      ({ sessionId }) => signOut(first, sessionId),
      ({ userId }) => first.db.user.update({ where: { id: userId }, data: { withdrawnAt: first.clock.now() } }),
      ({ userId }) => first.db.user.update({ where: { id: userId }, data: { credentialVersion: { increment: 1 } } }),
    ]
    for (const end of ends) {
      const person = await givenPerson()
      const begun = await start(person)
      provider.beforeToken = () => end(person)
      const outcome = await finish(provider.answer(begun.url, person.externalId), begun)
      provider.beforeToken = async () => {}
      await expectEnded(person, begun, 'ended', outcome)
    }
  })

  test('fails more than ten minutes after the start', async () => {
    const begun = await start(person)
    for (const ctx of [first, other]) ctx.clock.advance(10 * minute + 1)
    await expectEnded(person, begun, 'late', await finish(provider.answer(begun.url, person.externalId), begun))
  })

  test('fails without exactly the required acr', async () => {
    for (const acr of [undefined, 'urn:acme:mfa2', 'URN:ACME:MFA', ['urn:acme:mfa']]) {
      const person = await givenPerson()
      other.freshSignIn.requiredAcr = 'urn:acme:mfa'
      const begun = await start(person)
      const answer = provider.answer(begun.url, person.externalId, (claims) => ({ ...claims, acr }))
      await expectEnded(person, begun, 'too_weak', await finish(answer, begun))
    }
    const person = await givenPerson()
    const begun = await start(person)
    const answer = provider.answer(begun.url, person.externalId, (claims) => ({ ...claims, acr: 'urn:acme:mfa' }))
    expect(await finish(answer, begun)).toHaveProperty('sessionId')
  })

  test('fails if the person declines at the provider', async () => {
    const begun = await start(person)
    const state = new URL(begun.url).searchParams.get('state') ?? ''
    const outcome = await finish(new URLSearchParams({ error: 'access_denied', state }), begun)
    await expectEnded(person, begun, 'declined', outcome)
  })
})

test('an auth_time is accepted from 30 seconds before the start to 60 seconds after now', async () => {
  for (const offset of [-30, 60]) {
    const person = await givenPerson()
    const begun = await start(person)
    const auth_time = Math.floor(first.clock.now().getTime() / second) + offset
    const answer = provider.answer(begun.url, person.externalId, (claims) => ({ ...claims, auth_time }))
    expect(await finish(answer, begun)).toHaveProperty('sessionId')
  }
})

test('an answer without a request of this service writes nothing', async () => {
  for (const state of ['', 'rea_', `rea_${'A'.repeat(22)}`, "rea_'; DROP TABLE users; --", '\0']) {
    const answer = new URLSearchParams({ code: 'x', state })
    const outcome = await finish(answer, { cookie: 'x', sessionId: 'ses_x' })
    expect({ state, outcome }).toEqual({ state, outcome: { refusal: 'unknown', purpose: null, userId: null } })
  }
})

test('while the provider is away, a re-authentication cannot start and writes nothing', async () => {
  await provider.close()
  expect(await outcomeOf(start(person))).toBe('SERVER_002')
  expect(await first.db.reauthRequest.count({ where: { userId: person.userId } })).toBe(0)
  expect(await auditsOf(person)).toEqual([])
})

test('a provider that fails after the start ends the re-authentication, and the old session stays', async () => {
  for (const fails of [500, 401, 503]) {
    const person = await givenPerson()
    const begun = await start(person)
    provider.fails = fails
    const outcome = await finish(provider.answer(begun.url, person.externalId), begun)
    provider.fails = null
    await expectEnded(person, begun, 'provider_away', outcome)
    expect(await first.db.session.count({ where: { id: person.sessionId, revokedAt: null } })).toBe(1)
  }
})

test('only a session can start a re-authentication, and only with an external id and a provider', async () => {
  const caller = await asUser(first, person)
  const attempt = (changes: object) =>
    outcomeOf(startReauthentication({ ...caller, ...changes }, { userId: person.userId, purpose: 'token' }))
  expect(await attempt({ actor: { ...caller.actor, kind: 'access_token' } })).toBe('AUTH_002')
  expect(await attempt({ actor: { ...caller.actor, kind: 'outside_token' } })).toBe('AUTH_002')
  expect(await attempt({ identityProvider: null })).toBe('REQUEST_005')
  const user = await givenUser(first)
  expect(await outcomeOf(start(user))).toBe('REQUEST_005')
  expect(await first.db.reauthRequest.count({ where: { userId: { in: [person.userId, user.userId] } } })).toBe(0)
})

test('a re-authentication is deleted after a day, and with the account', async () => {
  await start(person)
  await givenSession(first, person.userId)
  const left = () => first.db.reauthRequest.count({ where: { userId: person.userId } })
  first.clock.advance(24 * 60 * minute)
  await runDueWork(first)
  expect(await left()).toBe(1)
  first.clock.advance(1)
  await runDueWork(first)
  expect(await left()).toBe(0)
})
