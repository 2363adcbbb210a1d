'use client'

import { useSyncExternalStore } from 'react'

const SPENT = '#done'

// The page shows the state of the link that it was opened with, so another link has to load it from the server. The fragment of a
// jump inside the page has no fields.
function loadForAnotherLink() {
  if (window.location.hash.includes('=')) window.location.reload()
}

function subscribe() {
  window.addEventListener('hashchange', loadForAnotherLink)
  return () => window.removeEventListener('hashchange', loadForAnotherLink)
}

/** The secret in the fragment of a mailed link, which no server sees. `parse` reads it from the fields; null where it is not there. */
export function secretOfLink<Secret>(parse: (fields: URLSearchParams) => Secret | null) {
  let readFrom: string | undefined
  let secret: Secret | null = null

  /** The secret stays in this module's memory. A fragment without one, such as a jump inside the page, does not remove it. */
  function read(): Secret | null {
    const { hash } = window.location
    if (hash === readFrom) return secret
    readFrom = hash
    secret = parse(new URLSearchParams(hash.slice(1))) ?? secret
    return secret
  }

  return {
    /** Undefined until the browser has read it, null where there is none. */
    useSecret: (): Secret | null | undefined => useSyncExternalStore(subscribe, read, () => undefined),
    /** Removes the secret from the address bar and the history, and marks the link as used. */
    clear() {
      secret = null
      window.history.replaceState(null, '', window.location.pathname + SPENT)
    },
  }
}

/** True when the page was reloaded, or reached again, after its link was used. */
export const isSpent = () => window.location.hash === SPENT
