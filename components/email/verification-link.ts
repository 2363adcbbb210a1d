'use client'

import type { Body } from '@/contract/define'
import type { verifyEmail } from '@/contract/email'
import { CHANGE_REQUEST_ID, VERIFICATION_CODE } from '@/contract/vocabulary'

export interface VerificationLink {
  secret: Body<typeof verifyEmail>
  /** The link verifies the account's own address. Signed-in pages read that from the status, because anybody can write a link. */
  isOwn: boolean
  /** One character and the domain of the address to sign in with. */
  as: string | null
}

// Nothing but an address of one character, because the page shows it.
const HINT = /^[\x21-\x3f\x41-\x7e]@[\p{L}\p{Nd}\p{M}-]+(?:\.[\p{L}\p{Nd}\p{M}-]+)+$/u
const MAX_HINT_LENGTH = 254

export function parseLink(fields: URLSearchParams): VerificationLink | null {
  const request = fields.get('request') ?? ''
  const code = fields.get('code') ?? ''
  if (!CHANGE_REQUEST_ID.test(request) || !VERIFICATION_CODE.test(code)) return null
  const as = fields.get('as') ?? ''
  return {
    secret: { change_request_id: request, verification_code: code },
    isOwn: fields.get('own') === '1',
    as: as.length <= MAX_HINT_LENGTH && HINT.test(as) ? as : null,
  }
}

/** The address to sign in with as the message shows it, masked; null where the link names none. */
export const maskedAddressOf = ({ as }: VerificationLink): string | null => as && `${as.slice(0, 1)}••••${as.slice(1)}`

/** The fragment to append to the address of the sign-in page. */
export const fragmentOf = ({ secret, isOwn, as }: VerificationLink) =>
  `#${new URLSearchParams({
    request: secret.change_request_id,
    code: secret.verification_code,
    ...(isOwn && { own: '1' }),
    ...(as !== null && { as }),
  })}`
