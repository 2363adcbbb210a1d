const AFTER_SIGN_IN = '/settings/email'

/** The path to open after the sign-in. It is always one of this origin, so that no link can send a person elsewhere. */
export function nextPath(wish: unknown): string {
  if (typeof wish !== 'string' || !/^\/(?![/\\])/.test(wish)) return AFTER_SIGN_IN
  const here = 'http://here.invalid'
  if (!URL.canParse(wish, here)) return AFTER_SIGN_IN
  const { origin, pathname, search } = new URL(wish, here)
  // URL has resolved dot segments by now; a path that then begins with two slashes names another host.
  return origin === here && !pathname.startsWith('//') ? pathname + search : AFTER_SIGN_IN
}
