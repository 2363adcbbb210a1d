'use client'

/** Ends this browser's session, then loads the page afresh, so that nothing of the account stays in memory. */
export async function signOutHere(next: string) {
  const { signOut } = await import('next-auth/react')
  // Left to itself, next-auth sends this page's whole address, with the secret of a verification link in its fragment.
  await signOut({ redirect: false, callbackUrl: '/sign-in' })
  window.location.assign(next)
}
