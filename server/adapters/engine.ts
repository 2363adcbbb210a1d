import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineEvent } from '@/domain/ports'
import { answerInvalidJson } from '../http/invalid-json'
import { getEnv } from '../settings/env'
import { describeError, log } from '../watch/log'
import { inngest } from './inngest-client'

const MAX_WAIT_MS = 5_000

export async function emit(events: EngineEvent[]): Promise<boolean> {
  const sending = inngest.send(events).then(
    () => true,
    (error) => {
      log().warn({ event: 'engine_unreachable', ...describeError(error) })
      return false
    },
  )
  // The client has no timeout of its own. An event that arrives later than ours is recognised by its id.
  return Promise.race([sending, sleep(MAX_WAIT_MS, false, { ref: false })])
}

type Handlers = Record<'GET' | 'POST' | 'PUT', (request: never, context: never) => Promise<Response>>

/** Answers 404 where no engine is configured. Otherwise the SDK accepts signed calls only (in dev mode all calls). */
export function engineOnly<H extends Handlers>(handlers: H): H {
  const guard =
    (handle: Handlers['GET']): Handlers['GET'] =>
    async (request, context) =>
      // A body that cannot be parsed was not signed by the engine.
      getEnv().hasEngine
        ? handle(request, context).catch(answerInvalidJson(401))
        : new Response('Not found', { status: 404 })
  return { ...handlers, GET: guard(handlers.GET), POST: guard(handlers.POST), PUT: guard(handlers.PUT) }
}
