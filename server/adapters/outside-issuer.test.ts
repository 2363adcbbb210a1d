import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { listening } from '@/testing/listening'
import { createOutsideIssuer } from './outside-issuer'

const ISSUER = 'https://issuer.test/'
const AUDIENCE = 'account-service'

type Keys = Awaited<ReturnType<typeof generateKeyPair>>
let keys: Keys
let others: Keys
beforeAll(async () => {
  keys = await generateKeyPair('RS256', { extractable: true })
  others = await generateKeyPair('RS256', { extractable: true })
})

/** The issuer's key server; with `down` it answers 5xx. The service's clock is `aheadMs` ahead of the host's. */
async function givenIssuer() {
  const state = { keys: [{ kid: 'one', pair: keys }], down: false, fetches: 0, aheadMs: 0 }
  const server = createServer(async (_request, response) => {
    state.fetches++
    if (state.down) return void response.writeHead(500).end()
    const toJwk = async ({ kid, pair }: (typeof state.keys)[number]) => {
      return { ...(await exportJWK(pair.publicKey)), kid, alg: 'RS256', use: 'sig' }
    }
    const jwks = await Promise.all(state.keys.map(toJwk))
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ keys: jwks }))
  })
  const port = await listening(server)
  onTestFinished(() => void server.close())
  const jwksUrl = `http://127.0.0.1:${port}/jwks`
  const clock = { now: () => new Date(Date.now() + state.aheadMs) }
  return {
    state,
    verifier: createOutsideIssuer({ jwksUrl, issuer: ISSUER, audience: AUDIENCE, subjectIs: 'user_id' }, clock),
  }
}

interface TokenOptions {
  /** Of any type, because issuers send anything. */
  claims?: Record<string, unknown>
  header?: Record<string, unknown>
  pair?: Keys
}

function sign({ claims = {}, header = {}, pair = keys }: TokenOptions = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  const usual = { iss: ISSUER, aud: AUDIENCE, sub: 'usr_x', exp: now + 600, iat: now, scope: 'openid email:manage' }
  return new SignJWT({ ...usual, ...claims })
    .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: 'one', ...header })
    .sign(pair.privateKey)
}

test("the issuer's access token yields the user, the known scopes and the expiry", async () => {
  const { verifier } = await givenIssuer()
  expect(await verifier.verify(await sign())).toEqual({
    subject: 'usr_x',
    authenticatedAt: null,
    acr: null,
    scopes: ['email:manage'],
    expiresAt: expect.any(Date),
    issuedAt: expect.any(Date),
  })
})

test('scopes may be an array, and unknown ones are ignored', async () => {
  const { verifier } = await givenIssuer()
  const array = await sign({ claims: { scope: ['email:manage', 7, 'tokens:manage'] } })
  expect((await verifier.verify(array))?.scopes).toEqual(['email:manage'])
  for (const scope of [7, null, { 'email:manage': true }]) {
    expect((await verifier.verify(await sign({ claims: { scope } })))?.scopes).toEqual([])
  }
})

const now = () => Math.floor(Date.now() / 1000)

test('the time of issue is known if the issuer gives it, and a token that gives it in another form is refused', async () => {
  const { verifier } = await givenIssuer()
  const iat = now() - 5
  const judged = async (claim: unknown) => verifier.verify(await sign({ claims: { iat: claim } }))
  expect(await judged(iat)).toMatchObject({ issuedAt: new Date(iat * 1000) })
  expect(await judged(undefined)).toMatchObject({ issuedAt: null })
  expect([await judged(String(iat)), await judged(null)]).toEqual([null, null])
})

test('a token from the future is refused, but for the five minutes by which clocks may differ', async () => {
  const { verifier } = await givenIssuer()
  const judged = async (iat: number) => verifier.verify(await sign({ claims: { iat } }))
  expect(await judged(now() + 290)).not.toBeNull()
  expect(await judged(now() + 310)).toBeNull()
})

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const payload = () => encode({ iss: ISSUER, aud: AUDIENCE, sub: 'usr_x', exp: now() + 600, scope: 'email:manage' })

const hostile: [string, () => Promise<string>][] = [
  ['no signature (alg none)', async () => `${encode({ alg: 'none', typ: 'at+jwt' })}.${payload()}.`],
  [
    'the public key used as an HMAC secret',
    async () => {
      const text = `${encode({ alg: 'HS256', typ: 'at+jwt', kid: 'one' })}.${payload()}`
      return `${text}.${createHmac('sha256', await exportSPKI(keys.publicKey))
        .update(text)
        .digest('base64url')}`
    },
  ],
  ['another audience', () => sign({ claims: { aud: 'other' } })],
  ['another issuer', () => sign({ claims: { iss: 'https://evil.test/' } })],
  ['its end passed', () => sign({ claims: { exp: now() - 61 } })],
  ['its beginning not reached', () => sign({ claims: { nbf: now() + 120 } })],
  ['no end', () => sign({ claims: { exp: undefined } })],
  ['no subject', () => sign({ claims: { sub: undefined } })],
  ['an empty subject', () => sign({ claims: { sub: '' } })],
  ['a number for a subject', () => sign({ claims: { sub: 7 } })],
  ['a subject that nothing can be stored under', () => sign({ claims: { sub: 'usr_\0' } })],
  ['the type of an ID token', () => sign({ header: { typ: 'JWT' } })],
  ['no type', () => sign({ header: { typ: undefined } })],
  ["a stranger's signature", () => sign({ pair: others })],
  [
    'a key that it brings itself',
    async () => sign({ pair: others, header: { jwk: await exportJWK(others.publicKey), kid: 'two' } }),
  ],
  ['an address for its key', () => sign({ pair: others, header: { jku: 'https://evil.test/jwks', kid: 'two' } })],
  [
    'a payload that was edited',
    async () => {
      const [header, , signature] = (await sign()).split('.')
      return `${header}.${encode({ iss: ISSUER, aud: AUDIENCE, sub: 'usr_y', exp: now() + 600 })}.${signature}`
    },
  ],
]

