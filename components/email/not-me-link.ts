'use client'

import { useSyncExternalStore } from 'react'
import { CHANGE_REQUEST_ID } from '@/contract/vocabulary'

export interface NotMeLink {
  changeRequestId: string
  token: string
}

let readFrom: string | undefined
let link: NotMeLink | null = null

/** What the link holds stays in the address bar until it is used, so that a reload works, and is kept nowhere else. */
function read(): NotMeLink | null {
  const { hash } = window.location
  if (hash === readFrom) return link
  readFrom = hash
  const fields = new URLSearchParams(hash.slice(1))
  const changeRequestId = fields.get('change') ?? ''
  const token = fields.get('token') ?? ''
  // A jump inside the page has no fields.
  if (CHANGE_REQUEST_ID.test(changeRequestId) && /^nme_[\w-]+$/.test(token)) link = { changeRequestId, token }
  return link
}

function subscribe(listener: () => void) {
  window.addEventListener('hashchange', listener)
  return () => window.removeEventListener('hashchange', listener)
}

/** The link that the page was opened with; undefined until the browser has read it, null where it is not complete. */
export const useNotMeLink = (): NotMeLink | null | undefined => useSyncExternalStore(subscribe, read, () => undefined)

/** Removes the token from the address bar and the history. */
export const clearNotMeLink = () => window.history.replaceState(null, '', `${window.location.pathname}#done`)
