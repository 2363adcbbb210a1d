import { hash } from 'node:crypto'

const WORDS_A_SLOT = 3
const FIRST_SLOTS = 1 << 12

/**
 * Finds the first line that had a text. A line costs 24 to 48 bytes, however long its text is, because only 64 bits of the text's
 * hash are kept.
 */
export class SeenTexts {
  #words = new Uint32Array(FIRST_SLOTS * WORDS_A_SLOT)
  #count = 0

  /** The first line with this text, or `line` itself if no line had it. Lines count from 1. */
  firstLineOf(text: string, line: number): number {
    const digest = hash('sha256', text, 'buffer')
    if ((this.#count + 1) * 2 > this.#words.length / WORDS_A_SLOT) this.#grow()
    return this.#put(digest.readUInt32LE(0), digest.readUInt32LE(4), line)
  }

  #put(low: number, high: number, line: number): number {
    const slots = this.#words.length / WORDS_A_SLOT
    for (let slot = low & (slots - 1); ; slot = (slot + 1) & (slots - 1)) {
      const at = slot * WORDS_A_SLOT
      const first = this.#words[at + 2] as number
      if (first !== 0 && (this.#words[at] !== low || this.#words[at + 1] !== high)) continue
      if (first !== 0) return first
      this.#words.set([low, high, line], at)
      this.#count++
      return line
    }
  }

  #grow(): void {
    const old = this.#words
    this.#words = new Uint32Array(old.length * 2)
    this.#count = 0
    for (let at = 0; at < old.length; at += WORDS_A_SLOT) {
      const [low, high, line] = old.subarray(at, at + WORDS_A_SLOT) as unknown as [number, number, number]
      if (line !== 0) this.#put(low, high, line)
    }
  }
}
