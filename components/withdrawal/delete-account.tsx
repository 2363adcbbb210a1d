'use client'

import { useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { useTranslations } from 'use-intl/react'
import type { WaysToConfirm } from '../access/confirm-identity'
import { hasDraft } from '../forms/draft'
import { useHost } from '../host/host'
import { takeReturnPath } from '../session/return-path'
import { Button } from '../ui/button'
import { buttonStyle } from '../ui/button-style'
import { Disclosure } from '../ui/disclosure'
import { Blockers, type Known, useBlockers } from './blockers'
import { DeletionOverview, type DeletionOverviewProps } from './deletion-overview'
import { WithdrawAccountForm } from './withdraw-account-form'

interface DeleteAccountProps extends Omit<DeletionOverviewProps, 'renderedAt' | 'children'> {
  ways: WaysToConfirm
  known: Known
  supportEmail: string
}

/** Two screens: what a deletion means, and the form that asks for it. What holds a deletion back stands before both. */
export function DeleteAccount({ ways, known, supportEmail, ...shown }: DeleteAccountProps) {
  const t = useTranslations('DeleteAccount')
  const { exportPath } = useHost()
  const { userId, email, deletedWithin, retentionDays } = shown
  const [screen, setScreen] = useState<'overview' | 'form'>('overview')
  const begin = useRef<HTMLButtonElement>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  const held = useBlockers(userId, known)
  const isBlocked = held.blockers.length > 0
  // The form is made on demand, because most visits never open it and a phone takes long to hydrate it.
  const [isOpened, setOpened] = useState(false)
  const show = (next: typeof screen) => {
    setScreen(next)
    if (next === 'form') setOpened(true)
  }
  // After a return from the identity provider the form is open again if it has a draft.
  useEffect(() => {
    const path = takeReturnPath()
    if (path !== null && path === exportPath) window.location.replace(path + window.location.search)
    if (!hasDraft('withdraw', userId)) return
    setScreen('form')
    setOpened(true)
  }, [userId, exportPath])
  const goTo = (next: typeof screen) => {
    flushSync(() => show(next))
    const target = next === 'form' ? heading : begin
    target.current?.focus()
  }
  const overview = (
    <DeletionOverview {...shown} renderedAt={known.renderedAt}>
      {!isBlocked && (
        <Button ref={begin} variant="danger" className="w-full sm:w-auto" onClick={() => goTo('form')}>
          {t('begin')}
        </Button>
      )}
      {exportPath && (
        <a href={exportPath} className={buttonStyle({ variant: 'secondary', className: 'w-full sm:w-auto' })}>
          {t('download')}
        </a>
      )}
    </DeletionOverview>
  )
  return (
    <div className="space-y-6">
      {isOpened ? (
        // The form stays in the document, so that its typed text survives a look at the first screen.
        <div hidden={screen === 'overview' && !isBlocked}>
          <WithdrawAccountForm
            {...{ userId, email, ways, deletedWithin, retentionDays }}
            headingRef={heading}
            held={held}
            supportEmail={supportEmail}
            onBack={() => goTo('overview')}
          />
        </div>
      ) : (
        isBlocked && <Blockers held={held} supportEmail={supportEmail} takesFocus={false} />
      )}
      {screen === 'overview' && !isBlocked && overview}
      {isBlocked && (
        // Nothing of it can happen yet.
        <Disclosure summary={t('whatHappens')}>
          <div className="mt-3">{overview}</div>
        </Disclosure>
      )}
    </div>
  )
}
