import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { getEnv } from './env'

const shared = globalThis as { __clientIpHeader?: string }
shared.__clientIpHeader ??= `x-client-ip-${randomUUID()}`
/** Set by the server entry on every request, under a name that no client knows: where Next runs alone nobody else sets it. */
const CLIENT_IP = shared.__clientIpHeader

/** Forwarding headers count only as far as TRUSTED_PROXY_HOPS reaches; with 0 the peer itself is the client. */
export function clientIp(incoming: IncomingMessage): string {
  const peer = plain(incoming.socket.remoteAddress ?? '')
  const hops = getEnv().trustedProxyHops
  if (hops === 0) return peer
  const forwarded = String(incoming.headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((part) => plain(part.trim()))
    .filter(Boolean)
  return forwarded.at(-hops) ?? peer
}

export const markClientIp = (incoming: IncomingMessage, ip: string): void => {
  incoming.headers[CLIENT_IP] = ip
}

/** What the server entry found; where Next runs alone nothing is known of the peer. */
export const clientIpOf = (headers: Headers): string => headers.get(CLIENT_IP) || 'unknown'

const plain = (address: string) => address.replace(/^::ffff:(?=\d+\.)/, '')
