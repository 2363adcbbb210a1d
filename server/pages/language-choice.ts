import { isLanguage } from '@/contract/languages'
import { chooseAccountLanguage } from '@/domain/accounts/choose-language'
import { answer } from '../http/answer'
import { getEnv } from '../settings/env'
import { LANGUAGE_COOKIE } from './language-cookie'
import { isSameOrigin } from './same-origin'
import { pageContext } from './session'

const YEAR_S = 365 * 24 * 60 * 60

/** The language control of the footer. This browser keeps the choice, and so does the account that is signed in. */
export async function chooseLanguage(request: Request): Promise<Response> {
  if (!isSameOrigin(request)) return answer(403, { error: 'Only from the page itself.' })
  const language = new URLSearchParams(await request.text()).get('language')
  if (!isLanguage(language)) return answer(400, { error: 'There is no such language.' })
  const ctx = await pageContext()
  if (ctx) await chooseAccountLanguage(ctx, language)
  const secure = getEnv().appUrl.startsWith('https:') ? '; Secure' : ''
  const response = answer(200, { language })
  response.headers.append(
    'Set-Cookie',
    `${LANGUAGE_COOKIE}=${language}; Path=/; Max-Age=${YEAR_S}; HttpOnly; SameSite=Lax${secure}`,
  )
  return response
}
