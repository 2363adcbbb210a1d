import type { CallOptions } from '@/contract/client'
import { ApiError, noAnswer } from '@/contract/errors'
import { rule } from '../forms/form-rule'
import { announce, useFact } from '../ui/page-fact'
import { isUnanswered, isUnreached } from './error-texts'

const REPEAT_MS = 3_000

/** How often calls that are still under way were repeated. */
let repeated = 0

function count(more: number) {
  repeated += more
  announce()
}

/**
 * Makes a call until there is an answer. One whose answer was lost may have had its effect, and the same call with the same key gets that
 * answer, without a second effect.
 */
export async function untilAnswered<Answer>(send: (options: CallOptions) => Promise<Answer>): Promise<Answer> {
  const idempotencyKey = newKey()
  // What a browser without a network could not send must not have its effect later.
  const wasOnline = navigator.onLine
  let repeats = 0
  try {
    for (;;) {
      try {
        return await send({ idempotencyKey })
      } catch (error) {
        if (!wasOnline && isUnreached(error)) throw noAnswer(rule('notSent'))
        if (!wasOnline || !(isUnanswered(error) || isUnderWay(error))) throw error
      }
      repeats++
      count(1)
      await new Promise((resolve) => setTimeout(resolve, REPEAT_MS))
    }
  } finally {
    count(-repeats)
  }
}

/** Whether a call of this page is repeated, from its first lost answer to its end. */
export const useIsRepeating = () => useFact(() => repeated > 0, false)

/** Not randomUUID(), which pages without TLS lack. */
const newKey = () => crypto.getRandomValues(new Uint32Array(4)).join('-')

/** The call before this one has not finished. */
const isUnderWay = (error: unknown) => error instanceof ApiError && error.code === 'REQUEST_007'
