'use client'

import { useTranslations } from 'use-intl/react'
import { useIsSlow } from './use-is-slow'

/** Says that the answer to a form takes long. */
export function SlowHint({ isPending }: { isPending: boolean }) {
  const t = useTranslations('Common')
  const isSlow = useIsSlow(isPending)
  return (
    <div role="status" className="text-ink-muted text-sm empty:sr-only">
      {isSlow && t('slowHint')}
    </div>
  )
}
