'use client'

import { lazy } from 'react'

// Loaded on demand, because most installations have no way back. If loading fails, the page has none.
const WayBack = lazy(() => import('./way-back').catch(() => ({ default: () => null })))

interface ReturnLinkProps {
  /** Origins, and schemes of apps with their colon. */
  allowed: readonly string[]
}

export const ReturnLink = ({ allowed }: ReturnLinkProps) => <WayBack allowed={allowed} />
