'use client'

import { useRouter } from 'next/navigation'
import { type ReactNode, useMemo } from 'react'
import { call, callWith, orNoAnswer } from '../api/load-contract'
import { useBrand } from '../layout/brand'
import { type Host, HostProvider } from './host'

/** Loaded on the first press, which alone needs it. */
const journeys = () => orNoAnswer(import('./service-journeys'))

const host: Omit<Host, 'refresh' | 'product' | 'productUrl'> = {
  call,
  callWith,
  reauthenticate: async (...args) => (await journeys()).leaveForProvider(...args),
  confirmPassword: async (...args) => (await journeys()).signInAgain(...args),
  /** The page is replaced so that the Back button does not show what was typed. */
  async showProgress({ withdrawal_id, status_token }) {
    await journeys()
      .then(({ signOutSoon }) => signOutSoon())
      .catch(() => {})
    window.location.replace(`/withdrawal/${withdrawal_id}#token=${status_token}`)
    // The page is being left.
    await new Promise(() => {})
  },
  progressLink: () => window.location.href,
  exportPath: '/settings/data',
  hasSessions: true,
  mayHavePassword: true,
  receiptPage: '/receipt',
}

export function ServiceHost({ children }: { children: ReactNode }) {
  const { refresh } = useRouter()
  const { name: product, url: productUrl } = useBrand()
  const ours = useMemo(() => ({ ...host, product, productUrl, refresh }), [product, productUrl, refresh])
  return <HostProvider value={ours}>{children}</HostProvider>
}