test.each(hostile)('a token with %s is refused', async (_what, make) => {
  const { verifier } = await givenIssuer()
  expect(await verifier.verify(await make())).toBeNull()
})

test('a token whose end no database can store is good until the last day that it can', async () => {
  const { verifier } = await givenIssuer()
  expect(await verifier.verify(await sign({ claims: { exp: Number.MAX_SAFE_INTEGER } }))).toMatchObject({
    expiresAt: new Date('9999-12-31T23:59:59.000Z'),
  })
})

test("expiry is decided by the service's clock, not by the host's", async () => {
  const { state, verifier } = await givenIssuer()
  state.aheadMs = 3_600_000
  expect(await verifier.verify(await sign())).toBeNull()
  state.aheadMs = -3_600_000
  expect(await verifier.verify(await sign({ claims: { iat: now() - 3_600, exp: now() - 1_800 } }))).not.toBeNull()
})

test('during a rotation of keys, tokens of both keys are valid, and the keys are fetched once', async () => {
  const { state, verifier } = await givenIssuer()
  state.keys.push({ kid: 'two', pair: others })
  expect(await verifier.verify(await sign())).not.toBeNull()
  expect(await verifier.verify(await sign({ pair: others, header: { kid: 'two' } }))).not.toBeNull()
  expect(state.fetches).toBe(1)
})

test('while the issuer is down, no token is accepted and none is called invalid', async () => {
  const { state, verifier } = await givenIssuer()
  state.down = true
  await expect(verifier.verify(await sign())).rejects.toMatchObject({ code: 'SERVER_002' })
})

test('known keys go on verifying while their address is away, for a day, and a token of an unknown key waits', async () => {
  const { state, verifier } = await givenIssuer()
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const startedAt = Date.now()
  const unknown = () => sign({ pair: others, header: { kid: 'two' } })
  const forged = () => sign({ pair: others })
  expect(await verifier.verify(await sign())).not.toBeNull()
  state.down = true
  for (const ms of [11 * 60_000, 12 * 3_600_000, 24 * 3_600_000 - 1]) {
    vi.setSystemTime(startedAt + ms)
    expect(await verifier.verify(await sign())).not.toBeNull()
    expect(await verifier.verify(await forged())).toBeNull()
    await expect(verifier.verify(await unknown())).rejects.toMatchObject({ code: 'SERVER_002' })
  }
  vi.setSystemTime(startedAt + 24 * 3_600_000 + 60_000)
  await expect(verifier.verify(await sign())).rejects.toMatchObject({ code: 'SERVER_002' })
  // Back again, it answers with both keys.
  state.down = false
  state.keys.push({ kid: 'two', pair: others })
  vi.setSystemTime(startedAt + 24 * 3_600_000 + 120_000)
  expect(await verifier.verify(await unknown())).not.toBeNull()
})

test('while the address of the keys is away, it is asked twice a minute at most', async () => {
  const { state, verifier } = await givenIssuer()
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  expect(await verifier.verify(await sign())).not.toBeNull()
  state.down = true
  const fetches = state.fetches
  vi.setSystemTime(Date.now() + 11 * 60_000)
  for (let n = 0; n < 5; n++) expect(await verifier.verify(await sign())).not.toBeNull()
  expect(state.fetches).toBe(fetches + 1)
})

test('auth_time counts only as a whole number of seconds, and acr only as a text', async () => {
  const { verifier } = await givenIssuer()
  const said = async (claims: Record<string, unknown>) => verifier.verify(await sign({ claims }))
  const seconds = Math.floor(Date.now() / 1000) - 60
  const authenticatedAt = new Date(seconds * 1000)
  expect(await said({ auth_time: seconds, acr: 'urn:acme:mfa' })).toMatchObject({
    authenticatedAt,
    acr: 'urn:acme:mfa',
  })
  expect(await said({})).toMatchObject({ authenticatedAt: null, acr: null })
  for (const auth_time of [String(seconds), seconds + 0.5, null, [seconds], true, 1e300, {}]) {
    expect(await said({ auth_time, acr: ['urn:acme:mfa'] })).toMatchObject({ authenticatedAt: null, acr: null })
  }
})
