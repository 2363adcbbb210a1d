import { ApiError, noAnswer } from '@/contract/errors'
import type { Calls } from '../api/load-contract'
import { serverNow } from '../ui/server-clock'
import type { PageToken } from './types'

interface Account {
  baseUrl: string
  pageToken: () => Promise<PageToken>
  /** Told with each token when the person last proved who they are, and without a time once that is too long ago for the service. */
  onProof: (authenticatedAt: string | undefined) => void
}

/** The calls of a page of the adopter. The token is in memory only; one that was refused is renewed once. */
export function callsOf({ baseUrl, pageToken, onProof }: Account) {
  let held: PageToken | undefined
  let asking: Promise<PageToken> | undefined

  async function token(): Promise<string> {
    if (held && Date.parse(held.expires_at) - serverNow() > 60_000) return held.page_token
    asking ??= pageToken().finally(() => {
      asking = undefined
    })
    held = await asking
    onProof(held.authenticated_at)
    return held.page_token
  }
  // The contract and zod come with the first call.
  const callWith: Calls['callWith'] = async (...asked) => {
    const { clientOf } = await import('./embedded-client').catch(() => {
      throw noAnswer()
    })
    return clientOf(baseUrl)(...asked)
  }
  const call: Calls['call'] = async (name, params, body) => {
    try {
      return await callWith(token, name, params, body)
    } catch (error) {
      if (error instanceof ApiError && error.code === 'REAUTH_001') onProof(undefined)
      if (!(error instanceof ApiError && error.code === 'AUTH_001' && error.status === 401)) throw error
      held = undefined
      return callWith(token, name, params, body)
    }
  }
  return {
    call,
    callWith,
    /** The next call asks for another token. */
    async renew() {
      held = undefined
      await token()
    },
  }
}
