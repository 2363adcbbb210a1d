import { expect, test } from 'vitest'
import { cookiesOfAttempt, withAttempt, withoutAttempt } from './provider-attempts'

const stateOf = (tab: string) => tab.repeat(43)
const callback = (tab: string) => `/api/auth/callback/oidc?code=x&state=${stateOf(tab)}`

/** A browser, which keeps cookies as a browser does, and the answers of next-auth. */
function givenBrowser(host = '') {
  const kept = new Map<string, string>()
  const cookie = () => [...kept].map((pair) => pair.join('=')).join('; ')
  const keep = (response: Response) => {
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/Max-Age=0/.test(line)) kept.delete(name)
      else kept.set(name, value)
    }
  }
  return {
    cookie,
    async begin(tab: string) {
      const headers = new Headers()
      for (const check of ['state', 'nonce', 'pkce.code_verifier'])
        headers.append('Set-Cookie', `${host}next-auth.${check}=${check} of ${tab}; Path=/; HttpOnly`)
      const url = `https://provider.test/authorize?state=${stateOf(tab)}`
      keep(await withAttempt(new Response(JSON.stringify({ url }), { headers }), cookie()))
    },
    /** What next-auth reads, and then the browser has the answer. */
    finish(tab: string) {
      const read = cookiesOfAttempt(callback(tab), cookie())
      const request = new Request(`https://accounts.test${callback(tab)}`, { headers: { Cookie: cookie() } })
      keep(withoutAttempt(new Response(null, { status: 302 }), request))
      return read
    },
  }
}

test.each(['', '__Host-'])(
  'a sign-in that was begun in two tabs is finished in either order (prefix %j)',
  async (host) => {
    for (const order of ['ab', 'ba']) {
      const browser = givenBrowser(host)
      await browser.begin('a')
      await browser.begin('b')
      for (const tab of order) {
        const read = browser.finish(tab)
        for (const check of ['state', 'nonce', 'pkce.code_verifier'])
          expect(read.match(new RegExp(`${host}next-auth\\.${check}=[^;]*`, 'g'))).toEqual([
            `${host}next-auth.${check}=${check} of ${tab}`,
          ])
      }
      expect(browser.cookie()).not.toContain('state.')
    }
  },
)

test('a browser keeps the three newest attempts, so that its requests stay short', async () => {
  const browser = givenBrowser()
  for (const tab of 'abcdefgh') await browser.begin(tab)
  expect(browser.cookie().match(/next-auth\.state\.\w/g)).toEqual(
    ['f', 'g', 'h'].map((tab) => `next-auth.state.${tab}`),
  )
})

test('an answer without an attempt of its own, and every other path, get the cookies as they came', () => {
  const cookie = `next-auth.state=x; next-auth.state.${'a'.repeat(16)}=y`
  for (const url of [callback('b'), '/api/auth/callback/oidc', `/settings?state=${stateOf('a')}`, '/'])
    expect(cookiesOfAttempt(url, cookie)).toBe(cookie)
})
