import type { CallOptions } from '@/contract/client'
import { ApiError } from '@/contract/errors'
import { isAway, isUnanswered } from './error-texts'

const REPEAT_MS = 3_000

/**
 * Makes a call until there is an answer. One whose answer was lost may have had its effect, and the same call with the same key gets that
 * answer, without a second effect.
 */
export async function untilAnswered<Answer>(send: (options: CallOptions) => Promise<Answer>): Promise<Answer> {
  const idempotencyKey = newKey()
  // What a browser without a network could not send must not have its effect later.
  const wasOnline = navigator.onLine
  for (;;) {
    try {
      return await send({ idempotencyKey })
    } catch (error) {
      if (!wasOnline || !(isLost(error) || isUnderWay(error))) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, REPEAT_MS))
  }
}

/** Not randomUUID(), which pages without TLS lack. */
const newKey = () => crypto.getRandomValues(new Uint32Array(4)).join('-')

/** A session that has ended gives no answer either, and leads to the sign-in. */
const isLost = (error: unknown) => isAway(error) && isUnanswered(error)

/** The call before this one has not finished. */
const isUnderWay = (error: unknown) => error instanceof ApiError && error.code === 'REQUEST_007'
