'use client'

import { signOut } from 'next-auth/react'

/** Ends this browser's session, then loads the page afresh, so that nothing of the account stays in memory. */
export async function signOutHere(next: string) {
  await signOut({ redirect: false })
  window.location.assign(next)
}
