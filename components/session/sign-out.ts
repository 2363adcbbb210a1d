'use client'

import { endSessionHere } from './auth-calls'

/** Ends this browser's session and loads `next` from the server, so that nothing of the account stays in memory. */
export async function signOutHere(next: string) {
  await endSessionHere()
  window.location.assign(next)
}
