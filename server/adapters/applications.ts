import { lookup } from 'node:dns/promises'
import http from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { SystemContext } from '@/domain/context'
import type { AppAnswer, AppRequest, Clock } from '@/domain/ports'
import type { Env } from '../env'
import { describeError, log } from '../watch/log'
import { isPublicAddress } from './public-address'

const MAX_CALL_MS = 10_000
const MAX_ANSWER_BYTES = 64 * 1024

interface Address {
  address: string
  family: number
}
/** All addresses of a host name. */
type Resolve = (hostname: string) => Promise<Address[]>

const resolveAll: Resolve = (hostname) => lookup(hostname, { all: true })

/** One POST: ten seconds in all, redirects not followed, the answer read no further than 64 KiB. */
export const createAppCaller =
  (
    clock: Clock,
    { production, privateEndpoints }: Pick<Env, 'production' | 'privateEndpoints'>,
    resolve = resolveAll,
  ): SystemContext['callApp'] =>
  async (request): Promise<AppAnswer> => {
    try {
      if (production && new URL(request.endpoint).protocol !== 'https:') throw problem('endpoint is not https')
      const { status, retryAfter } = await post(request, privateEndpoints ? resolve : publicOnly(resolve))
      const retryAfterMs = parseRetryAfter(retryAfter, clock.now())
      return { status, ...(retryAfterMs !== undefined && { retryAfterMs }) }
    } catch (error) {
      const { kind, code } = describeError(error)
      log().warn({ event: 'connected_app_unreachable', kind, code })
      return { status: 0, problem: code ?? kind }
    }
  }

/** Refuses a name as soon as one of its addresses is not public: which one is connected to is not ours to choose. */
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
}

/** Connects to the addresses that `resolve` gave, and to no others: the name is not looked up a second time. */
async function post({ endpoint, headers, body }: AppRequest, resolve: Resolve): Promise<Answered> {
  const url = new URL(endpoint)
  if (url.username || url.password) throw problem('credentials_in_endpoint')
  // A host that is an address already is not looked up, so it is checked here.
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host)) await resolve(host)
  const settings = {
    method: 'POST',
    headers: { 'User-Agent': 'user-account-service', ...headers },
    // A connection that is kept would outlive the check of its address.
    agent: false as const,
    lookup: toLookup(resolve),
  }
  return new Promise((settle, reject) => {
    const request = (url.protocol === 'https:' ? https : http).request(url, settings)
    const deadline = setTimeout(() => request.destroy(problem('timeout')), MAX_CALL_MS)
    let answered: Answered | undefined
    // The status has said all, whatever becomes of the body.
    const end = (error: Error) => (answered ? settle(answered) : reject(error))
    request.on('error', end)
    request.on('close', () => {
      clearTimeout(deadline)
      end(problem('no_answer'))
    })
    request.on('response', (response) => {
      answered = { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] }
      let bytes = 0
      response.on('error', end)
      response.on('data', (part: Buffer) => {
        bytes += part.length
        if (bytes >= MAX_ANSWER_BYTES) request.destroy()
      })
    })
    request.end(body)
  })
}

/** As the socket asks for it: all addresses, or the first where it wants one. */
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

/** Seconds or an HTTP date, as RFC 9110 has it. */
function parseRetryAfter(text: string | undefined, now: Date): number | undefined {
  if (!text) return undefined
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime())
}
