'use client'

import { useSyncExternalStore } from 'react'

/** Read from the address bar each time and kept nowhere else; there it stays, so that a reload works. */
function read(): string | null {
  const token = new URLSearchParams(window.location.hash.slice(1)).get('token')
  return token && /^wst_[\w-]+$/.test(token) ? token : null
}

function subscribe(listener: () => void) {
  window.addEventListener('hashchange', listener)
  return () => window.removeEventListener('hashchange', listener)
}

/** The token that the link carries in its fragment; undefined until the browser has read it, null where there is none. */
export const useStatusToken = (): string | null | undefined => useSyncExternalStore(subscribe, read, () => undefined)
