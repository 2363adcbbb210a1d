'use client'

import { lazy } from 'react'

// Most installations have no way back. Where it cannot be loaded, the page stands without it.
const WayBack = lazy(() => import('./way-back').catch(() => ({ default: () => null })))

interface ReturnLinkProps {
  /** Origins, and schemes of apps with their colon. */
  allowed: readonly string[]
}

export const ReturnLink = ({ allowed }: ReturnLinkProps) => <WayBack allowed={allowed} />
