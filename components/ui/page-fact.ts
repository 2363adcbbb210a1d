'use client'

import { useSyncExternalStore } from 'react'

const CHANGED = 'page-fact'

/** Says that a fact of this page, which a module holds, has changed. */
export const announce = () => window.dispatchEvent(new Event(CHANGED))

/** Calls `listener` whenever such a fact has changed. Returns how to stop. */
export function onChange(listener: () => void) {
  window.addEventListener(CHANGED, listener)
  return () => window.removeEventListener(CHANGED, listener)
}

/** The fact as `read` knows it, and `first` on the server and until React has taken over its markup. */
export const useFact = <Fact>(read: () => Fact, first: Fact): Fact => useSyncExternalStore(onChange, read, () => first)
