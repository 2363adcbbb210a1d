import { AppError } from '@/contract/errors'
import { isLanguage } from '@/contract/languages'
import { requestWithdrawal as contract } from '@/contract/withdrawal-request'
import { requestWithdrawal } from '@/domain/withdrawal/request-withdrawal'
import { logEventOf } from '../adapters/database-away'
import { answer } from '../http/answer'
import { clientIpOf } from '../http/client-ip'
import { userAgentOf } from '../http/user-agent'
import { systemContext } from '../system-context'
import { describeError, log } from '../watch/log'
import { isSameOrigin } from './same-origin'

/** What the page says after its form was sent. The address is not in the URL, because URLs are kept. */
export const OUTCOMES = ['sent', 'malformed', 'limited', 'failed'] as const
type Outcome = (typeof OUTCOMES)[number]

/** The form of the page /delete-account, which has no script. */
export async function askForDeletion(request: Request): Promise<Response> {
  if (!isSameOrigin(request)) return answer(403, { error: 'Only from the page itself.' })
  const fields = new URLSearchParams(await request.text())
  const outcome = await ask((fields.get('email') ?? '').trim(), request.headers)
  const language = fields.get('language')
  const query = new URLSearchParams({ outcome, ...(isLanguage(language) && { language }) })
  return new Response(null, {
    status: 303,
    headers: { Location: `/delete-account?${query}#request`, 'Cache-Control': 'no-store' },
  })
}

async function ask(email: string, headers: Headers): Promise<Outcome> {
  const input = contract.body.safeParse({ email })
  if (!input.success) return 'malformed'
  try {
    const caller = { ip: clientIpOf(headers), userAgent: userAgentOf(headers) }
    await requestWithdrawal({ ...systemContext(), ...caller, buckets: [], linkToken: '' }, input.data)
    return 'sent'
  } catch (error) {
    if (error instanceof AppError) return error.code === 'RATE_001' ? 'limited' : 'failed'
    log().error({ event: logEventOf(error), ...describeError(error) })
    return 'failed'
  }
}
