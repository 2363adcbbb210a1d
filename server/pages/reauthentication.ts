import type { Purpose } from '@/contract/access'
import { finishReauthentication, type Outcome, reauthenticationCookie } from '@/domain/sessions/reauthenticate'
import { logEventOf } from '../adapters/database-away'
import { clientIpOf } from '../http/client-ip'
import { readCookie, toSetCookie } from '../http/cookies'
import { getEnv } from '../settings/env'
import { systemContext } from '../system-context'
import { describeError, log } from '../watch/log'
import { sessionCookie, sessionOf } from './session-cookie'

const PAGES: Record<Purpose, string> = {
  change: '/settings/email',
  withdraw: '/settings/withdraw',
  token: '/settings/access-tokens',
  sessions: '/settings/sessions',
}

const stateOf = (request: Request) => new URL(request.url).searchParams.getAll('state')
/** What is no state of ours must not become part of a header. */
const cookieOf = (request: Request) =>
  reauthenticationCookie(stateOf(request).find((state) => /^rea_[\w-]+$/.test(state)) ?? '')

/** Whether the provider's answer belongs to a re-authentication and not to a sign-in, whose states next-auth creates. */
export const isReauthentication = (request: Request): boolean =>
  stateOf(request).some((state) => state.startsWith('rea_'))

/**
 * Handles the browser's return from the provider. It gets a new session if all was right, otherwise it keeps the old one and shows
 * a sentence.
 */
export async function answerReauthentication(request: Request): Promise<Response> {
  const { appUrl } = getEnv()
  const { headers } = request
  const ctx = systemContext()
  try {
    const outcome = await finishReauthentication(ctx, {
      answer: new URL(request.url).searchParams,
      cookie: readCookie(appUrl, headers, cookieOf(request)),
      sessionId: await sessionOf(headers),
      userAgent: headers.get('User-Agent') ?? '',
      ip: clientIpOf(headers),
    })
    logOutcome(outcome)
    return await pageAfter(request, outcome)
  } catch (error) {
    log().error({ event: logEventOf(error), ...describeError(error) })
    return redirect(request, `${PAGES.change}?unconfirmed=away`)
  }
}

function logOutcome(outcome: Outcome) {
  const { userId } = outcome
  if ('refusal' in outcome) log().warn({ event: 'reauthentication_refused', reason: outcome.refusal, userId })
  else log().info({ event: 'reauthenticated', purpose: outcome.purpose, userId })
}

async function pageAfter(request: Request, outcome: Outcome): Promise<Response> {
  const page = PAGES[outcome.purpose ?? 'change']
  if ('refusal' in outcome) return redirect(request, `${page}?unconfirmed=${FOR_PAGES[outcome.refusal] ?? 'failed'}`)
  const { sessionId, userId } = outcome
  return redirect(request, page, await sessionCookie({ sessionId, userId: userId ?? '' }))
}

/** The refusals that a person can act on; all others share one sentence. */
const FOR_PAGES: Partial<Record<string, string>> = {
  declined: 'declined',
  provider_away: 'away',
  other_person: 'other',
  not_fresh: 'unasked',
  too_weak: 'weak',
}

function redirect(request: Request, path: string, ...cookies: string[]): Response {
  const { appUrl } = getEnv()
  const response = new Response(null, {
    status: 303,
    headers: { Location: `${appUrl}${path}`, 'Cache-Control': 'no-store' },
  })
  for (const cookie of [...cookies, toSetCookie(appUrl, cookieOf(request), '', 0)]) {
    response.headers.append('Set-Cookie', cookie)
  }
  return response
}
