const isSecure = (appUrl: string) => appUrl.startsWith('https:')

/** Over https the prefix keeps other hosts of the domain from setting a cookie of this name. */
export const cookieName = (appUrl: string, name: string): string => (isSecure(appUrl) ? `__Host-${name}` : name)

/** The browser sends it only to this service, even after a link on another site; no script can read it. */
export const toSetCookie = (appUrl: string, name: string, value: string, seconds: number): string =>
  [
    `${cookieName(appUrl, name)}=${value}`,
    'Path=/',
    `Max-Age=${seconds}`,
    'HttpOnly',
    'SameSite=Lax',
    ...(isSecure(appUrl) ? ['Secure'] : []),
  ].join('; ')

/** The value of the cookie that `toSetCookie` set under this name. */
export function readCookie(appUrl: string, headers: Headers, name: string): string | undefined {
  const prefix = `${cookieName(appUrl, name)}=`
  const pair = (headers.get('Cookie') ?? '').split(/; */).find((each) => each.startsWith(prefix))
  return pair?.slice(prefix.length)
}
