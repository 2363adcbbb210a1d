import { type IncomingMessage, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { isLanguage } from '@/contract/languages'
import { languageCookie, REQUESTED_LANGUAGE } from './language-cookie'

/** The page for people without the app has no script, so that it is light and works with scripts off. */
const isPlain = (path: string) => path === '/delete-account'

/**
 * Whether the page needs no script. Its query chooses its language, because the control in the footer needs one; a click on the page
 * itself chooses for every page.
 */
export function preparePlainPage({ url = '', headers }: IncomingMessage, outgoing: ServerResponse): boolean {
  const { pathname, searchParams } = new URL(url, 'http://localhost')
  if (!isPlain(pathname) || headers.rsc) return false
  const language = searchParams.get('language')
  if (isLanguage(language)) {
    headers[REQUESTED_LANGUAGE] = language
    if (searchParams.has('chosen') && headers['sec-fetch-site'] === 'same-origin')
      outgoing.appendHeader('Set-Cookie', languageCookie(language))
  }
  return true
}

/** Sends the page whole and without the scripts that Next adds to every page. */
export function leaveScriptsOut(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const takesGzip = /\bgzip\b/.test(String(incoming.headers['accept-encoding'] ?? ''))
  // Next would send the page compressed.
  delete incoming.headers['accept-encoding']
  const parts: Buffer[] = []
  const keep = (part: unknown, encoding?: unknown) => {
    if (typeof part === 'string')
      parts.push(Buffer.from(part, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8'))
    else if (part instanceof Uint8Array) parts.push(Buffer.from(part))
  }
  const end = outgoing.end.bind(outgoing)
  outgoing.flushHeaders = () => {}
  // The headers are sent at the end, when the length is known. Next sets them one by one, and its compression begins to send them early.
  outgoing.writeHead = (status) => {
    outgoing.statusCode = status
    return outgoing
  }
  outgoing.write = ((...given: unknown[]) => {
    keep(given[0], given[1])
    const done = given.find(isCallback)
    if (done) process.nextTick(done)
    return true
  }) as typeof outgoing.write
  outgoing.end = ((...given: unknown[]) => {
    keep(given[0], given[1])
    const done = given.find(isCallback)
    if (done) outgoing.once('finish', done)
    const body = Buffer.concat(parts)
    outgoing.writeHead = ServerResponse.prototype.writeHead
    const isPage = String(outgoing.getHeader('content-type') ?? '').startsWith('text/html')
    if (!isPage) return end(body)
    const page = Buffer.from(withoutScripts(body.toString()))
    const sent = takesGzip ? gzipSync(page) : page
    if (takesGzip) outgoing.setHeader('Content-Encoding', 'gzip')
    outgoing.removeHeader('etag')
    outgoing.setHeader('Content-Length', sent.length)
    return end(sent)
  }) as typeof outgoing.end
}

const isCallback = (one: unknown): one is () => void => typeof one === 'function'

const SCRIPTS = /<script\b[^>]*>.*?<\/script>|<link\b(?=[^>]*\bas="script")[^>]*>/gs

export const withoutScripts = (html: string): string => html.replaceAll(SCRIPTS, '')
