import { decode, encode, type JWT, type JWTDecodeParams } from 'next-auth/jwt'
import { readCookie, toSetCookie } from '../http/cookies'
import { getEnv } from '../settings/env'

export const SESSION_COOKIE = 'next-auth.session-token'
/** The row of the session ends it earlier. */
export const sessionSeconds = () => Math.ceil(getEnv().limits.sessionLifetimeMs / 1000)

/** Tries every secret, so that cookies from before a rotation stay valid until they expire. */
export async function decodeCookie(params: Pick<JWTDecodeParams, 'token' | 'salt'>): Promise<JWT | null> {
  for (const secret of getEnv().authSecrets) {
    const token = await decode({ ...params, secret }).catch(() => null)
    if (token) return token
  }
  return null
}

/** The session that this browser's cookie names. */
export async function sessionOf(headers: Headers): Promise<string | undefined> {
  const token = readCookie(getEnv().appUrl, headers, SESSION_COOKIE)
  return token ? (await decodeCookie({ token }))?.sid : undefined
}

/** The cookie that next-auth itself would set for this session. */
export async function sessionCookie({ userId, sessionId }: { userId: string; sessionId: string }): Promise<string> {
  const { appUrl, authSecrets } = getEnv()
  const token = { sub: userId, sid: sessionId }
  const value = await encode({ token, secret: authSecrets[0] as string, maxAge: sessionSeconds() })
  return toSetCookie(appUrl, SESSION_COOKIE, value, sessionSeconds())
}
