import type { EngineEvent } from '@/domain/ports'
import { inngest } from '@/inngest/client'
import { getEnv } from '../env'
import { refuseMalformed } from '../http/request-errors'
import { describeError, log } from '../watch/log'

const MOST_WAIT_MS = 5_000

/** Hands events to Inngest. */
export async function emit(events: EngineEvent[]): Promise<boolean> {
  const sending = inngest.send(events).then(
    () => true,
    (error) => {
      log().warn({ event: 'engine_unreachable', ...describeError(error) })
      return false
    },
  )
  // The client has no time-out of its own; an event that went through after all is known by its id.
  return Promise.race([sending, new Promise<false>((resolve) => setTimeout(resolve, MOST_WAIT_MS, false).unref())])
}

type Handlers = Record<'GET' | 'POST' | 'PUT', (request: never, context: never) => Promise<Response>>

/** Where no engine is configured there is nothing to call; where one is, the SDK takes signed calls only (in dev mode any). */
export function engineOnly<H extends Handlers>(handlers: H): H {
  const guard =
    (handle: Handlers['GET']): Handlers['GET'] =>
    async (request, context) =>
      // What cannot be read was not signed by the engine.
      getEnv().engine
        ? handle(request, context).catch(refuseMalformed(401))
        : new Response('Not found', { status: 404 })
  return { ...handlers, GET: guard(handlers.GET), POST: guard(handlers.POST), PUT: guard(handlers.PUT) }
}
