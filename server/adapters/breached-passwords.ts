import { createHash } from 'node:crypto'
import { normalisedPassword } from '@/contract/guessable-password'
import { minute } from '@/domain/limits/durations'
import type { BreachedPasswords } from '@/domain/ports'

/** Somebody waits for the answer, so the password is taken without one. */
const MAX_WAIT_MS = 2_000
/** Ranges are padded to about a thousand lines of 40 characters. */
const MAX_ANSWER_BYTES = 512 * 1024

/** Beyond them a password is taken without an answer, so that no burst of tries becomes a burst of calls. */
const MAX_CALLS = 8
/** Whoever tries one password again and again makes one call. */
const KEPT_MS = 5 * minute
const MAX_KEPT = 200

/** Asks a service like Have I Been Pwned for the range of five characters of the hash, so that it never learns which password is meant. */
export function createBreachedPasswords(url: string, now: () => number = Date.now): BreachedPasswords {
  const kept = new Map<string, { range: string; until: number }>()
  let calls = 0

  async function rangeOf(prefix: string): Promise<string | null> {
    const known = kept.get(prefix)
    if (known && known.until > now()) return known.range
    if (calls >= MAX_CALLS) return null
    calls++
    try {
      const range = await readRange(`${url}/range/${prefix}`).catch(() => null)
      if (range !== null) keep(prefix, range)
      return range
    } finally {
      calls--
    }
  }

  function keep(prefix: string, range: string) {
    kept.delete(prefix)
    const [oldest] = kept.keys()
    if (oldest !== undefined && kept.size >= MAX_KEPT) kept.delete(oldest)
    kept.set(prefix, { range, until: now() + KEPT_MS })
  }

  return {
    async has(password) {
      const hash = createHash('sha1').update(normalisedPassword(password)).digest('hex').toUpperCase()
      const range = await rangeOf(hash.slice(0, 5))
      // Padding is made of lines with a count of 0.
      return range === null ? null : new RegExp(`^${hash.slice(5)}:0*[1-9][0-9]*\\s*$`, 'im').test(range)
    },
  }
}

async function readRange(url: string): Promise<string | null> {
  const answer = await fetch(url, {
    headers: { 'Add-Padding': 'true', 'User-Agent': 'user-account-service' },
    // Another host would learn the range.
    redirect: 'error',
    signal: AbortSignal.timeout(MAX_WAIT_MS),
  })
  if (!answer.ok) {
    await answer.body?.cancel()
    return null
  }
  let text = ''
  for await (const part of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part
    if (text.length > MAX_ANSWER_BYTES) return null
  }
  return text
}
