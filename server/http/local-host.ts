// No imports, because scripts/dev-server.ts has Node load this file without a bundler.

const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i

/**
 * Whether the Host header names this machine. A foreign name that resolves to this machine is DNS rebinding: the page of another site
 * could read the local mailbox.
 */
export const isLocalHost = (host: string | undefined): boolean => LOCAL_HOST.test(host ?? '')

export const FOREIGN_HOST =
  'In local mode the service answers under localhost, 127.0.0.1 and [::1] only. Open it under one of these names.'
