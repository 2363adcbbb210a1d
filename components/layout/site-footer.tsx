'use client'

import { usePathname } from 'next/navigation'
import { useTranslations } from 'use-intl/react'
import { useBrand } from './brand'
import { LanguageControl } from './language-control'

const link = 'inline-flex min-h-11 items-center hover:text-ink hover:underline'

interface SiteFooterProps {
  isSignedIn: boolean
}

export function SiteFooter({ isSignedIn }: SiteFooterProps) {
  const { name, url, supportUrl, privacyUrl, termsUrl } = useBrand()
  const t = useTranslations('Common')
  const path = usePathname()
  // Whoever is signed in deletes the account in the settings; the other pages are of a deletion themselves, or lead to it.
  const canDelete = !isSignedIn && !/^\/((delete-account|withdrawal|receipt)(\/|$)|$)/.test(path)
  const links = [
    [url, name],
    [supportUrl, t('support')],
    [privacyUrl, t('privacy')],
    [termsUrl, t('terms')],
  ].filter(([href]) => href)
  return (
    <footer className="print:hidden mx-auto flex w-full max-w-5xl flex-wrap items-center gap-x-6 px-edge py-6 text-ink-muted text-sm sm:px-6">
      {links.map(([href, label]) => (
        <a key={href} href={href} className={link}>
          {label}
        </a>
      ))}
      <a href="/accessibility" className={link}>
        {t('accessibility')}
      </a>
      {canDelete && (
        <a href="/delete-account" className={link}>
          {t('sections.deleteAccount')}
        </a>
      )}
      <LanguageControl className="sm:ms-auto" linksTo={path === '/delete-account' ? path : undefined} />
    </footer>
  )
}
