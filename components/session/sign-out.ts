'use client'

import { loadCalls } from '../api/load-contract'
import { endSessionHere } from './auth-calls'

/** Ends this browser's session and loads `next` from the server, so that nothing of the account stays in memory. */
export async function signOutHere(next: string) {
  // A page that could not load its calls makes none.
  const calls = await loadCalls().catch(() => null)
  await endSessionHere()
  // Else a call of this page that finds no session would say at the sign-in that it has ended.
  calls?.stayOnPage()
  window.location.assign(next)
}
