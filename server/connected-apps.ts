import type { AppAnswer, Clock, SystemContext } from '@/domain/context'
import { getEnv } from './env'
import { describeError, log } from './log'

const TIME_OUT_MS = 10_000
const MOST_BYTES = 64 * 1024

/** One POST: ten seconds in all, redirects not followed, the answer read no further than 64 KiB. */
export const createAppCaller =
  (clock: Clock): SystemContext['callApp'] =>
  async ({ endpoint, headers, body }): Promise<AppAnswer> => {
    if (getEnv().production && !endpoint.startsWith('https:')) return { status: 0, problem: 'endpoint is not https' }
    try {
      const signal = AbortSignal.timeout(TIME_OUT_MS)
      const response = await fetch(endpoint, { method: 'POST', headers, body, signal, redirect: 'manual' })
      // The status has said all, whatever becomes of the body.
      await readUpTo(MOST_BYTES, response.body).catch(() => {})
      const retryAfterMs = parseRetryAfter(response.headers.get('Retry-After'), clock.now())
      return { status: response.status, ...(retryAfterMs !== undefined && { retryAfterMs }) }
    } catch (error) {
      const { kind, code } = describeError(error instanceof Error && error.cause ? error.cause : error)
      log().warn({ event: 'connected_app_unreachable', kind, code })
      return { status: 0, problem: code ?? kind }
    }
  }

async function readUpTo(most: number, stream: ReadableStream<Uint8Array> | null) {
  const reader = stream?.getReader()
  let size = 0
  for (let part = await reader?.read(); part && !part.done && size <= most; part = await reader?.read()) {
    size += part.value.byteLength
  }
  await reader?.cancel()
}

/** Seconds or an HTTP date, as RFC 9110 has it. */
function parseRetryAfter(text: string | null, now: Date): number | undefined {
  if (!text) return undefined
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime())
}
