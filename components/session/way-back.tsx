import { ArrowLeft } from 'lucide-react'
import { useSearchParams } from 'next/navigation'
import { useEffect } from 'react'
import { useTranslations } from 'use-intl/react'
import { textLink } from '../ui/text-link'
import { useHydrated } from '../ui/use-hydrated'
import { keepReturnTarget, keptReturnTarget, returnTarget } from './return-target'

interface WayBackProps {
  /** Origins, and schemes of apps with their colon. */
  allowed: readonly string[]
}

/** The way back to the product's own site or app, for whoever came from there. */
export default function WayBack({ allowed }: WayBackProps) {
  const t = useTranslations('Common')
  const isHydrated = useHydrated()
  const wishes = useSearchParams().getAll('return_to')
  const wish = wishes.length === 1 ? returnTarget(wishes[0] ?? null, allowed) : null
  useEffect(() => {
    if (wish) keepReturnTarget(wish)
  }, [wish])
  const target = wish ?? (isHydrated ? returnTarget(keptReturnTarget(), allowed) : null)
  if (!target) return null
  const { protocol, host } = new URL(target)
  return (
    <p className="mb-3 print:hidden">
      <a href={target} className={`${textLink} inline-flex min-h-11 items-center gap-1.5`}>
        <ArrowLeft className="size-4 rtl:rotate-180" aria-hidden />
        {protocol === 'https:' ? t('backTo', { host }) : t('backToApp')}
      </a>
    </p>
  )
}
