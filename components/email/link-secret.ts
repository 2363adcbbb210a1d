'use client'

import { useSyncExternalStore } from 'react'
import type { Body } from '@/contract/define'
import { verifyEmail } from '@/contract/email'

export type LinkSecret = Body<typeof verifyEmail>

let readFrom: string | undefined
let secret: LinkSecret | null = null

/** Held in this module's memory; a fragment that carries no secret (a jump inside the page) takes nothing away. */
function read(): LinkSecret | null {
  const { hash } = window.location
  if (hash === readFrom) return secret
  readFrom = hash
  const fields = new URLSearchParams(hash.slice(1))
  const parsed = verifyEmail.body.safeParse({
    change_request_id: fields.get('request'),
    verification_code: fields.get('code'),
  })
  if (parsed.success) secret = parsed.data
  return secret
}

// The page tells of the link that it was opened with, of its outcome, and of the account as it was then: another link loads
// it afresh. A jump inside the page has a name alone, no fields.
function loadForAnotherLink() {
  if (window.location.hash.includes('=')) window.location.reload()
}

function subscribe() {
  window.addEventListener('hashchange', loadForAnotherLink)
  return () => window.removeEventListener('hashchange', loadForAnotherLink)
}

/** What the verification link carries in its fragment; undefined until the browser has read it, null where there is nothing. */
export const useLinkSecret = (): LinkSecret | null | undefined => useSyncExternalStore(subscribe, read, () => undefined)

/** The fragment as it came, to take it along to the sign-in page. */
export const fragmentOf = (held: LinkSecret) =>
  `#${new URLSearchParams({ request: held.change_request_id, code: held.verification_code })}`

const SPENT = '#done'

/** After success: nothing to find in the address bar or the history any more, but that it was there. */
export function clearLinkSecret() {
  secret = null
  window.history.replaceState(null, '', window.location.pathname + SPENT)
}

/** Where a link was that has done its work: the page was loaded again, or come back to. */
export const isSpent = () => window.location.hash === SPENT
