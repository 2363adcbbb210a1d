'use client'

import { CHANGE_REQUEST_ID, SESSION_ID } from '@/contract/vocabulary'
import { secretOfLink } from '../session/link-secret'

export interface ChangeLink {
  changeRequestId: string
  token: string
}
export interface SignInLink {
  sessionId: string
  token: string
}

/** What the link holds stays in the address bar until it is used, so that a reload works. */
export const { useSecret: useNotMeLink, clear: clearNotMeLink } = secretOfLink<ChangeLink | SignInLink>((fields) => {
  const [changeRequestId, sessionId, token] = ['change', 'session', 'token'].map((name) => fields.get(name) ?? '')
  if (!token || !/^nme_[\w-]+$/.test(token)) return null
  if (changeRequestId && CHANGE_REQUEST_ID.test(changeRequestId)) return { changeRequestId, token }
  return sessionId && SESSION_ID.test(sessionId) ? { sessionId, token } : null
})
