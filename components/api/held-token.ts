import { ApiError } from '@/contract/errors'
import { serverNow } from '../ui/server-clock'

interface Token {
  value: string
  expiresAt: string
}

/** Holds a token in this module's memory only, because other scripts and later visitors could read any storage. */
export function holdToken(ask: () => Promise<Token>) {
  let held: Token | undefined
  let asking: Promise<Token> | undefined

  async function token(): Promise<string> {
    if (held && Date.parse(held.expiresAt) - serverNow() > 60_000) return held.value
    asking ??= ask().finally(() => {
      asking = undefined
    })
    held = await asking
    return held.value
  }

  /** The next call asks for another token. */
  function forget() {
    held = undefined
  }

  /** Makes a call with the token. A token that was refused is renewed once. */
  async function withToken<T>(makeCall: (accessToken: () => Promise<string>) => Promise<T>): Promise<T> {
    try {
      return await makeCall(token)
    } catch (error) {
      const isRefused = error instanceof ApiError && error.code === 'AUTH_001' && error.status === 401
      if (!isRefused || !held) throw error
      forget()
      return makeCall(token)
    }
  }

  return { token, forget, withToken }
}
