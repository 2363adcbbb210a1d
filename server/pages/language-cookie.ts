/** Keeps the choice of a browser without an account. */
export const LANGUAGE_COOKIE = 'language'
