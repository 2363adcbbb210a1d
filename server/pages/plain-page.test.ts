import { createServer, type IncomingMessage, type RequestListener, ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { listening } from '@/testing/listening'
import { leaveScriptsOut, preparePlainPage, withoutScripts } from './plain-page'

const PAGE =
  '<!doctype html><head><link rel="preload" as="script" href="/a.js"/><link rel="stylesheet" href="/a.css"/></head><body><p>é</p><script nonce="x">self.push("</p>")</script><script src="/b.js" async=""></script></body>'
const PLAIN = '<!doctype html><head><link rel="stylesheet" href="/a.css"/></head><body><p>é</p></body>'

async function answerOf(write: RequestListener, headers: Record<string, string> = {}) {
  const server = createServer((incoming, outgoing) => {
    leaveScriptsOut(incoming, outgoing)
    write(incoming, outgoing)
  })
  const port = await listening(server)
  onTestFinished(() => void server.close())
  return fetch(`http://127.0.0.1:${port}/`, { headers })
}

test('a page that is sent in parts arrives whole, without scripts, and compressed where the browser takes that', async () => {
  const parts = Buffer.from(PAGE)
  const inParts: RequestListener = (incoming, outgoing) => {
    expect(incoming.headers['accept-encoding']).toBeUndefined()
    outgoing.setHeader('Content-Type', 'text/html; charset=utf-8')
    // As Next does where it compresses.
    outgoing.writeHead(200)
    outgoing.flushHeaders()
    // The cut is inside the letter é.
    const cut = parts.indexOf('é') + 1
    outgoing.write(parts.subarray(0, cut), () => outgoing.end(parts.subarray(cut)))
  }
  for (const encoding of ['gzip, br', 'identity']) {
    const response = await answerOf(inParts, { 'Accept-Encoding': encoding })
    expect(response.headers.get('Content-Encoding')).toBe(encoding === 'identity' ? null : 'gzip')
    expect(await response.text()).toBe(PLAIN)
  }
})

test('responses that are not HTML are not rewritten', async () => {
  const response = await answerOf((_, outgoing) => {
    outgoing.setHeader('Content-Type', 'text/plain')
    outgoing.end(PAGE)
  })
  expect(await response.text()).toBe(PAGE)
  expect(withoutScripts(PLAIN)).toBe(PLAIN)
})

test('only the page for people without the app is plain, and its query chooses the language', () => {
  const look = (url: string, headers = {}) => {
    const incoming = { url, headers: { ...headers } } as IncomingMessage
    const outgoing = new ServerResponse(incoming)
    return [preparePlainPage(incoming, outgoing), incoming.headers['page-language'], outgoing.getHeader('set-cookie')]
  }
  expect(look('/delete-account/confirm')[0]).toBe(false)
  expect(look('/delete-account', { rsc: '1' })[0]).toBe(false)
  expect(look('/delete-account?language=de')).toEqual([true, 'de', undefined])
  expect(look('/delete-account?language=xx&outcome=sent')).toEqual([true, undefined, undefined])
})

test('a language that is chosen on the page itself is the language of every page, and one of a link from elsewhere is not', () => {
  const kept = (site: string, more = '&chosen') => {
    const incoming = { url: `/delete-account?language=de${more}`, headers: { 'sec-fetch-site': site } }
    const outgoing = new ServerResponse(incoming as unknown as IncomingMessage)
    preparePlainPage(incoming as unknown as IncomingMessage, outgoing)
    return outgoing.getHeader('set-cookie')
  }
  expect(kept('same-origin')).toBe('language=de; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax')
  // The page that follows its form.
  expect(kept('same-origin', '&outcome=sent')).toBeUndefined()
  for (const site of ['same-site', 'cross-site', 'none']) expect(kept(site), site).toBeUndefined()
})
