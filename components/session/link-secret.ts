'use client'

import { useSyncExternalStore } from 'react'

const MARKS = { spent: '#done', replaced: '#replaced' }

/** The outcome of a link that was used on this page. */
type LinkEnd = keyof typeof MARKS

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
    /** Removes the secret from the address bar and the history, and leaves a mark of how the link ended. */
    clear(end: LinkEnd = 'spent') {
      secret = null
      window.history.replaceState(null, '', window.location.pathname + MARKS[end])
    },
  }
}

/** The outcome of the link before the page was reloaded or reached again. */
export const endOfLink = (): LinkEnd | undefined =>
  (Object.keys(MARKS) as LinkEnd[]).find((end) => window.location.hash === MARKS[end])
