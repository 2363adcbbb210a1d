import { ApiError, ERRORS, noAnswer } from '@/contract/errors'
import { holdToken } from '../api/held-token'
import type { Calls } from '../api/load-contract'
import type { OwnAccount, PageToken } from './types'

// The contract and zod come with the first call.
const loadClient = () =>
  import('./embedded-client').catch(() => {
    throw noAnswer()
  })

/** So long a page of the adopter may take to give a token. */
const TOKEN_MS = 15_000

/** Fails as `fetch` does where nothing answers. */
const inTime = <T>(answer: Promise<T>): Promise<T> =>
  Promise.race([
    answer,
    new Promise<never>((_, reject) => {
      setTimeout(() => reject(new TypeError('pageToken did not answer in time.')), TOKEN_MS)
    }),
  ])

interface PageAccount {
  baseUrl: string
  pageToken: () => Promise<PageToken | null>
  /** Called with each token and the time of the last fresh sign-in, or without a time once that sign-in is too old. */
  onProof: (authenticatedAt: string | undefined) => void
  /** Called when the service does not have the account. */
  onGone: () => void
}

/** The calls of a page of the adopter. */
export function createCalls({ baseUrl, pageToken, onProof, onGone }: PageAccount) {
  /** An answer without a token may mean anything but that the session has ended, so the parts say that they keep trying. */
  async function askForToken() {
    try {
      const answer = await inTime(pageToken())
      if (answer === null) throw new ApiError('AUTH_001', ERRORS.AUTH_001.details, ERRORS.AUTH_001.status)
      const { page_token: value, expires_at: expiresAt, authenticated_at, error } = answer
      if (!value && error?.code === 'USER_001') {
        onGone()
        throw new ApiError('USER_001', error.details ?? '', 404)
      }
      if (!value) throw new Error(`pageToken gave no page_token: ${error?.details ?? 'see the answer of your backend'}`)
      onProof(authenticated_at)
      return { value, expiresAt }
    } catch (cause) {
      if (cause instanceof ApiError) throw cause
      // Only `fetch` fails so, where nothing answers.
      const isAway = cause instanceof TypeError
      // biome-ignore lint/suspicious/noConsole: the person reads that the service is away, and whoever builds the page has to learn why.
      if (!isAway) console.error(cause)
      const { details, status } = ERRORS.SERVER_002
      throw Object.assign(isAway ? noAnswer() : new ApiError('SERVER_002', details, status), { cause })
    }
  }
  const { token, forget, withToken } = holdToken(askForToken)
  const asPerson: typeof withToken = (makeCall) =>
    withToken(makeCall).catch((error) => {
      if (error instanceof ApiError && error.code === 'REAUTH_001') onProof(undefined)
      throw error
    })
  const callWith: Calls['callWith'] = async (...args) => (await loadClient()).callsOf(baseUrl)(...args)
  const call: Calls['call'] = (name, params, body) => asPerson((token) => callWith(token, name, params, body))
  const callContract: OwnAccount['call'] = (...args) =>
    asPerson(async (token) => (await loadClient()).clientOf(baseUrl, token)(...args))
  return {
    call,
    callWith,
    callContract,
    /** The next call asks for another token. */
    async renew() {
      forget()
      await token()
    },
  }
}
