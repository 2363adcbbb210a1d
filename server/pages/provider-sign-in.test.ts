import { randomBytes } from 'node:crypto'
import NextAuth from 'next-auth'
import { expect, onTestFinished, test, vi } from 'vitest'
import { givenUser, type TestContext } from '@/testing/domain'
import { CLIENT, givenProvider } from '@/testing/identity-provider'
import { installed } from '@/testing/install-context'

// The headers of the request exist only inside Next.
vi.mock('./session-cookie', async (original) => ({
  ...(await original<typeof import('./session-cookie')>()),
  sessionOf: async () => undefined,
}))

/** A browser that signs in at the identity provider, which is configured anew. */
async function givenBrowser(ctx: TestContext) {
  const provider = await givenProvider(ctx)
  vi.resetModules()
  onTestFinished(() => void vi.unstubAllEnvs())
  for (const [name, value] of Object.entries({
    APP_URL: 'https://accounts.test',
    SIGN_IN_METHODS: 'oidc',
    AUTH_OIDC_ISSUER: provider.issuer,
    AUTH_OIDC_CLIENT_ID: CLIENT.clientId,
    AUTH_OIDC_CLIENT_SECRET: CLIENT.clientSecret,
  })) {
    vi.stubEnv(name, value)
  }
  const { authOptions } = await import('./sign-in')
  const cookies: Record<string, string> = {}
  const ask = async (nextauth: string[], wanted: { method?: string; body?: object; query?: object } = {}) => {
    const { method = 'GET', body = {}, query = {} } = wanted
    const headers = new Map<string, string | string[]>()
    let sent: Record<string, string> = {}
    const keep = (answer: Record<string, string>) => {
      sent = answer
    }
    const response = {
      getHeader: (name: string) => headers.get(name.toLowerCase()),
      setHeader: (name: string, value: string | string[]) => void headers.set(name.toLowerCase(), value),
      removeHeader: (name: string) => void headers.delete(name.toLowerCase()),
      status: () => response,
      json: keep,
      send: keep,
      end: () => {},
    }
    const request = { method, query: { ...query, nextauth }, cookies, headers: {}, body }
    await NextAuth(request as never, response as never, authOptions())
    for (const line of [headers.get('set-cookie') ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies[name] = decodeURIComponent(value)
    }
    return { ...sent, location: String(headers.get('location') ?? '') }
  }
  const urlOfProvider = async (query: object = {}) => {
    const { csrfToken } = (await ask(['csrf'])) as { csrfToken?: string }
    const body = { csrfToken, json: 'true' }
    const { url = '' } = (await ask(['signin', 'oidc'], { method: 'POST', body, query })) as { url?: string }
    return url
  }
  return {
    provider,
    cookies,
    /** What the provider is asked. */
    providerParams: async (query: object) => new URL(await urlOfProvider(query)).searchParams,
    /** The path to which the browser is led in the end. */
    async signIn(subject: string, forge?: Parameters<typeof provider.answer>[2]): Promise<string> {
      const query = Object.fromEntries(provider.answer(await urlOfProvider(), subject, forge))
      const { location } = await ask(['callback', 'oidc'], { query })
      const { pathname, search } = new URL(location, 'https://accounts.test')
      return pathname + search
    },
  }
}

test.each(['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'])(
  'a person signs in with an ID token that is signed with %s, and no other claims do',
  async (algorithm) => {
    const ctx = await installed()
    // next-auth and openid-client go by the clock of the host.
    ctx.clock.advance(Date.now() - ctx.clock.now().getTime())
    const { provider, signIn } = await givenBrowser(ctx)
    await provider.signWith(algorithm)
    const { userId } = await givenUser(ctx)
    const externalId = randomBytes(6).toString('hex')
    await ctx.db.user.update({ where: { id: userId }, data: { externalId } })
    const sessions = () => ctx.db.session.count({ where: { userId } })
    const before = await sessions()
    for (const wrong of [{ aud: 'another client' }, { iss: 'https://evil.test' }, { nonce: 'another' }, { exp: 1 }]) {
      expect(await signIn(externalId, (claims) => ({ ...claims, ...wrong }))).toContain('error=OAuthCallback')
    }
    expect(await signIn('nobody')).toBe('/sign-in?error=NoAccount')
    expect(await sessions()).toBe(before)
    expect(await signIn(externalId)).not.toContain('error')
    const [session] = await ctx.db.session.findMany({ where: { userId }, orderBy: { createdAt: 'desc' } })
    expect([await sessions(), session?.authenticatedAt]).toEqual([before + 1, expect.any(Date)])
  },
)

test('a person who has to sign in again is asked anew by the provider, for what counts as fresh', async () => {
  const ctx = await installed()
  const { providerParams } = await givenBrowser(ctx)
  const params = await providerParams({ prompt: 'login', acr_values: 'urn:acme:mfa' })
  expect([params.get('prompt'), params.get('acr_values'), params.get('max_age')]).toEqual([
    'login',
    'urn:acme:mfa',
    String(30 * 24 * 3600),
  ])
})

test('no other host of the domain can set a cookie of a sign-in at the provider, and so sign a browser in as somebody else', async () => {
  const { providerParams, cookies } = await givenBrowser(await installed())
  await providerParams({})
  expect(Object.keys(cookies).sort()).toEqual(
    ['callback-url', 'csrf-token', 'nonce', 'pkce.code_verifier', 'state'].map((name) => `__Host-next-auth.${name}`),
  )
})
