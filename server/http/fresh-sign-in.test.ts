import { randomBytes } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import type { Purpose } from '@/contract/access'
import { putUser } from '@/domain/accounts/put-user'
import { sendDueNotices } from '@/domain/mail/notice-queue'
import { NOTICE_KINDS } from '@/domain/notices'
import { signIn } from '@/domain/passwords/sign-in'
import { waysToConfirm } from '@/domain/sessions/fresh-sign-in'
import { createSessionToken } from '@/domain/sessions/page-tokens'
import { finishReauthentication } from '@/domain/sessions/reauthenticate'
import { codeSentTo } from '@/testing/account'
import { call, change, minute, withdraw } from '@/testing/api-calls'
import { givenToken } from '@/testing/callers'
import { asService, asUser, givenUser, type TestContext } from '@/testing/domain'
import { givenProvider } from '@/testing/identity-provider'
import { installed } from '@/testing/install-context'
import { OUTSIDE_TOKEN, trustIssuer } from '@/testing/service'

const CHALLENGE = 'Bearer error="insufficient_user_authentication", max_age=600'
const FRESH = 'fresh_sign_in'
/** The refusal of a sign-in that is not fresh. */
const STALE = [401, 'REAUTH_001', CHALLENGE]

let ctx: TestContext
let person: Person
beforeEach(async () => {
  ctx = await installed()
  person = await givenPerson()
})

/** A person with an external id, with or without a password, and with one token of each kind. */
async function givenPerson({ hasPassword = false } = {}) {
  const user = await givenUser(ctx)
  const externalId = randomBytes(6).toString('hex')
  const data = hasPassword ? { externalId } : { externalId, passwordHash: null }
  await ctx.db.user.update({ where: { id: user.userId }, data })
  const { token } = await givenToken(ctx, user.userId)
  return { ...user, token, session: createSessionToken(ctx, user.sessionId).token }
}
type Person = Awaited<ReturnType<typeof givenPerson>>

/** An outside issuer whose tokens name this person and these facts of their sign-in. */
const givenOutsideToken = ({ userId }: Person, said: { auth_time?: Date; acr?: string } = {}) =>
  trustIssuer(ctx, () => ({ subject: userId, authenticatedAt: said.auth_time ?? null, acr: said.acr ?? null }))

/** A new session of this person, who has signed in with the password. */
async function signedInAs({ email, password }: Pick<Person, 'email' | 'password'>) {
  const signedIn = await signIn(ctx, { email, password, userAgent: '', ip: '192.0.2.1' })
  const sessionId = signedIn?.sessionId ?? ''
  return { sessionId, token: createSessionToken(ctx, sessionId).token }
}

const newAddress = () => `new-${randomBytes(6).toString('hex')}@example.test`
const changeBy = (person: Person, token: string, body: object) =>
  call(person, 'changeEmail', { token, body: { new_email: newAddress(), ...body } })
const outcome = async (answer: ReturnType<typeof call>) => {
  const { status, code, headers } = await answer
  return [status, code, headers.get('WWW-Authenticate')]
}
const ago = (ms: number) => new Date(ctx.clock.now().getTime() - ms)

test('a person without a password changes the address with a fresh sign-in of the session', async () => {
  ctx.clock.advance(10 * minute)
  const token = () => createSessionToken(ctx, person.sessionId).token
  expect((await changeBy(person, token(), { reauthentication: FRESH })).code).toBe('accepted')
  ctx.clock.advance(1)
  expect(await outcome(changeBy(person, token(), { reauthentication: FRESH }))).toEqual(STALE)
})

test('the letters about a change of a person without a password know that there is none, at the first attempt and later', async () => {
  const passwordFlags: boolean[] = []
  const { send } = ctx.mail
  ctx.mail.send = async (mail) => {
    if (!('hasPassword' in mail.message)) return send(mail)
    passwordFlags.push(mail.message.hasPassword)
    return 'deferred'
  }
  const new_email = newAddress()
  const { data } = await changeBy(person, person.session, { reauthentication: FRESH, new_email })
  const right = { change_request_id: data.change_request_id, verification_code: codeSentTo(ctx, new_email) }
  expect((await call(person, 'verifyEmail', { token: person.session, body: right })).code).toBe('accepted')
  await ctx.settle()
  expect(passwordFlags).toEqual([false, false, false])
  ctx.clock.advance(minute)
  await sendDueNotices(ctx, NOTICE_KINDS)
  expect(passwordFlags).toEqual(Array(6).fill(false))
  await ctx.db.notice.deleteMany({ where: { userId: person.userId } })
})

