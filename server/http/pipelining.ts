import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Browsers and proxies wait for the answer before they send the next request of a connection; other clients need no more than this. */
const MAX_UNANSWERED = 32

const unanswered = new WeakMap<Socket, number>()

/**
 * Cuts off a connection with too many unanswered requests, or with answers that its client does not read, because they would fill
 * the memory. Returns whether the connection is cut off, also for requests that were read before.
 */
export function cutOffOverload({ socket }: IncomingMessage, outgoing: ServerResponse): boolean {
  if (socket.destroyed) return true
  const open = (unanswered.get(socket) ?? 0) + 1
  unanswered.set(socket, open)
  outgoing.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1))
  if (open > MAX_UNANSWERED) socket.destroy()
  return socket.destroyed
}
