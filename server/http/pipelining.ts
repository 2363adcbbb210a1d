import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Browsers and proxies send the next request of a connection after the answer; what does not wait for it needs no more than this. */
const MAX_UNANSWERED = 32

const unanswered = new WeakMap<Socket, number>()

/**
 * Cuts a connection off that has more requests unanswered, or answers that were not taken, than anybody needs: they would pile up in
 * memory. True also for its requests that were read before it was cut off.
 */
export function isCutOff({ socket }: IncomingMessage, outgoing: ServerResponse): boolean {
  const open = (unanswered.get(socket) ?? 0) + 1
  unanswered.set(socket, open)
  outgoing.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1))
  if (open > MAX_UNANSWERED) socket.destroy()
  return socket.destroyed
}
