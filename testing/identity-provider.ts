import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { onTestFinished } from 'vitest'
import { createIdentityProvider } from '@/server/adapters/identity-provider'
import type { TestContext } from './domain'
import { listening } from './listening'

type Claims = Record<string, unknown>

export interface TestProvider {
  issuer: string
  /** Signs the person in at `url` and returns the query of the redirect back. `forge` changes the claims of the ID token. */
  answer(url: string, subject: string, forge?: (claims: Claims) => Claims): URLSearchParams
  /** Signs from now on with a new key of this algorithm, and publishes no other. */
  signWith(algorithm: string): Promise<void>
  /** Runs before each ID token is handed over. */
  beforeToken: () => Promise<unknown>
  /** The status with which the token endpoint fails, null while it works. */
  fails: number | null
  close(): Promise<void>
}

export const CLIENT = { clientId: 'accounts', clientSecret: 'a secret: with +signs', scopes: 'openid', name: 'Acme' }
const REDIRECT_URI = 'https://accounts.test/api/auth/callback/oidc'

/** An identity provider that can also answer wrongly. The contexts are its clients. */
export async function givenProvider(...contexts: TestContext[]): Promise<TestProvider> {
  const newKey = async (alg: string) => {
    const { publicKey, privateKey } = await generateKeyPair(alg)
    return { alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid: 'k1', alg } }
  }
  let key = await newKey('ES256')
  const codes = new Map<string, { claims: Claims; challenge: string }>()
  const now = () => Math.floor((contexts[0] as TestContext).clock.now().getTime() / 1000)

  const redeem = async (request: IncomingMessage): Promise<[number, unknown]> => {
    await provider.beforeToken()
    if (provider.fails) return [provider.fails, { error: 'temporarily_unavailable' }]
    const form = new URLSearchParams(await text(request))
    const basic = Buffer.from(request.headers.authorization?.replace('Basic ', '') ?? '', 'base64').toString()
    const secret = new URLSearchParams(`secret=${basic.split(':')[1]}`).get('secret')
    const issued = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const isGood = secret === CLIENT.clientSecret && form.get('redirect_uri') === REDIRECT_URI
    if (!isGood || issued?.challenge !== challenge) return [400, { error: 'invalid_grant' }]
    const id_token = await new SignJWT(issued.claims)
      .setProtectedHeader({ alg: key.alg, kid: 'k1' })
      .sign(key.privateKey)
    return [200, { access_token: 'unused', token_type: 'Bearer', id_token }]
  }

  const answerTo = async (request: IncomingMessage): Promise<[number, unknown]> => {
    if (request.url === '/token') return redeem(request)
    if (request.url === '/jwks') return [200, { keys: [key.jwk] }]
    const { issuer } = provider
    const endpoints = { authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` }
    return [200, { issuer, ...endpoints, jwks_uri: `${issuer}/jwks` }]
  }

  const server = createServer(async (request, response) => {
    const [status, body] = await answerTo(request)
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  })
  const port = await listening(server)
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  onTestFinished(close)
  const provider: TestProvider = {
    issuer: `http://127.0.0.1:${port}`,
    answer(url, subject, forge = (claims) => claims) {
      const params = new URL(url).searchParams
      const code = randomBytes(16).toString('base64url')
      const claims = forge({
        iss: provider.issuer,
        aud: params.get('client_id'),
        sub: subject,
        nonce: params.get('nonce'),
        iat: now(),
        exp: now() + 300,
        auth_time: now(),
      })
      codes.set(code, { claims, challenge: params.get('code_challenge') ?? '' })
      return new URLSearchParams({ code, state: params.get('state') ?? '' })
    },
    async signWith(algorithm) {
      key = await newKey(algorithm)
    },
    beforeToken: async () => {},
    fails: null,
    close,
  }
  for (const ctx of contexts) {
    ctx.identityProvider = createIdentityProvider({ ...CLIENT, issuer: provider.issuer }, REDIRECT_URI, ctx.clock)
  }
  return provider
}
