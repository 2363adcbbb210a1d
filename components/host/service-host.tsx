'use client'

import { useRouter } from 'next/navigation'
import { type ReactNode, useMemo } from 'react'
import { useTranslations } from 'use-intl/react'
import { call, callWith, orNoAnswer } from '../api/load-contract'
import { ChangesLeft } from '../email/changes-left'
import { useBrand } from '../layout/brand'
import { CopyButton } from '../ui/copy-button'
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
  progressLink: () => <CopyProgressLink />,
  changesLeft: () => <ChangesLeft />,
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

function CopyProgressLink() {
  const t = useTranslations('Deletion')
  return (
    <CopyButton text={window.location.href} variant="secondary">
      {t('copyLink')}
    </CopyButton>
  )
}
