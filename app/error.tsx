'use client'

import { useTranslations } from 'use-intl/react'
import { Brand } from '@/components/layout/brand'
import { centeredColumn, Main } from '@/components/layout/main'
import { Button } from '@/components/ui/button'
import { AWAY_DIGEST } from '@/server/pages/away-digest'

export default function ErrorPage({ error }: { error: Error & { digest?: string } }) {
  const t = useTranslations('Failure')
  const isAway = error.digest === AWAY_DIGEST
  return (
    <Main className={centeredColumn}>
      <Brand />
      <h1 className="mt-8 font-semibold text-3xl leading-9 tracking-[-0.03em]">{t('serverTitle')}</h1>
      <p className="mt-3 text-ink-muted">{t(isAway ? 'awayHint' : 'serverHint')}</p>
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
