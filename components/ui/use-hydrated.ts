import { useSyncExternalStore } from 'react'

const subscribe = () => () => {}

/** False on the server and while React takes over its markup, true from then on. */
export const useHydrated = () =>
  useSyncExternalStore(
    subscribe,
    () => true,
    () => false,
  )
