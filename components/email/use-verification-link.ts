'use client'

import { secretOfLink } from '../session/link-secret'
import { parseLink } from './verification-link'

// Apart from what the parts use, which take the link from the page of an adopter.
export const { useSecret: useVerificationLink, clear: clearVerificationLink } = secretOfLink(parseLink)
