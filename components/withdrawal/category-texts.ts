import { useLocale, useTranslations } from 'use-intl/react'
import { CATEGORIES, type Category } from '@/contract/vocabulary'

interface Count {
  category: string
  records: number
  /** There are more than `records`. */
  more?: boolean | undefined
}

/**
 * The categories that people know by their numbers. The text sums up the rest: nobody knows it, and of sessions and access tokens the ended
 * ones count too, which no other page does.
 */
const KNOWN: readonly string[] = [
  'account',
  'profile',
  'preferences',
  'email_changes',
  'transactions',
  'shared_data',
  'analytics',
  'archived_copies',
] satisfies Category[]

const isCategory = (category: string): category is Category => (CATEGORIES as readonly string[]).includes(category)

/** “Calendar and Notes” in the reader's language. */
export function useListed() {
  const language = useLocale()
  return (texts: readonly string[]): string => new Intl.ListFormat(language).format(texts)
}

/** The names that people know for the categories of a deletion. A category without a name keeps its word. */
export function useCategoryTexts() {
  const t = useTranslations('Deletion')
  const language = useLocale()
  const listed = useListed()

  /** “4 sessions” */
  function countText({ category, records, more }: Count): string {
    const what = isCategory(category)
      ? t(`categories.${category}`, { count: records })
      : `${records.toLocaleString(language)} ${category.replaceAll('_', ' ')}`
    return more ? t('moreThan', { what }) : what
  }

  /** “1 account, 2 email changes and technical data”: what nobody knows is named without its number. */
  function peoplesText(counts: readonly Count[]): string {
    const merged = mergedByCategory(counts)
    const known = merged.filter(({ category }) => KNOWN.includes(category))
    return listed([...known.map(countText), ...(known.length < merged.length ? [t('technical')] : [])])
  }

  /** What stays and until when. */
  function keptCounts(retained: readonly (Count & { until: string })[]) {
    const groups = Map.groupBy(retained, ({ until }) => until)
    return [...groups].map(([until, counts]) => ({ what: listed(mergedByCategory(counts).map(countText)), until }))
  }

  return { countText, peoplesText, keptCounts }
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
