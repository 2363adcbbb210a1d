'use client'

import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()

/** Says that a fact of this page, which a module holds, has changed. */
export function announce() {
  for (const listener of listeners) listener()
}

/** Calls `listener` whenever such a fact has changed. Returns how to stop. */
export function onChange(listener: () => void) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** The fact as `read` knows it, and `first` on the server and until React has taken over its markup. */
export const useFact = <Fact>(read: () => Fact, first: Fact): Fact => useSyncExternalStore(onChange, read, () => first)
