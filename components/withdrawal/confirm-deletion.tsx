'use client'

import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { ApiError } from '@/contract/errors'
import { WITHDRAWAL_LINK_TOKEN } from '@/contract/vocabulary'
import { callWith } from '../api/load-contract'
import { useHost } from '../host/host'
import { PageHeading } from '../layout/page-heading'
import { LinkPage } from '../session/link-page'
import { secretOfLink } from '../session/link-secret'
import { buttonStyle } from '../ui/button-style'
import { linkTo } from '../ui/link-to'
import { mailLink } from '../ui/mail-link'
import { Blockers, type HeldBack } from './blockers'
import { ConfirmDeletionForm, type DeletionTexts } from './confirm-deletion-form'

const { useSecret, clear } = secretOfLink<string>((fields) => {
  const token = fields.get('token') ?? ''
  return WITHDRAWAL_LINK_TOKEN.test(token) ? token : null
})

interface ConfirmDeletionProps extends DeletionTexts {
  supportEmail: string
  /** “30 minutes”: how long the link works from its mail on. */
  linkLasts: string
}

/** What a mailed deletion link opens. Nothing is deleted before the form is sent. */
export function ConfirmDeletion({ supportEmail, linkLasts, ...texts }: ConfirmDeletionProps) {
  const t = useTranslations('DeletionPage')
  const { product } = useHost()
  const [wasPressed, setWasPressed] = useState(false)
  return (
    <LinkPage
      icon={Trash2}
      title={t('confirmTitle', { product })}
      noScript={
        <>
          {t.rich('noScript', mailLink(supportEmail))} {t.rich('signIn', { link: linkTo('/settings/withdraw') })}
        </>
      }
      secret={useSecret()}
      read={(token) => callWith(() => token, 'previewRequestedWithdrawal', {})}
      isRefused={isRefused}
      noLongerText={t('noLongerText')}
      wayOut={() => (
        <a href="/delete-account" className={buttonStyle({ className: 'w-full' })}>
          {t('askAgain')}
        </a>
      )}
    >
      {(preview, { secret, endIf, readAgain, isReading, isStale }) => {
        if (preview.blockers.length === 0)
          return (
            <ConfirmDeletionForm
              token={secret}
              preview={preview}
              onStarted={({ withdrawal_id, status_token }) => {
                clear()
                window.location.replace(`/withdrawal/${withdrawal_id}#token=${status_token}`)
              }}
              endIf={endIf}
              onHeldBack={() => {
                setWasPressed(true)
                void readAgain()
              }}
              texts={texts}
            />
          )
        const held: HeldBack = {
          blockers: preview.blockers,
          authority: preview.authority,
          isUnknown: isStale,
          isChecking: isReading,
          check: readAgain,
          show: () => {},
        }
        return (
          <div>
            <PageHeading title={t('confirmTitle', { product })} />
            <Blockers held={held} supportEmail={supportEmail} takesFocus={wasPressed} />
            <p className="px-card pt-6 text-ink-muted text-sm sm:px-6">
              {t.rich('linkLasts', { time: linkLasts, link: linkTo('/delete-account') })}
            </p>
          </div>
        )
      }}
    </LinkPage>
  )
}

const isRefused = (error: unknown) => error instanceof ApiError && error.code === 'WITHDRAWAL_006'
