import { headers } from 'next/headers'
import { isIncompleteAddress, MAX_ADDRESS_LENGTH } from '@/contract/address'
import { AppError } from '@/contract/errors'
import { isLanguage } from '@/contract/languages'
import { requestWithdrawal as contract } from '@/contract/withdrawal-request'
import { requestWithdrawal } from '@/domain/withdrawal/request-withdrawal'
import { logEventOf } from '../adapters/database-away'
import { answer } from '../http/answer'
import { clientIpOf } from '../http/client-ip'
import { readCookie, toSetCookie } from '../http/cookies'
import { userAgentOf } from '../http/user-agent'
import { getEnv } from '../settings/env'
import { systemContext } from '../system-context'
import { describeError, log } from '../watch/log'
import { isSameOrigin } from './same-origin'

/** Holds what was typed at /delete-account for the page that follows, and not its URL, because URLs are kept. */
const TYPED_COOKIE = 'deletion-address'
const TYPED_KEPT_S = 5 * 60

/** What the page says after its form was sent. */
export const OUTCOMES = ['sent', 'incomplete', 'malformed', 'limited', 'failed'] as const
type Outcome = (typeof OUTCOMES)[number]

/** The form of the page /delete-account, which the browser sends itself. */
export async function askForDeletion(request: Request): Promise<Response> {
  if (!isSameOrigin(request)) return answer(403, { error: 'Only from the page itself.' })
  const fields = new URLSearchParams(await request.text())
  const typed = (fields.get('email') ?? '').trim()
  const outcome = await ask(typed, request.headers)
  const language = fields.get('language')
  const query = new URLSearchParams({ outcome, ...(isLanguage(language) && { language }) })
  const kept = Buffer.from(typed.slice(0, MAX_ADDRESS_LENGTH)).toString('base64url')
  return new Response(null, {
    status: 303,
    headers: {
      // The field to correct, or the answer, takes the focus, which a browser gives to none where the URL names a place.
      Location: `/delete-account?${query}`,
      'Cache-Control': 'no-store',
      'Set-Cookie': toSetCookie(getEnv().appUrl, TYPED_COOKIE, kept, TYPED_KEPT_S),
    },
  })
}

/** What was typed, for five minutes. */
export async function typedAddress(): Promise<string | undefined> {
  const kept = readCookie(getEnv().appUrl, await headers(), TYPED_COOKIE)
  return kept && Buffer.from(kept, 'base64url').toString()
}

async function ask(email: string, sent: Headers): Promise<Outcome> {
  const input = contract.body.safeParse({ email })
  if (!input.success) return isIncompleteAddress(email) ? 'incomplete' : 'malformed'
  try {
    const caller = { ip: clientIpOf(sent), userAgent: userAgentOf(sent) }
    await requestWithdrawal({ ...systemContext(), ...caller, buckets: [], linkToken: '' }, input.data)
    return 'sent'
  } catch (error) {
    if (error instanceof AppError) return error.code === 'RATE_001' ? 'limited' : 'failed'
    log().error({ event: logEventOf(error), ...describeError(error) })
    return 'failed'
  }
}
