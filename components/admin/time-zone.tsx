'use client'

import { useHydrated } from '../ui/use-hydrated'

/** That of the browser; the server shows UTC. */
export const TimeZone = () => (useHydrated() ? new Intl.DateTimeFormat().resolvedOptions().timeZone : 'UTC')
