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

class TooLate extends Error {}

function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout>
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TooLate('pageToken did not answer in time.')), TOKEN_MS)
  })
  return Promise.race([answer, end]).finally(() => clearTimeout(timer))
}

interface PageAccount {
  baseUrl: string
  pageToken: () => Promise<PageToken | null>
  /** Called with each token and the time of the last fresh sign-in, or without a time once that sign-in is too old. */
  onProof: (authenticatedAt: string | undefined) => void
  /** Called with whether the service has the account, when it tells. */
  onFound: (isFound: boolean) => void
}

/** The calls of a page of the adopter. */
export function createCalls({ baseUrl, pageToken, onProof, onFound }: PageAccount) {
  /** Any other answer without a token does not mean that the session has ended, so the parts say that they keep trying. */
  async function askForToken() {
    try {
      const answer = await inTime(pageToken())
      if (answer === null) {
        // The forms offer to sign in again.
        onProof(undefined)
        throw new ApiError('AUTH_001', ERRORS.AUTH_001.details, 0)
      }
      const { page_token: value, expires_at: expiresAt, authenticated_at, error } = answer ?? {}
      if (!value && error?.code === 'USER_001') {
        onFound(false)
        throw new ApiError('USER_001', error.details ?? '', 404)
      }
      if (!value) throw new Error(`pageToken gave no page_token: ${error?.details ?? 'see the answer of your backend'}`)
      onFound(true)
      onProof(authenticated_at)
      return { value, expiresAt }
    } catch (cause) {
      if (cause instanceof ApiError) throw cause
      // So fails `fetch`, where nothing answers.
      const isUnreached = cause instanceof TypeError
      const isAway = isUnreached || cause instanceof TooLate
      // biome-ignore lint/suspicious/noConsole: the person reads that the service is away, and whoever builds the page has to learn why.
      if (!isUnreached) console.error('pageToken failed:', cause)
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
  const call: Calls['call'] = (...args) => asPerson((token) => callWith(token, ...args))
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
