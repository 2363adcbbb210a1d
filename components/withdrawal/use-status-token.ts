'use client'

import { useSyncExternalStore } from 'react'

/** The token stays in the address bar, so that a reload works, and is kept nowhere else. */
function read(): string | null {
  const token = new URLSearchParams(window.location.hash.slice(1)).get('token')
  return token && /^wst_[\w-]+$/.test(token) ? token : null
}

function subscribe(listener: () => void) {
  window.addEventListener('hashchange', listener)
  return () => window.removeEventListener('hashchange', listener)
}

/** The token in the fragment of the link; undefined until the browser has read it, null where there is none. */
export const useStatusToken = (): string | null | undefined => useSyncExternalStore(subscribe, read, () => undefined)
