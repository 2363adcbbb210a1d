'use client'

import { useEffect, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { Brand, useBrand } from '@/components/layout/brand'
import { centeredColumn, Main } from '@/components/layout/main'
import { Button } from '@/components/ui/button'
import { textLink } from '@/components/ui/text-link'
import { AWAY_DIGEST } from '@/server/pages/away-digest'

export default function ErrorPage({ error }: { error: Error & { digest?: string } }) {
  const t = useTranslations('Failure')
  const { supportUrl } = useBrand()
  const isAway = error.digest === AWAY_DIGEST
  const isBack = useIsBack(isAway)
  return (
    <Main className={centeredColumn}>
      <Brand />
      <h1 className="mt-8 font-semibold text-3xl leading-9 tracking-[-0.03em]">{t('serverTitle')}</h1>
      <p className="mt-3 text-ink-muted" role="status">
        {t(isBack ? 'backHint' : isAway ? 'awayHint' : 'serverHint')}
      </p>
      {error.digest && !isAway && (
        <p className="mt-3 text-ink-muted text-sm">
          {t.rich('quote', {
            code: () => (
              <code dir="ltr" className="select-all font-mono text-ink">
                {error.digest}
              </code>
            ),
          })}
        </p>
      )}
      <div className="mt-8">
        {/* Not reset(), because it renders the same answer of the server again. */}
        <Button onClick={() => window.location.reload()} className="w-full sm:w-auto">
          {t('tryAgain')}
        </Button>
      </div>
      <p className="mt-6 text-ink-muted text-sm">
        {t.rich('support', {
          address: supportUrl.replace(/^mailto:/, ''),
          link: (address) => (
            <a href={supportUrl} className={textLink}>
              {address}
            </a>
          ),
        })}
      </p>
    </Main>
  )
}

const TRY_EVERY_MS = 5_000
/** Long enough to read that the service is back. */
const READ_MS = 1_500

/** Asks while the database is away whether the service is back, says so, and then opens the page again. */
function useIsBack(isAway: boolean): boolean {
  const [isBack, setBack] = useState(false)
  useEffect(() => {
    if (!isAway || isBack) return
    const ask = async () => {
      if (document.visibilityState !== 'visible') return
      const answer = await fetch('/api/health/ready', { cache: 'no-store' }).catch(() => null)
      if (answer?.ok) setBack(true)
    }
    const timer = setInterval(ask, TRY_EVERY_MS)
    return () => clearInterval(timer)
  }, [isAway, isBack])
  useEffect(() => {
    if (!isBack) return
    const timer = setTimeout(() => window.location.reload(), READ_MS)
    return () => clearTimeout(timer)
  }, [isBack])
  return isBack
}
