'use client'

import type { Body } from '@/contract/define'
import type { verifyEmail } from '@/contract/email'
import { CHANGE_REQUEST_ID, VERIFICATION_CODE } from '@/contract/vocabulary'
import { secretOfLink } from '../link-secret'

export type LinkSecret = Body<typeof verifyEmail>

export const { useSecret: useLinkSecret, clear: clearLinkSecret } = secretOfLink<LinkSecret>((fields) => {
  const request = fields.get('request') ?? ''
  const code = fields.get('code') ?? ''
  return CHANGE_REQUEST_ID.test(request) && VERIFICATION_CODE.test(code)
    ? { change_request_id: request, verification_code: code }
    : null
})

/** The fragment to append to the address of the sign-in page. */
export const fragmentOf = (held: LinkSecret) =>
  `#${new URLSearchParams({ request: held.change_request_id, code: held.verification_code })}`
