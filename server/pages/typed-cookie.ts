/** Holds what was typed at /delete-account for the page that follows, and not its URL, because URLs are kept. */
export const TYPED_COOKIE = 'deletion-address'
