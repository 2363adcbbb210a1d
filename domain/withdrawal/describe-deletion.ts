import { KEPT_FOR } from '@/contract/vocabulary'
import { STEPS, type Step } from '@/contract/withdrawal'
import type { SystemContext } from '../context'
import { DELETION_MAP, erasuresOf } from './deletion-map'
import { retentionDays } from './schedule'
import type { Erasure } from './steps/deletion-step'
import { DELETION_STEPS } from './steps/deletion-steps'

/** When each step should be done, counted from the start, as the answers show it; 0 for the step that the request itself completes. */
export const stepTimes = ({ timeScale }: Pick<SystemContext, 'timeScale'>): { step: Step; withinMs: number }[] =>
  STEPS.map((step) => {
    const { firstStatus, window } = DELETION_STEPS[step]
    return { step, withinMs: firstStatus === 'completed' ? 0 : window.estimateMs * timeScale }
  })

/** Without what stays for every account. */
const categoriesOf = (erasures: readonly Pick<Erasure, 'category' | 'kept'>[]) => [
  ...new Set(erasures.flatMap(({ category, kept }) => (kept?.for === 'law' ? [] : [category]))),
]

/** What the deletion of any account does, for people who are not signed in. */
export function describeDeletion(ctx: SystemContext) {
  const kept = new Map(DELETION_MAP.flatMap(({ category, kept }) => (kept ? [[category, kept.for] as const] : [])))
  return {
    /** In the order of their times. */
    steps: stepTimes(ctx)
      .map((each) => ({ ...each, erases: categoriesOf(erasuresOf(each.step)) }))
      .toSorted((a, b) => a.withinMs - b.withinMs),
    /** What is kept under a pseudonym until the retention ends, and for what; first what is kept for every account. */
    kept: [...kept]
      .map(([category, reason]) => ({ category, for: reason }))
      .toSorted((a, b) => KEPT_FOR.indexOf(a.for) - KEPT_FOR.indexOf(b.for)),
    /** What the purge deletes. */
    untilPurge: categoriesOf(erasuresOf('purge')),
    retentionDays: retentionDays(ctx.limits.withdrawalRetentionMs),
  }
}

/** What applications may keep, and why, in the words that were registered with them. */
export async function describeApplications(ctx: SystemContext): Promise<{ categories: string[]; reasons: string[] }> {
  const apps = await ctx.db.connectedApp.findMany({ select: { categories: true, reasons: true } })
  const wordsOf = (name: 'categories' | 'reasons') => [...new Set(apps.flatMap((app) => app[name]))].toSorted()
  return { categories: wordsOf('categories'), reasons: wordsOf('reasons') }
}