test('a session without the time of its sign-in is never fresh', async () => {
  await ctx.db.session.update({ where: { id: person.sessionId }, data: { authenticatedAt: null } })
  const body = { reauthentication: FRESH }
  expect(await outcome(changeBy(person, person.session, body))).toEqual(STALE)
  expect(await outcome(withdraw(person, { token: person.session }))).toEqual(STALE)
  const asking = { token: person.session }
  expect(await outcome(call(person, 'createAccessToken', asking))).toEqual(STALE)
})

test('an access token is no fresh sign-in for a change, and needs none for a withdrawal', async () => {
  expect(await outcome(changeBy(person, person.token, { reauthentication: FRESH }))).toEqual(STALE)
  expect((await withdraw(person)).code).toBe('accepted')
})

test('fresh_sign_in is refused for an account that has a password, alone and beside the right password', async () => {
  const person = await givenPerson({ hasPassword: true })
  for (const token of [person.session, person.token]) {
    for (const body of [{}, { current_password: person.password }]) {
      expect((await changeBy(person, token, { ...body, reauthentication: FRESH })).code).toBe('EMAIL_007')
    }
  }
  expect(await ctx.db.emailChangeRequest.count({ where: { userId: person.userId } })).toBe(0)
})

test('an account without a password is refused with any password, with both proofs, and with neither', async () => {
  for (const current_password of [person.password, 'x', 'null', 'undefined']) {
    expect((await changeBy(person, person.session, { current_password })).code).toBe('EMAIL_007')
  }
  const both = { current_password: 'x', reauthentication: FRESH }
  expect((await changeBy(person, person.session, both)).code).toBe('EMAIL_007')
  const neither = await call(person, 'changeEmail', { body: { new_email: newAddress() } })
  expect([neither.code, neither.details]).toEqual(['REQUEST_001', 'current_password must be a string.'])
  for (const reauthentication of [null, true, '', 'FRESH_SIGN_IN', 'fresh_sign_in ', ['fresh_sign_in']]) {
    expect((await changeBy(person, person.session, { reauthentication })).code).toBe('REQUEST_001')
  }
  const nothing = await changeBy(person, person.session, { current_password: null, reauthentication: FRESH })
  expect(nothing.code).toBe('REQUEST_001')
})

test('a refusal for an old sign-in takes no place of the password and none of a change', async () => {
  for (let n = 0; n < 10; n++) {
    expect((await changeBy(person, person.token, { reauthentication: FRESH })).code).toBe('REAUTH_001')
  }
  expect((await changeBy(person, person.session, { reauthentication: FRESH })).code).toBe('accepted')
})

test('a caller with an old sign-in is not told that an address is taken', async () => {
  const [person, holder] = [await givenPerson(), await givenPerson()]
  const body = { new_email: holder.email, reauthentication: FRESH }
  expect((await call(person, 'changeEmail', { token: person.token, body })).code).toBe('REAUTH_001')
  expect((await call(person, 'changeEmail', { token: person.session, body })).code).toBe('EMAIL_002')
})

test('an outside token shows freshness by auth_time, ten minutes for a change', async () => {
  const body = { reauthentication: FRESH }
  const stale = [{}, { auth_time: ago(10 * minute + 1) }, { auth_time: ago(-minute - 1) }]
  for (const said of stale) {
    givenOutsideToken(person, said)
    expect(await outcome(changeBy(person, OUTSIDE_TOKEN, body))).toEqual(STALE)
  }
  givenOutsideToken(person, { auth_time: ago(10 * minute) })
  expect((await changeBy(person, OUTSIDE_TOKEN, body)).code).toBe('accepted')
})

