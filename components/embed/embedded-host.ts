import { ApiError, noAnswer } from '@/contract/errors'
import type { Calls } from '../api/load-contract'
import { serverNow } from '../ui/server-clock'
import type { OwnAccount, PageToken } from './types'

// The contract and zod come with the first call.
const loadClient = () =>
  import('./embedded-client').catch(() => {
    throw noAnswer()
  })

interface PageAccount {
  baseUrl: string
  pageToken: () => Promise<PageToken>
  /** Told with each token when the person last proved who they are, and without a time once that is too long ago for the service. */
  onProof: (authenticatedAt: string | undefined) => void
}

/** The calls of a page of the adopter. The token is in memory only. */
export function createCalls({ baseUrl, pageToken, onProof }: PageAccount) {
  let held: PageToken | undefined
  let asking: Promise<PageToken> | undefined

  /** Where the page gets no token, the person is told to try again, and not that their session has ended. */
  async function askForToken(): Promise<PageToken> {
    try {
      const given = await pageToken()
      if (!given.page_token) throw new Error('pageToken gave no page_token.')
      return given
    } catch (cause) {
      throw Object.assign(noAnswer(), { cause })
    }
  }
  async function token(): Promise<string> {
    if (held && Date.parse(held.expires_at) - serverNow() > 60_000) return held.page_token
    asking ??= askForToken().finally(() => {
      asking = undefined
    })
    held = await asking
    onProof(held.authenticated_at)
    return held.page_token
  }
  /** A token that was refused is renewed once. */
  async function withToken<T>(ask: (accessToken: () => Promise<string>) => Promise<T>): Promise<T> {
    try {
      return await ask(token)
    } catch (error) {
      if (error instanceof ApiError && error.code === 'REAUTH_001') onProof(undefined)
      if (!(error instanceof ApiError && error.code === 'AUTH_001' && error.status === 401)) throw error
      held = undefined
      return ask(token)
    }
  }
  const callWith: Calls['callWith'] = async (...asked) => (await loadClient()).callsOf(baseUrl)(...asked)
  const call: Calls['call'] = (name, params, body) => withToken((token) => callWith(token, name, params, body))
  const callContract: OwnAccount['call'] = (...asked) =>
    withToken(async (token) => (await loadClient()).clientOf(baseUrl, token)(...asked))
  return {
    call,
    callWith,
    callContract,
    /** The next call asks for another token. */
    async renew() {
      held = undefined
      await token()
    },
  }
}
