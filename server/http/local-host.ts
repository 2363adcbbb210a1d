// Free of imports, because the server of `npm run dev` loads it as it stands.

const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i

/**
 * Whether a request names this machine. A browser sends the name that its page was opened under, so that a foreign name which has
 * come to lead here is DNS rebinding: the page of another site would read the local mailbox.
 */
export const isLocalHost = (host: string | undefined): boolean => LOCAL_HOST.test(host ?? '')

export const FOREIGN_HOST =
  'In local mode the service answers under localhost, 127.0.0.1 and [::1] only. Open it under one of these names.'