test('an outside token withdraws with any auth_time, unless AUTH_MAX_AGE limits it', async () => {
  const [free, person] = [await givenPerson({ hasPassword: true }), await givenPerson({ hasPassword: true })]
  givenOutsideToken(free)
  expect((await withdraw(free, { token: OUTSIDE_TOKEN })).code).toBe('accepted')
  ctx.freshSignIn.maxOutsideAgeMs = 5 * minute
  for (const said of [{}, { auth_time: ago(5 * minute + 1) }, { auth_time: ago(-minute - 1) }]) {
    givenOutsideToken(person, said)
    const challenge = 'Bearer error="insufficient_user_authentication", max_age=300'
    expect(await outcome(withdraw(person, { token: OUTSIDE_TOKEN }))).toEqual([401, 'REAUTH_001', challenge])
  }
  // After the refusals an access token and a fresh token can still withdraw.
  givenOutsideToken(person, { auth_time: ago(5 * minute) })
  expect((await withdraw(person, { token: 'another.outside.token' })).code).toBe('accepted')
  expect((await withdraw(await givenPerson())).code).toBe('accepted')
})

test('the acr of an outside token is compared exactly, and the challenge names the required one', async () => {
  ctx.freshSignIn.requiredAcr = 'urn:acme:mfa'
  const challenge = `${CHALLENGE}, acr_values="urn:acme:mfa"`
  const auth_time = ctx.clock.now()
  for (const acr of [undefined, 'URN:ACME:MFA', 'urn:acme:mfa ', 'urn:acme']) {
    givenOutsideToken(person, { auth_time, ...(acr !== undefined && { acr }) })
    const body = { reauthentication: FRESH }
    expect(await outcome(changeBy(person, OUTSIDE_TOKEN, body))).toEqual([401, 'REAUTH_001', challenge])
    expect(await outcome(withdraw(person, { token: OUTSIDE_TOKEN }))).toEqual([401, 'REAUTH_001', challenge])
  }
  givenOutsideToken(person, { auth_time, acr: 'urn:acme:mfa' })
  expect((await changeBy(person, OUTSIDE_TOKEN, { reauthentication: FRESH })).code).toBe('accepted')
})

test('where an acr is required, a sign-in by password is never fresh for an account that the provider knows', async () => {
  ctx.freshSignIn.requiredAcr = 'urn:acme:mfa'
  await givenProvider(ctx)
  const person = await givenPerson({ hasPassword: true })
  const { token, sessionId } = await signedInAs(person)
  const challenge = `${CHALLENGE}, acr_values="urn:acme:mfa"`
  expect(await outcome(withdraw(person, { token }))).toEqual([401, 'REAUTH_001', challenge])
  expect(await outcome(call(person, 'createAccessToken', { token }))).toEqual([401, 'REAUTH_001', challenge])
  // The pages lead to the provider, except for a change, which takes the password itself.
  const ways = async (purpose: Purpose) => waysToConfirm(await asUser(ctx, { ...person, sessionId }), purpose)
  for (const purpose of ['withdraw', 'token'] as const) {
    expect(await ways(purpose)).toEqual({ hasPassword: false, provider: 'Acme', confirmedUntil: null })
  }
  expect(await ways('change')).toEqual({ hasPassword: true, provider: 'Acme', confirmedUntil: null })
  expect((await change(person, newAddress(), { token })).code).toBe('accepted')
  // An account that the provider does not know has nothing but its password.
  await ctx.db.user.update({ where: { id: person.userId }, data: { externalId: null } })
  expect((await withdraw(person, { token: (await signedInAs(person)).token })).code).toBe('accepted')
})

test('where an acr is required, a sign-in by password is no longer fresh once the account has an external id', async () => {
  ctx.freshSignIn.requiredAcr = 'urn:acme:mfa'
  await givenProvider(ctx)
  const user = await givenUser(ctx)
  const { userId } = user
  const link = () => putUser(asService(ctx), { externalId: `ext ${userId}`, user_id: userId })
  const before = await signedInAs(user)
  // The account gets its external id while the password is being checked.
  const { verify } = ctx.passwords
  ctx.passwords.verify = async (...of) => {
    ctx.passwords.verify = verify
    await link()
    return verify(...of)
  }
  for (const { token } of [await signedInAs(user), before]) {
    expect((await call(user, 'createAccessToken', { token })).code).toBe('REAUTH_001')
    expect((await withdraw({ ...user, token })).code).toBe('REAUTH_001')
  }
})

