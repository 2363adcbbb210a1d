'use client'

import { useSyncExternalStore } from 'react'
import type { Body } from '@/contract/define'
import type { verifyEmail } from '@/contract/email'
import { CHANGE_REQUEST_ID, VERIFICATION_CODE } from '@/contract/vocabulary'

export type LinkSecret = Body<typeof verifyEmail>

let readFrom: string | undefined
let secret: LinkSecret | null = null

/** The secret stays in this module's memory. A fragment without one, such as a jump inside the page, does not remove it. */
function read(): LinkSecret | null {
  const { hash } = window.location
  if (hash === readFrom) return secret
  readFrom = hash
  const fields = new URLSearchParams(hash.slice(1))
  const request = fields.get('request') ?? ''
  const code = fields.get('code') ?? ''
  if (CHANGE_REQUEST_ID.test(request) && VERIFICATION_CODE.test(code))
    secret = { change_request_id: request, verification_code: code }
  return secret
}

// The page shows the state of the link that it was opened with, so another link has to load it from the server. The fragment of a
// jump inside the page has no fields.
function loadForAnotherLink() {
  if (window.location.hash.includes('=')) window.location.reload()
}

function subscribe() {
  window.addEventListener('hashchange', loadForAnotherLink)
  return () => window.removeEventListener('hashchange', loadForAnotherLink)
}

/** The secret in the fragment of the verification link; undefined until the browser has read it, null where there is none. */
export const useLinkSecret = (): LinkSecret | null | undefined => useSyncExternalStore(subscribe, read, () => undefined)

/** The fragment to append to the address of the sign-in page. */
export const fragmentOf = (held: LinkSecret) =>
  `#${new URLSearchParams({ request: held.change_request_id, code: held.verification_code })}`

const SPENT = '#done'

/** Removes the secret from the address bar and the history, and marks the link as used. */
export function clearLinkSecret() {
  secret = null
  window.history.replaceState(null, '', window.location.pathname + SPENT)
}

/** True when the page was reloaded, or reached again, after its link was used. */
export const isSpent = () => window.location.hash === SPENT
