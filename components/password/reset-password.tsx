'use client'

import { CircleCheck, KeyRound } from 'lucide-react'
import Link from 'next/link'
import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { ApiError } from '@/contract/errors'
import { RESET_TOKEN } from '@/contract/vocabulary'
import { callWith } from '../api/load-contract'
import { LinkPage } from '../session/link-page'
import { endOfLink, secretOfLink } from '../session/link-secret'
import { buttonStyle } from '../ui/button-style'
import { StatusCard } from '../ui/status-card'
import { ChoosePassword } from './choose-password'
import type { NewPasswordRules } from './new-password-field'

const { useSecret, clear } = secretOfLink<string>((fields) => {
  const token = fields.get('token') ?? ''
  return RESET_TOKEN.test(token) ? token : null
})

export function ResetPassword({ rules }: { rules: NewPasswordRules }) {
  const t = useTranslations('Passwords')
  const token = useSecret()
  const [isChanged, setChanged] = useState(false)
  if (isChanged || (token === null && endOfLink() === 'spent')) return <Changed isAnnounced={isChanged} />
  return (
    <LinkPage
      icon={KeyRound}
      title={t('chooseTitle')}
      secret={token}
      read={(secret) => callWith(() => secret, 'getPasswordReset', {})}
      isRefused={isRefused}
      noLongerText={t('noLongerText')}
      wayOut={() => (
        <Link href="/forgot-password" className={buttonStyle({ className: 'w-full' })}>
          {t('askAgain')}
        </Link>
      )}
    >
      {({ email }, { secret, endIf }) => (
        <ChoosePassword
          rules={rules}
          token={secret}
          email={email}
          endIf={endIf}
          onChanged={() => {
            clear()
            setChanged(true)
          }}
        />
      )}
    </LinkPage>
  )
}

const isRefused = (error: unknown) => error instanceof ApiError && error.code === 'PASSWORD_002'

function Changed({ isAnnounced }: { isAnnounced: boolean }) {
  const t = useTranslations('Passwords')
  const common = useTranslations('Common')
  return (
    <StatusCard
      icon={CircleCheck}
      tone="success"
      isAnnounced={isAnnounced}
      title={t('changedTitle')}
      text={t('resetChangedText')}
    >
      <Link href="/sign-in" className={buttonStyle({ className: 'w-full' })}>
        {common('signIn')}
      </Link>
    </StatusCard>
  )
}
