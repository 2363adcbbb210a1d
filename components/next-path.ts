const AFTER_SIGN_IN = '/settings/email'

/** Where to go after sign-in: a path of this origin, so that no link can send a person elsewhere. */
export function nextPath(wish: unknown): string {
  if (typeof wish !== 'string' || !/^\/(?![/\\])/.test(wish)) return AFTER_SIGN_IN
  const here = 'http://here.invalid'
  if (!URL.canParse(wish, here)) return AFTER_SIGN_IN
  const { origin, pathname, search } = new URL(wish, here)
  // Only now are dot segments resolved: behind one, two slashes would name another host.
  return origin === here && !pathname.startsWith('//') ? pathname + search : AFTER_SIGN_IN
}
