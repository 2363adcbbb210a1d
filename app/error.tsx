'use client'

import { useEffect, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { Brand, useBrand } from '@/components/layout/brand'
import { centeredColumn, Main } from '@/components/layout/main'
import { Button } from '@/components/ui/button'
import { linkTo } from '@/components/ui/link-to'
import { lookUntilBack, onceBack } from '@/components/ui/service-away'
import { AWAY_DIGEST } from '@/server/pages/away-digest'

export default function ErrorPage({ error }: { error: Error & { digest?: string } }) {
  const t = useTranslations('Failure')
  const isAway = error.digest === AWAY_DIGEST
  return (
    <Main className={centeredColumn}>
      <Brand />
      <h1 className="mt-8 font-semibold text-3xl leading-9 tracking-[-0.03em]">{t('serverTitle')}</h1>
      <p className="mt-3 text-ink-muted">{t(isAway ? 'awayHint' : 'serverHint')}</p>
      {isAway && <Away />}
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
    </Main>
  )
}

/** Long enough to be read. */
const TELL_MS = 1_500

/** Looks again until the service is back, says so, and opens the page. */
function Away() {
  const t = useTranslations('Failure')
  const { supportUrl } = useBrand()
  const [isBack, setIsBack] = useState(false)
  useEffect(() => {
    onceBack(() => {
      setIsBack(true)
      setTimeout(() => window.location.reload(), TELL_MS)
    })
    lookUntilBack(window.location.href)
  }, [])
  return (
    <>
      <p className="mt-3 text-ink-muted">{t.rich('awaySupport', { link: linkTo(supportUrl) })}</p>
      <p role="status" className="mt-3 text-success empty:sr-only">
        {isBack && t('awayBack')}
      </p>
    </>
  )
}
