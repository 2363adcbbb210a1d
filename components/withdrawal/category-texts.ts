import { useLocale, useTranslations } from 'use-intl/react'
import { CATEGORIES, type Category, KEPT_FOR } from '@/contract/vocabulary'

interface Count {
  category: string
  records: number
  /** There are more than `records`. */
  more?: boolean | undefined
}

const isCategory = (category: string): category is Category => (CATEGORIES as readonly string[]).includes(category)

/** What people call the records of a deletion. A word that this page does not know yet stands for itself. */
export function useCategoryTexts() {
  const t = useTranslations('Deletion')
  const language = useLocale()

  /** “4 sessions” */
  function countText({ category, records, more }: Count): string {
    const what = isCategory(category)
      ? t(`categories.${category}`, { count: records })
      : `${records.toLocaleString(language)} ${category.replaceAll('_', ' ')}`
    return more ? t('moreThan', { what }) : what
  }

  /** “4 sessions, 12 archived copies and 1 profile” */
  const countsText = (counts: readonly Count[]): string =>
    new Intl.ListFormat(language, { type: 'conjunction' }).format(counts.map(countText))

  /** Why records stay. */
  function reasonText(reason: string): string {
    if (reason === 'law') return t('reasons.law')
    return (KEPT_FOR as readonly string[]).includes(reason) ? t('reasons.choice') : reason.replaceAll('_', ' ')
  }

  return { countText, countsText, reasonText }
}

/** Rows of one category may be deleted by several steps. */
export function mergedByCategory(counts: readonly Count[]): Count[] {
  const merged = new Map<string, Count>()
  for (const { category, records, more } of counts) {
    const before = merged.get(category)
    merged.set(category, { category, records: records + (before?.records ?? 0), more: more || before?.more })
  }
  return [...merged.values()]
}
