'use client'

import Link from 'next/link'
import { useEffect, useRef } from 'react'
import { useTranslations } from 'use-intl/react'
import { nextPath } from '@/components/session/next-path'
import { takeReturnPath } from '@/components/session/return-path'
import { textLink } from '@/components/ui/text-link'

export function OpenReturnPath() {
  const t = useTranslations('SignIn')
  const common = useTranslations('Common')
  const isLeaving = useRef(false)
  useEffect(() => {
    if (isLeaving.current) return
    isLeaving.current = true
    const path = takeReturnPath()
    window.location.replace(nextPath(path) + (path?.includes('#') ? path.slice(path.indexOf('#')) : ''))
  }, [])
  return (
    <>
      <h1 className="font-semibold text-2xl leading-8 tracking-[-0.025em]">{t('returnTitle')}</h1>
      <p className="mt-1 text-ink-muted">
        <Link href="/settings/email" className={textLink}>
          {common('openSettings')}
        </Link>
      </p>
    </>
  )
}
