import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { processState } from '../process-state'
import { getEnv } from '../settings/env'

/** The client's address: the peer's, or the X-Forwarded-For entry that the outermost of TRUSTED_PROXY_HOPS proxies added. */
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

/** The address in `ip`, `ip:port` or `[ip]:port`, else null. The port is dropped, because it differs with every connection of a client. */
function addressOf(entry: string): string | null {
  const ipv6 = IPV6_WITH_PORT.exec(entry)?.[1]
  if (ipv6 !== undefined) return isIP(ipv6) === 6 ? plain(ipv6) : null
  const address = IPV4_WITH_PORT.exec(entry)?.[1] ?? entry
  return isIP(address) ? plain(address) : null
}

export const markClientIp = (incoming: IncomingMessage, ip: string): void => {
  incoming.headers[processState.clientIpHeader] = ip
}

/** The address that the server entry found; unknown where Next runs alone. */
export const clientIpOf = (headers: Headers): string => headers.get(processState.clientIpHeader) || 'unknown'

const plain = (address: string) => address.replace(/^::ffff:(?=\d+\.)/, '')
