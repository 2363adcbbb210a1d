import { useLocale, useTranslations } from 'use-intl/react'
import { CATEGORIES, type Category, KEPT_FOR } from '@/contract/vocabulary'

interface Count {
  category: string
  records: number
  /** There are more than `records`. */
  more?: boolean | undefined
}

/** The categories that other pages show too. The text sums up the rest, because people do not know it. */
const KNOWN: readonly string[] = [
  'account',
  'profile',
  'preferences',
  'sessions',
  'access_tokens',
  'email_changes',
  'transactions',
  'shared_data',
  'analytics',
  'archived_copies',
] satisfies Category[]

const isCategory = (category: string): category is Category => (CATEGORIES as readonly string[]).includes(category)

/** The names that people know for the categories of a deletion. A category without a name keeps its word. */
export function useCategoryTexts() {
  const t = useTranslations('Deletion')
  const language = useLocale()
  const listed = (texts: readonly string[]) => new Intl.ListFormat(language).format(texts)

  /** “4 sessions” */
  function countText({ category, records, more }: Count): string {
    const what = isCategory(category)
      ? t(`categories.${category}`, { count: records })
      : `${records.toLocaleString(language)} ${category.replaceAll('_', ' ')}`
    return more ? t('moreThan', { what }) : what
  }

  /** “4 sessions, 12 archived copies and 1 profile” */
  const countsText = (counts: readonly Count[]): string => listed(counts.map(countText))

  /** “2 sessions, 1 profile and 9 technical records”. `open` counts what has not ended yet, where other pages show that. */
  function peoplesText(counts: readonly Count[], open: Partial<Record<string, number>> = {}): string {
    const named: Count[] = []
    const technical = { records: 0, more: false }
    for (const { category, records, more } of mergedByCategory(counts)) {
      const shown = KNOWN.includes(category) ? Math.min(records, open[category] ?? records) : 0
      if (shown > 0) named.push({ category, records: shown, more: more && shown === records })
      technical.records += records - shown
      technical.more ||= Boolean(more && shown < records)
    }
    const rest = t('technical', { count: technical.records })
    return listed([
      ...named.map(countText),
      ...(technical.records > 0 ? [technical.more ? t('moreThan', { what: rest }) : rest] : []),
    ])
  }

  /** Why records stay. */
  function reasonText(reason: string): string {
    if (reason === 'law') return t('reasons.law')
    return (KEPT_FOR as readonly string[]).includes(reason) ? t('reasons.choice') : reason.replaceAll('_', ' ')
  }

  return { countText, countsText, peoplesText, reasonText, listed }
}

/** Rows of one category may be deleted by several steps. */
function mergedByCategory(counts: readonly Count[]): Count[] {
  const merged = new Map<string, Count>()
  for (const { category, records, more } of counts) {
    const before = merged.get(category)
    merged.set(category, { category, records: records + (before?.records ?? 0), more: more || before?.more })
  }
  return [...merged.values()]
}
