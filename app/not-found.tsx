import Link from 'next/link'
import { titled } from '@/app/page-title'
import { CenteredPage } from '@/components/layout/page'
import { buttonStyle } from '@/components/ui/button-style'
import { pageTexts } from '@/server/pages/language'
import { accountOf, sessionIfReadable } from '@/server/pages/session'

export const generateMetadata = titled('Failure', 'tabTitle')

export default async function NotFound() {
  const session = await sessionIfReadable()
  const t = await pageTexts('Failure')
  const common = await pageTexts('Common')
  const account = session && accountOf(session)
  return (
    <CenteredPage account={account} link={{ href: '/sign-in', label: common('signIn') }}>
      <p className="font-mono text-ink-muted text-sm">404</p>
      <h1 className="mt-2 font-semibold text-3xl leading-9 tracking-[-0.03em]">{t('notFoundTitle')}</h1>
      <p className="mt-3 text-ink-muted">{t('notFoundHint')}</p>
      <div className="mt-8 flex flex-col gap-3 sm:flex-row sm:flex-wrap">
        {account && (
          <Link href="/settings/email" className={buttonStyle()}>
            {t('toSettings')}
          </Link>
        )}
        <Link href="/" className={buttonStyle({ variant: account ? 'secondary' : 'primary' })}>
          {t('toStart')}
        </Link>
      </div>
    </CenteredPage>
  )
}
