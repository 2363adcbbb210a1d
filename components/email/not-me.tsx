'use client'

import { CircleCheck, ShieldAlert } from 'lucide-react'
import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { ApiError } from '@/contract/errors'
import { keepDraft, SIGN_IN } from '../forms/draft'
import type { NewPasswordRules } from '../password/new-password-field'
import { LinkPage } from '../session/link-page'
import { bold } from '../ui/bold'
import { buttonStyle } from '../ui/button-style'
import { linkTo } from '../ui/link-to'
import { mailLink } from '../ui/mail-link'
import { StatusCard } from '../ui/status-card'
import { useNotMeLink } from './not-me-link'
import { Disown, readChange, readSignIn, TakeBack } from './not-me-pages'

interface NotMeProps {
  supportEmail: string
  hasPasswordSignIn: boolean
  rules: NewPasswordRules
  /** How long an undone change holds a deletion back; null where it does not. */
  heldFor: string | null
}

/** What the link of a message about a change, or about a sign-in, opens. Nothing is changed before the form is sent. */
export function NotMe({ supportEmail, hasPasswordSignIn, rules, heldFor }: NotMeProps) {
  const t = useTranslations('NotMe')
  const secret = useNotMeLink()
  const [done, setDone] = useState<DoneProps>()
  if (done) return <Done {...done} />
  return (
    <LinkPage
      icon={ShieldAlert}
      title={t('tabTitle')}
      secret={secret}
      read={async (link) => ('sessionId' in link ? readSignIn(link) : readChange(link))}
      isRefused={isRefused}
      noLongerText={t(secret && 'sessionId' in secret ? 'signInNoLonger' : 'noLongerText')}
      wayOut={(link) => <WayOut {...{ link, supportEmail, hasPasswordSignIn }} />}
    >
      {(facts, { endIf }) => {
        const page = { rules, endIf, onDone: setDone }
        return 'signIn' in facts ? <Disown {...facts} {...page} /> : <TakeBack {...facts} heldFor={heldFor} {...page} />
      }}
    </LinkPage>
  )
}

const isRefused = (error: unknown) => error instanceof ApiError && ['EMAIL_006', 'AUTH_001'].includes(error.code)

interface WayOutProps extends Pick<NotMeProps, 'supportEmail' | 'hasPasswordSignIn'> {
  link: 'incomplete' | 'noLonger'
}

function WayOut({ link, supportEmail, hasPasswordSignIn }: WayOutProps) {
  const t = useTranslations('NotMe')
  const common = useTranslations('Common')
  return (
    <>
      {link === 'noLonger' && (
        <a href="/sign-in" className={buttonStyle({ className: 'w-full' })}>
          {common('signIn')}
        </a>
      )}
      {link === 'noLonger' && hasPasswordSignIn && (
        <p className="text-ink-muted text-sm">{t.rich('noLongerReset', { link: linkTo('/forgot-password') })}</p>
      )}
      <p className="text-ink-muted text-sm">
        {t.rich(link === 'noLonger' ? 'noLongerSupport' : 'incompleteSupport', mailLink(supportEmail))}
      </p>
    </>
  )
}

interface DoneProps {
  title: string
  email: string
  hadPassword: boolean
}

function Done({ title, email, hadPassword }: DoneProps) {
  const t = useTranslations('NotMe')
  const common = useTranslations('Common')
  return (
    <StatusCard
      icon={CircleCheck}
      tone="success"
      isAnnounced
      title={title}
      text={
        <>
          {t.rich('addressNow', { address: email, email: bold })} {t(hadPassword ? 'signInWithNew' : 'signInAgain')}
        </>
      }
    >
      <a
        href="/sign-in"
        className={buttonStyle({ className: 'w-full' })}
        onClick={() => hadPassword && keepDraft(SIGN_IN, '', { email })}
      >
        {common('signIn')}
      </a>
      <p className="text-ink-muted text-sm">{t('lookThrough')}</p>
    </StatusCard>
  )
}
