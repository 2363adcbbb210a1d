import { wordsOf } from '@/contract/guessable-password'
import { getEnv } from '../settings/env'

/** What a page tells of a new password while somebody types it; a page that a mailed link opens does not know the person. */
export function newPasswordRules(person?: { name: string; email: string }) {
  const { passwordMin: minLength, brand } = getEnv()
  return { minLength, words: wordsOf(brand.name, person) }
}
