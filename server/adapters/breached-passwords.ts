import { createHash } from 'node:crypto'
import { normalisedPassword } from '@/contract/guessable-password'
import type { BreachedPasswords } from '@/domain/ports'

/** Somebody waits for the answer, so the password is taken without one. */
const MAX_WAIT_MS = 2_000
/** Ranges are padded to about a thousand lines of 40 characters. */
const MAX_ANSWER_BYTES = 512 * 1024

/** Asks a service like Have I Been Pwned for the range of five characters of the hash, so that it never learns which password is meant. */
export const createBreachedPasswords = (url: string): BreachedPasswords => ({
  async has(password) {
    const hash = createHash('sha1').update(normalisedPassword(password)).digest('hex').toUpperCase()
    const range = await readRange(`${url}/range/${hash.slice(0, 5)}`).catch(() => null)
    // Padding is made of lines with a count of 0.
    return range === null ? null : new RegExp(`^${hash.slice(5)}:0*[1-9][0-9]*\\s*$`, 'im').test(range)
  },
})

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
