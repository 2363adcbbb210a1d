/**
 * next-auth keeps one sign-in at the identity provider in each browser. A person who begins in two tabs would finish in neither, so
 * each attempt has copies of the cookies under names of its own, which begin its state.
 */
const CHECKS = /^(?:__Host-)?next-auth\.(?:state|nonce|pkce\.code_verifier)$/
const COPY = /^((?:__Host-)?next-auth\.(?:state|nonce|pkce\.code_verifier))\.([\w-]{16})$/
/** A request whose headers are too long is refused unread. */
const MAX_ATTEMPTS = 3

const attemptOf = (state: string | null) => state?.match(/^[\w-]{16}/)?.[0]
const namesIn = (cookie: string) => cookie.split(/; */).map((pair) => pair.slice(0, Math.max(0, pair.indexOf('='))))

/** The cookies of a request, with those of the attempt that this URL ends in place of the newest one's. */
export function cookiesOfAttempt(url: string, cookie: string): string {
  const attempt =
    url.startsWith('/api/auth/callback/oidc?') && attemptOf(new URL(url, 'http://here').searchParams.get('state'))
  const copies = cookie.split(/; */).flatMap((pair) => {
    const [name = '', ...value] = pair.split('=')
    const [, check = '', of] = COPY.exec(name) ?? []
    return of && of === attempt ? [[check, value.join('=')] as const] : []
  })
  if (copies.length === 0) return cookie
  const own = new Map(copies)
  const others = cookie.split(/; */).filter((pair) => !own.has(pair.slice(0, pair.indexOf('='))))
  return [...others, ...copies.map((copy) => copy.join('='))].join('; ')
}

/** The answer that begins an attempt, with its copies. The oldest attempts of the browser end. */
export async function withAttempt(response: Response, cookie: string): Promise<Response> {
  const { url } = (await response
    .clone()
    .json()
    .catch(() => ({}))) as { url?: string }
  const attempt = attemptOf(URL.canParse(url ?? '') ? new URL(url ?? '').searchParams.get('state') : null)
  if (!attempt) return response
  const headers = new Headers(response.headers)
  for (const line of response.headers.getSetCookie()) {
    const [, name = '', rest = ''] = /^([^=]+)(=.*)$/.exec(line) ?? []
    if (CHECKS.test(name)) headers.append('Set-Cookie', `${name}.${attempt}${rest}`)
  }
  const known = [...new Set(namesIn(cookie).flatMap((name) => COPY.exec(name)?.[2] ?? []))]
  for (const old of known.slice(0, -(MAX_ATTEMPTS - 1))) endAttempt(headers, cookie, old)
  return new Response(response.body, { status: response.status, headers })
}

/** The answer that ends an attempt. */
export function withoutAttempt(response: Response, request: Request): Response {
  const attempt = attemptOf(new URL(request.url).searchParams.get('state'))
  const headers = new Headers(response.headers)
  if (attempt) endAttempt(headers, request.headers.get('Cookie') ?? '', attempt)
  return new Response(response.body, { status: response.status, headers })
}

function endAttempt(headers: Headers, cookie: string, attempt: string) {
  for (const name of namesIn(cookie)) {
    if (COPY.exec(name)?.[2] !== attempt) continue
    const secure = name.startsWith('__Host-') ? '; Secure' : ''
    headers.append('Set-Cookie', `${name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax${secure}`)
  }
}
