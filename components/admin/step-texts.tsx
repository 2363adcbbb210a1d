'use client'

import { useTranslations } from 'use-intl/react'
import { count, toLabel } from '@/contract/words'
import { useCategoryTexts, useListed } from '../withdrawal/category-texts'

/** A deletion step as the person reads it. A newer instance may have steps that this one has no words for. */
export function StepName({ step }: { step: string }) {
  const t = useTranslations('Deletion')
  const key = `steps.${step as 'user_profile'}.title` as const
  return t.has(key) ? t(key) : toLabel(step)
}

/** “4 sessions and 1 profile” */
export function Counts({ of }: { of: readonly { category: string; records: number }[] }) {
  const { countText } = useCategoryTexts()
  const listed = useListed()
  return listed(
    // The words that people read speak to the person who got the mails.
    of.map((each) => (each.category === 'messages' ? count(each.records, 'mail record') : countText(each))),
  )
}
