import type { Language } from '@/contract/languages'
import { getEnv } from '../settings/env'

/** Keeps the choice of a browser without an account. */
export const LANGUAGE_COOKIE = 'language'

/** The language that the query of a page asks for. It comes before the account's own. */
export const REQUESTED_LANGUAGE = 'page-language'

const YEAR_S = 365 * 24 * 60 * 60

export function languageCookie(language: Language): string {
  const secure = getEnv().appUrl.startsWith('https:') ? '; Secure' : ''
  return `${LANGUAGE_COOKIE}=${language}; Path=/; Max-Age=${YEAR_S}; HttpOnly; SameSite=Lax${secure}`
}
