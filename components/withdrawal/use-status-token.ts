'use client'

import { secretOfLink } from '../session/link-secret'

/** The token stays in the address bar, so that a reload works. */
export const { useSecret: useStatusToken } = secretOfLink((fields) => {
  const token = fields.get('token')
  return token && /^wst_[\w-]+$/.test(token) ? token : null
})
