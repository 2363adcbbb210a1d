'use client'

import { CHANGE_REQUEST_ID } from '@/contract/vocabulary'
import { secretOfLink } from '../session/link-secret'

export interface NotMeLink {
  changeRequestId: string
  token: string
}

/** What the link holds stays in the address bar until it is used, so that a reload works. */
export const { useSecret: useNotMeLink, clear: clearNotMeLink } = secretOfLink<NotMeLink>((fields) => {
  const changeRequestId = fields.get('change') ?? ''
  const token = fields.get('token') ?? ''
  return CHANGE_REQUEST_ID.test(changeRequestId) && /^nme_[\w-]+$/.test(token) ? { changeRequestId, token } : null
})
