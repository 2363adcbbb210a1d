'use client'

import { useTranslations } from 'use-intl/react'
import { useIsRepeating } from '../api/until-answered'
import { useIsSlow } from '../ui/use-is-slow'

/** Says that the answer to a form takes long, or was lost and is asked for again. */
export function SlowHint({ isPending }: { isPending: boolean }) {
  const t = useTranslations('Common')
  const isSlow = useIsSlow(isPending)
  const isRepeating = useIsRepeating()
  return (
    <div role="status" className="empty:sr-only">
      {isPending && (isRepeating ? t('keepsTrying') : isSlow && t('slowHint'))}
    </div>
  )
}
