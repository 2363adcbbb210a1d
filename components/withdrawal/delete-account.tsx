'use client'

import { useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { useTranslations } from 'use-intl/react'
import type { Blocker } from '@/contract/errors'
import type { WaysToConfirm } from '../access/confirm-identity'
import { Button } from '../ui/button'
import { type PendingTransaction, useBlockers } from './blockers'
import { DeletionOverview } from './deletion-overview'
import { ExportDataForm } from './export-data-form'
import type { WhatHappens } from './what-happens'
import { WithdrawAccountForm } from './withdraw-account-form'

interface DeleteAccountProps {
  userId: string
  email: string
  ways: WaysToConfirm
  blockers: readonly Blocker[]
  pendingTransactions: readonly PendingTransaction[]
  applications: readonly { name: string; isToldAtOnce: boolean }[]
  deletedWithin: string
  details: Parameters<typeof WhatHappens>[0]
}

/** Two screens: what a deletion means, and the form that asks for it. What holds a deletion back stands before both. */
export function DeleteAccount({
  applications,
  blockers,
  details,
  pendingTransactions,
  ...account
}: DeleteAccountProps) {
  const t = useTranslations('DeleteAccount')
  const { userId, email, ways } = account
  const [screen, setScreen] = useState<'overview' | 'form'>('overview')
  const [isExporting, setExporting] = useState(false)
  const begin = useRef<HTMLButtonElement>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  const held = useBlockers(userId, { blockers, pendingTransactions })
  const isBlocked = held.blockers.length > 0
  const goTo = (next: typeof screen) => {
    flushSync(() => setScreen(next))
    const target = next === 'form' ? heading : begin
    target.current?.focus()
  }
  return (
    <div className="space-y-6">
      {/* Not taken away, so that what was typed stays when the person looks at the first screen again. */}
      <div hidden={screen === 'overview' && !isBlocked}>
        <WithdrawAccountForm
          {...account}
          headingRef={heading}
          held={held}
          retentionDays={details.retentionDays}
          onDraft={() => setScreen('form')}
          onBack={() => goTo('overview')}
        />
      </div>
      {(screen === 'overview' || isBlocked) && (
        <>
          <DeletionOverview
            userId={userId}
            email={email}
            applications={applications}
            deletedWithin={account.deletedWithin}
            details={details}
          >
            {!isBlocked && (
              <Button ref={begin} variant="danger" className="w-full sm:w-auto" onClick={() => goTo('form')}>
                {t('begin')}
              </Button>
            )}
            {!isExporting && (
              <Button variant="secondary" className="w-full sm:w-auto" onClick={() => setExporting(true)}>
                {t('download')}
              </Button>
            )}
          </DeletionOverview>
          {isExporting && <ExportDataForm userId={userId} email={email} ways={ways} />}
        </>
      )}
    </div>
  )
}
