import { isLanguage } from '@/contract/languages'
import { chooseAccountLanguage } from '@/domain/accounts/choose-language'
import { answer } from '../http/answer'
import { languageCookie } from './language-cookie'
import { isSameOrigin } from './same-origin'
import { pageContext } from './session'

/** The language control of the footer. This browser keeps the choice, and so does the account that is signed in. */
export async function chooseLanguage(request: Request): Promise<Response> {
  if (!isSameOrigin(request)) return answer(403, { error: 'Only from the page itself.' })
  const language = new URLSearchParams(await request.text()).get('language')
  if (!isLanguage(language)) return answer(400, { error: 'There is no such language.' })
  const ctx = await pageContext()
  if (ctx) await chooseAccountLanguage(ctx, language)
  const response = answer(200, { language, isForMails: Boolean(ctx) })
  response.headers.append('Set-Cookie', languageCookie(language))
  return response
}
