import { randomBytes } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { createSessionToken } from '@/domain/sessions/page-tokens'
import { call } from '@/testing/api-calls'
import { givenUser, type TestContext } from '@/testing/domain'
import { givenProvider, type TestProvider } from '@/testing/identity-provider'
import { installContext, installed, logged } from '@/testing/install-context'
import { getEnv } from '../settings/env'
import { answerReauthentication, isReauthentication } from './reauthentication'
import { sessionCookie, sessionOf } from './session-cookie'

const externalId = () => randomBytes(6).toString('hex')

let ctx: TestContext
let provider: TestProvider
beforeEach(async () => {
  ctx = await installed()
  ctx.appUrl = getEnv().appUrl
  provider = await givenProvider(ctx)
})

/** A browser in which a person without a password is signed in, and which a page has sent to the provider. */
async function givenBrowser(purpose: string) {
  const user = await givenUser(ctx)
  const subject = externalId()
  await ctx.db.user.update({ where: { id: user.userId }, data: { externalId: subject, passwordHash: null } })
  const token = createSessionToken(ctx, user.sessionId).token
  const started = await call(user, 'startReauthentication', { token, body: { purpose } })
  const cookies = [started.headers.get('Set-Cookie'), await sessionCookie(user)].map((each) => each?.split(';')[0])
  return { ...user, subject, url: String(started.data.authorization_url), cookies: cookies.join('; ') }
}
type Browser = Awaited<ReturnType<typeof givenBrowser>>

const returnFromProvider = (query: URLSearchParams, cookies: string) =>
  answerReauthentication(new Request(`${ctx.appUrl}/api/auth/callback/oidc?${query}`, { headers: { Cookie: cookies } }))
const locationOf = (response: Response) => response.headers.get('Location')?.replace(ctx.appUrl, '')
const answerFor = ({ url, subject }: Browser) => provider.answer(url, subject)

test.each([
  ['change', '/settings/email'],
  ['withdraw', '/settings/withdraw'],
  ['token', '/settings/access-tokens'],
])(
  'after a confirmation for %s the browser is back on %s with the cookie of the new session',
  async (purpose, page) => {
    const browser = await givenBrowser(purpose)
    const response = await returnFromProvider(answerFor(browser), browser.cookies)
    expect([response.status, locationOf(response)]).toEqual([303, page])
    const [session = '', cleared] = response.headers.getSetCookie()
    const sessionId = await sessionOf(new Headers({ Cookie: session.split(';')[0] ?? '' }))
    expect(await ctx.db.session.findMany({ where: { userId: browser.userId, revokedAt: null } })).toMatchObject([
      { id: sessionId, authenticatedFor: purpose },
    ])
    expect(sessionId).not.toBe(browser.sessionId)
    expect(session).toMatch(/HttpOnly; SameSite=Lax/)
    expect(cleared).toMatch(/^reauthentication\.rea_[\w-]{22}=; Path=\/; Max-Age=0;/)
  },
)

test('two confirmations of one browser are finished in either order, each on its page', async () => {
  for (const order of [
    ['change', 'token'],
    ['token', 'change'],
  ]) {
    const browser = await givenBrowser('change')
    const token = createSessionToken(ctx, browser.sessionId).token
    const second = await call(browser, 'startReauthentication', { token, body: { purpose: 'token' } })
    const cookies = new Map(
      [...browser.cookies.split('; '), String(second.headers.get('Set-Cookie')).split(';')[0] ?? ''].map((pair) => [
        pair.split('=')[0],
        pair,
      ]),
    )
    const urls: Record<string, string> = { change: browser.url, token: String(second.data.authorization_url) }
    for (const purpose of order) {
      const answer = answerFor({ ...browser, url: urls[purpose] ?? '' })
      const response = await returnFromProvider(answer, [...cookies.values()].join('; '))
      expect(locationOf(response)).toBe(purpose === 'change' ? '/settings/email' : '/settings/access-tokens')
      for (const line of response.headers.getSetCookie()) cookies.set(line.split('=')[0], line.split(';')[0] ?? '')
    }
    const open = await ctx.db.session.findMany({ where: { userId: browser.userId, revokedAt: null } })
    expect(open.map(({ authenticatedFor }) => authenticatedFor)).toEqual([order[1]])
  }
})

test('a failed confirmation returns with a reason for the page, and keeps the session cookie', async () => {
  const ends: [string, (browser: Browser) => [URLSearchParams, string]][] = [
    ['failed', (browser) => [answerFor(browser), '']],
    ['other', ({ url, cookies }) => [provider.answer(url, externalId()), cookies]],
    ['unasked', ({ url, subject, cookies }) => [provider.answer(url, subject, ({ auth_time: _, ...c }) => c), cookies]],
    [
      'declined',
      ({ url, cookies }) => [
        new URLSearchParams({ error: 'access_denied', state: new URL(url).searchParams.get('state') ?? '' }),
        cookies,
      ],
    ],
  ]
  for (const [word, end] of ends) {
    const browser = await givenBrowser('token')
    const response = await returnFromProvider(...end(browser))
    expect([response.status, locationOf(response)]).toEqual([303, `/settings/access-tokens?unconfirmed=${word}`])
    expect(response.headers.getSetCookie()).toHaveLength(1)
    expect(await ctx.db.session.count({ where: { id: browser.sessionId, revokedAt: null } })).toBe(1)
  }
})

test('a provider that is away ends in a sentence, not in an error', async () => {
  const browser = await givenBrowser('withdraw')
  provider.fails = 503
  const response = await returnFromProvider(answerFor(browser), browser.cookies)
  expect([response.status, locationOf(response)]).toEqual([303, '/settings/withdraw?unconfirmed=away'])
})

test('a database that is away ends in a sentence, not in an error', async () => {
  const browser = await givenBrowser('withdraw')
  installContext({ ...ctx, sql: () => Promise.reject(new Error('canary')) })
  const response = await returnFromProvider(answerFor(browser), browser.cookies)
  expect([response.status, locationOf(response)]).toEqual([303, '/settings/email?unconfirmed=away'])
})

test('next-auth keeps all states but those of a re-authentication', () => {
  const isOurs = (query: string) => isReauthentication(new Request(`http://localhost/api/auth/callback/oidc${query}`))
  expect(isOurs('?code=x&state=rea_abc')).toBe(true)
  expect(isOurs('?code=x&state=abc&state=rea_abc')).toBe(true)
  for (const query of ['', '?state=', '?code=rea_', '?state=xrea_abc']) expect(isOurs(query)).toBe(false)
})

test('neither subject, code nor cookie reaches the log', async () => {
  const lines = logged()
  const browser = await givenBrowser('token')
  const answer = answerFor(browser)
  await returnFromProvider(answer, browser.cookies)
  await returnFromProvider(answer, browser.cookies)
  const text = lines.join()
  expect(text).toContain('reauthenticated')
  expect(text).toContain('reauthentication_refused')
  const secrets = [browser.subject, answer.get('code'), answer.get('state'), browser.email]
  expect(secrets.filter((secret) => text.includes(String(secret)))).toEqual([])
})
