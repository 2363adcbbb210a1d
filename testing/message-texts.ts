import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** The texts of a language, as the pages and mails have them. */
export const textsOf = (language: string) =>
  JSON.parse(readFileSync(`messages/${language}.json`, 'utf8')) as typeof import('@/messages/en.json')

/** The instance with an identity provider shows the pseudo texts in place of this language, as an adopter's own texts. */
export const PSEUDO_LANGUAGE = 'fr'

/** What stays as it is: values, tags, and the frame of a plural. */
export const FRAME = /(\{\w+, plural, one \{|\} other \{|\}\}|\{\w+\}|<\/?\w+>|#)/

// Every second letter stands twice, which is 40 % more even with the spaces. Between the two marks every letter is written from right
// to left, so that an address in a sentence stands as it would in Arabic.
const longer = (word: string) =>
  `\u202e${word.replace(/(\p{L})(\p{L}?)/gu, '$1$1$2').replace(/[aceinou]/gi, (letter) => `${letter}\u0301`.normalize('NFC'))}\u202c`

/** An English text as in a language that needs more room and is written from right to left. */
const pseudo = (text: string): string =>
  `[${text
    .split(FRAME)
    .map((part, index) => (index % 2 ? part : part.replace(/\p{L}+/gu, longer)))
    .join('')}]`

const pseudoTextsOf = <Texts extends object>(texts: Texts): Texts =>
  Object.fromEntries(
    Object.entries(texts).map(([key, value]) => [
      key,
      typeof value === 'string' ? pseudo(value) : pseudoTextsOf(value),
    ]),
  ) as Texts

export const pseudoTexts = pseudoTextsOf(textsOf('en'))

/** Gives a directory for MESSAGES_DIR. */
export function writePseudoTexts(): string {
  const directory = path.resolve('.data/e2e-pseudo')
  mkdirSync(directory, { recursive: true })
  writeFileSync(path.join(directory, `${PSEUDO_LANGUAGE}.json`), JSON.stringify(pseudoTexts))
  return directory
}
