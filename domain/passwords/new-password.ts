import { AppError, passwordLength, RULES } from '@/contract/errors'
import { commonPasswords, problemOfPassword, wordsOf } from '@/contract/guessable-password'
import type { SystemContext } from '../context'

/** Refuses with PASSWORD_001 what is too short or easy to guess for this person. Ask it before a transaction, because it may wait for 2 s. */
export async function requireGoodPassword(
  { newPasswords, warn }: SystemContext,
  password: string,
  person: { name: string; email: string },
): Promise<void> {
  const { minLength, product, breaches } = newPasswords
  const rules = { minLength, words: wordsOf(product, person), common: await commonPasswords() }
  const problem = problemOfPassword(password, rules)
  if (problem === 'length') throw new AppError('PASSWORD_001', `new_password ${passwordLength(minLength)}.`)
  if (problem) throw new AppError('PASSWORD_001', RULES[problem])
  const isBreached = breaches && (await breaches.has(password))
  if (isBreached) throw new AppError('PASSWORD_001', RULES.breachedPassword)
  if (breaches && isBreached === null) warn('breached_passwords_away', {})
}
