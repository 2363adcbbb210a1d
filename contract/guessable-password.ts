import { lengthOf } from './define'
import { MAX_NEW_PASSWORD_LENGTH } from './vocabulary'

/** The form that is hashed, so that it does not matter which keyboard composed a character. */
export const normalisedPassword = (password: string): string => password.normalize('NFKC')

/** Words that are no password of this account: the product's name, the person's name, the address and what stands before its @. */
export const wordsOf = (product: string, person?: { name: string; email: string }): string[] =>
  person ? [product, person.name, person.email, person.email.slice(0, person.email.lastIndexOf('@'))] : [product]

/** `length` is judged by what is hashed. The other names are those of `RULES`. */
export type PasswordProblem = 'length' | 'commonPassword' | 'ownWordAsPassword'

interface PasswordRules {
  minLength: number
  words: readonly string[]
  common: ReadonlySet<string>
}

/** Null if the password is acceptable. Pages and service judge by this, so that a page can say it before a password is sent. */
export function problemOfPassword(
  password: string,
  { minLength, words, common }: PasswordRules,
): PasswordProblem | null {
  const [typed, length] = [lengthOf(password), lengthOf(normalisedPassword(password))]
  if (length < minLength || Math.max(typed, length) > MAX_NEW_PASSWORD_LENGTH) return 'length'
  if (common.has(folded(password))) return 'commonPassword'
  const bare = withoutBlanks(password)
  return words.some((word) => withoutBlanks(word) === bare) ? 'ownWordAsPassword' : null
}

const folded = (text: string) => normalisedPassword(text).toLowerCase()
const withoutBlanks = (text: string) => folded(text).replace(/\s/gu, '')

let list: Promise<ReadonlySet<string>> | undefined

/** The most used passwords, folded. The file of 36 KB is read once, when a new password is first judged. */
export function commonPasswords(): Promise<ReadonlySet<string>> {
  list ??= readList().catch((error) => {
    list = undefined
    throw error
  })
  return list
}

async function readList(): Promise<ReadonlySet<string>> {
  const { gzip } = (await import('./common-passwords.json')).default
  const bytes = Uint8Array.from(atob(gzip), (character) => character.charCodeAt(0))
  const text = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text()
  return new Set((await text).split('\n'))
}
