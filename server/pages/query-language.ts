import type { IncomingMessage, ServerResponse } from 'node:http'
import { isLanguage } from '@/contract/languages'
import { languageCookie, REQUESTED_LANGUAGE } from './language-cookie'

/**
 * The query of the page for people without the app chooses its language, because the page works without a script, which the control in
 * the footer of other pages needs. A click on the page itself chooses for every page.
 */
export function takeLanguageOfQuery({ url = '', headers }: IncomingMessage, outgoing: ServerResponse): void {
  const { pathname, searchParams } = new URL(url, 'http://localhost')
  const language = searchParams.get('language')
  if (pathname !== '/delete-account' || !isLanguage(language)) return
  headers[REQUESTED_LANGUAGE] = language
  if (searchParams.has('chosen') && headers['sec-fetch-site'] === 'same-origin')
    outgoing.appendHeader('Set-Cookie', languageCookie(language))
}
