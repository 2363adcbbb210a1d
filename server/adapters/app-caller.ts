import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import http from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { isSuccess } from '@/domain/applications/webhook'
import type { SystemContext } from '@/domain/context'
import { MAX_CALL_MS } from '@/domain/limits/durations'
import type { AppAnswer, AppRequest, Clock } from '@/domain/ports'
import type { Env } from '../settings/env'
import { describeError, log } from '../watch/log'
import { isPublicAddress } from './public-address'

const MAX_ANSWER_BYTES = 64 * 1024

type EndpointSettings = Pick<Env, 'isProduction' | 'allowsPrivateEndpoints'>
/** All addresses of a host name. */
type Resolve = (hostname: string) => Promise<LookupAddress[]>

const resolveAll: Resolve = (hostname) => lookup(hostname, { all: true })

/** Refuses what a call refuses, as far as the URL alone shows it. */
export const createEndpointRule =
  ({ isProduction, allowsPrivateEndpoints }: EndpointSettings): SystemContext['problemOfEndpoint'] =>
  (endpoint) => {
    const url = URL.canParse(endpoint) ? new URL(endpoint) : null
    const protocols = isProduction ? ['https:'] : ['https:', 'http:']
    if (!url || !protocols.includes(url.protocol)) {
      return `endpoint must be a URL that begins with ${protocols.join('// or ')}//.`
    }
    if (url.username || url.password) return 'endpoint must hold no user name or password: no such URL is called.'
    const host = hostOf(url)
    const isPrivate = isIP(host) ? !isPublicAddress(host) : /(^|[.])localhost$/.test(host)
    return isPrivate && !allowsPrivateEndpoints ? 'endpoint must have a public address.' : null
  }

/** Without the brackets of an IPv6 address. */
const hostOf = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, '')

/** Sends one POST. It takes at most ten seconds, or less where asked, follows no redirect and reads at most 64 KiB of the answer. */
export const createAppCaller =
  (
    clock: Clock,
    { isProduction, allowsPrivateEndpoints }: EndpointSettings,
    resolve = resolveAll,
  ): SystemContext['callApp'] =>
  async (request): Promise<AppAnswer> => {
    try {
      if (isProduction && new URL(request.endpoint).protocol !== 'https:') throw problem('endpoint is not https')
      const { status, retryAfter, body } = await post(request, allowsPrivateEndpoints ? resolve : publicOnly(resolve))
      const retryAfterMs = parseRetryAfter(retryAfter, clock.now())
      if (request.about && !isSuccess({ status }))
        log().warn({ event: 'connected_app_unreachable', ...request.about, status })
      return { status, ...(retryAfterMs !== undefined && { retryAfterMs }), ...(body !== undefined && { body }) }
    } catch (error) {
      const { kind, code } = describeError(error)
      if (request.about) log().warn({ event: 'connected_app_unreachable', ...request.about, kind, code })
      return { status: 0, problem: code ?? kind }
    }
  }

/** Refuses a name when any of its addresses is not public, because the socket chooses which address it connects to. */
const publicOnly =
  (resolve: Resolve): Resolve =>
  async (hostname) => {
    const addresses = await resolve(hostname)
    if (!addresses.every(({ address }) => isPublicAddress(address))) throw problem('private_address')
    return addresses
  }

const problem = (code: string) => Object.assign(new Error(code), { code })

interface Answered {
  status: number
  retryAfter: string | undefined
  body?: string
}

/** Connects only to addresses that `resolve` returned. The name is not looked up a second time, which could give others. */
async function post({ endpoint, headers, body, bodyWithinMs }: AppRequest, resolve: Resolve): Promise<Answered> {
  const url = new URL(endpoint)
  if (url.username || url.password) throw problem('credentials_in_endpoint')
  // Node does not look up a host that is an IP address, so it is checked here.
  const host = hostOf(url)
  if (isIP(host)) await resolve(host)
  const settings = {
    method: 'POST',
    headers: { 'User-Agent': 'user-account-service', ...headers },
    // No keep-alive: a reused connection would skip the check of its address.
    agent: false as const,
    lookup: toLookup(resolve),
  }
  return new Promise((settle, reject) => {
    const request = (url.protocol === 'https:' ? https : http).request(url, settings)
    const deadline = setTimeout(() => request.destroy(problem('timeout')), bodyWithinMs ?? MAX_CALL_MS)
    let answered: Answered | undefined
    // Once the status is known, a failure while the body is read does not matter.
    const end = (error: Error) => (answered ? settle(answered) : reject(error))
    request.on('error', end)
    request.on('close', () => {
      clearTimeout(deadline)
      end(problem('no_answer'))
    })
    request.on('response', (response) => {
      answered = { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] }
      let bytes = 0
      const parts: Buffer[] = []
      response.on('error', end)
      response.on('data', (part: Buffer) => {
        bytes += part.length
        if (bytes >= MAX_ANSWER_BYTES) request.destroy()
        else if (bodyWithinMs !== undefined) parts.push(part)
      })
      response.on('end', () => {
        if (answered && bodyWithinMs !== undefined && bytes < MAX_ANSWER_BYTES)
          answered.body = Buffer.concat(parts).toString()
      })
    })
    request.end(body)
  })
}

/** Adapts `resolve` to the socket's lookup callback, which wants all addresses or the first. */
const toLookup =
  (resolve: Resolve): LookupFunction =>
  (hostname, { all }, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses
        if (!first) callback(problem('ENOTFOUND'), [])
        else if (all) callback(null, addresses)
        else callback(null, first.address, first.family)
      },
      (error) => callback(error, []),
    )
  }

/** Parses the header of RFC 9110: seconds or an HTTP date. */
function parseRetryAfter(text: string | undefined, now: Date): number | undefined {
  if (!text) return undefined
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime())
}