test('a person with a password who confirms at the provider with the required acr is fresh', async () => {
  ctx.freshSignIn.requiredAcr = 'urn:acme:mfa'
  const provider = await givenProvider(ctx)
  const person = await givenPerson({ hasPassword: true })
  const { externalId } = await ctx.db.user.findUniqueOrThrow({ where: { id: person.userId } })
  await ctx.db.session.update({ where: { id: person.sessionId }, data: { authenticatedAt: null } })
  const finish = async (acr: string) => {
    const asking = { token: person.session, body: { purpose: 'withdraw' } }
    const { data, headers } = await call(person, 'startReauthentication', asking)
    const url = String(data.authorization_url)
    expect(new URL(url).searchParams.get('acr_values')).toBe('urn:acme:mfa')
    return finishReauthentication(ctx, {
      answer: provider.answer(url, externalId ?? '', (claims) => ({ ...claims, acr })),
      cookie: /=([^;]*)/.exec(headers.get('Set-Cookie') ?? '')?.[1],
      sessionId: person.sessionId,
      userAgent: '',
      ip: '192.0.2.1',
    })
  }
  expect(await finish('urn:acme:password')).toMatchObject({ refusal: 'too_weak' })
  const outcome = await finish('urn:acme:mfa')
  const sessionId = 'sessionId' in outcome ? outcome.sessionId : ''
  const ways = await waysToConfirm(await asUser(ctx, { ...person, sessionId }), 'withdraw')
  expect(ways.confirmedUntil).not.toBeNull()
  expect((await withdraw(person, { token: createSessionToken(ctx, sessionId).token })).code).toBe('accepted')
})

test('a re-authentication that is started again with its Idempotency-Key sets the cookie of the first answer again', async () => {
  await givenProvider(ctx)
  const asking = { token: person.session, body: { purpose: 'token' }, headers: { 'Idempotency-Key': 'k1' } }
  const [first, again] = [
    await call(person, 'startReauthentication', asking),
    await call(person, 'startReauthentication', asking),
  ]
  expect(again.text).toBe(first.text)
  expect(again.headers.get('Set-Cookie')).toBe(first.headers.get('Set-Cookie'))
})

test('a person with the right password opens a change at any age of the sign-in', async () => {
  const person = await givenPerson({ hasPassword: true })
  ctx.clock.advance(60 * minute)
  const token = createSessionToken(ctx, person.sessionId).token
  expect((await change(person, newAddress(), { token })).code).toBe('accepted')
})

test('a page starts a re-authentication and its browser gets a cookie that no script can read', async () => {
  const provider = await givenProvider(ctx)
  const body = { purpose: 'withdraw' }
  const { code, data, headers } = await call(person, 'startReauthentication', { token: person.session, body })
  expect([code, new URL(String(data.authorization_url)).origin]).toEqual(['accepted', provider.issuer])
  expect(headers.get('Set-Cookie')).toMatch(
    /^__Host-reauthentication\.rea_[\w-]{22}=[\w-]{100,}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
  )
  const verifier = new URL(String(data.authorization_url)).searchParams.get('nonce') as string
  expect(headers.get('Set-Cookie')).not.toContain(verifier)
})

test('neither an outside token nor another purpose starts a re-authentication', async () => {
  await givenProvider(ctx)
  const start = async (token: string, purpose: unknown) =>
    (await call(person, 'startReauthentication', { token, body: { purpose } })).code
  givenOutsideToken(person, { auth_time: ctx.clock.now() })
  expect(await start(OUTSIDE_TOKEN, 'token')).toBe('AUTH_002')
  for (const purpose of [undefined, null, '', 'export', 'Withdraw', ['withdraw']]) {
    expect(await start(person.session, purpose)).toBe('REQUEST_001')
  }
  expect(await ctx.db.reauthRequest.count({ where: { userId: person.userId } })).toBe(0)
})
