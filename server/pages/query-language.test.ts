import { type IncomingMessage, ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { takeLanguageOfQuery } from './query-language'

function take(url: string, site = 'none') {
  const incoming = { url, headers: { 'sec-fetch-site': site } as Record<string, string> }
  const outgoing = new ServerResponse(incoming as unknown as IncomingMessage)
  takeLanguageOfQuery(incoming as unknown as IncomingMessage, outgoing)
  return { language: incoming.headers['page-language'], cookie: outgoing.getHeader('set-cookie') }
}

test('the query of the page for people without the app, and of no other, chooses its language', () => {
  expect(take('/delete-account?language=de').language).toBe('de')
  for (const url of ['/delete-account', '/delete-account?language=xx&outcome=sent', '/sign-in?language=de'])
    expect(take(url).language, url).toBeUndefined()
})

test('a language that is chosen on the page itself is the language of every page, and one of a link from elsewhere is not', () => {
  const chosen = '/delete-account?language=de&chosen'
  expect(take(chosen, 'same-origin').cookie).toBe('language=de; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax')
  // The page that follows its form.
  expect(take('/delete-account?language=de&outcome=sent', 'same-origin').cookie).toBeUndefined()
  for (const site of ['same-site', 'cross-site', 'none']) expect(take(chosen, site).cookie, site).toBeUndefined()
})
