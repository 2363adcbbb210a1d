import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { type Env, getEnv } from '../env'
import { processState } from '../process-state'
import { log } from '../watch/log'

/** Forwarding headers count only as far as TRUSTED_PROXY_HOPS reaches; with 0 the peer itself is the client. */
export function clientIp(incoming: IncomingMessage): string {
  const peer = plain(incoming.socket.remoteAddress ?? '')
  const hops = getEnv().trustedProxyHops
  if (hops === 0) return peer
  const forwarded = String(incoming.headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean)
  return addressOf(forwarded.at(-hops) ?? '') ?? peer
}

const IPV4_WITH_PORT = /^([\d.]+):\d{1,5}$/
const IPV6_WITH_PORT = /^\[(.+)\]:\d{1,5}$/

/** Of `ip`, `ip:port` or `[ip]:port`; null for anything else. A port differs with every connection and would make one client many. */
function addressOf(entry: string): string | null {
  const ipv6 = IPV6_WITH_PORT.exec(entry)?.[1]
  if (ipv6 !== undefined) return isIP(ipv6) === 6 ? plain(ipv6) : null
  const address = IPV4_WITH_PORT.exec(entry)?.[1] ?? entry
  return isIP(address) ? plain(address) : null
}

/** Production stands behind a proxy for https; without a trusted hop, limits by client address count the whole world as one client. */
export function warnWithoutTrustedProxy({ production, trustedProxyHops }: Env): void {
  if (!production || trustedProxyHops > 0) return
  log().warn({
    event: 'no_trusted_proxy',
    hint: 'TRUSTED_PROXY_HOPS is 0: every client behind a reverse proxy counts as one address. Set it to the number of your proxies.',
  })
}

export const markClientIp = (incoming: IncomingMessage, ip: string): void => {
  incoming.headers[processState.clientIpHeader] = ip
}

/** What the server entry found; where Next runs alone nothing is known of the peer. */
export const clientIpOf = (headers: Headers): string => headers.get(processState.clientIpHeader) || 'unknown'

const plain = (address: string) => address.replace(/^::ffff:(?=\d+\.)/, '')
