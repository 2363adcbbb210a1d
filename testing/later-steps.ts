import { STEPS } from '@/contract/withdrawal'
import { erasuresOf } from '@/domain/withdrawal/deletion-map'
import { DELETION_STEPS } from '@/domain/withdrawal/steps/deletion-steps'

/** The steps that run after the request, in the order in which they become due. */
export const LATER_STEPS = STEPS.filter((step) => DELETION_STEPS[step].firstStatus !== 'completed').toSorted(
  (one, other) => DELETION_STEPS[one].window.dueMs - DELETION_STEPS[other].window.dueMs,
)

/** When each of them becomes due, counted from the start; each time once, the earliest first. */
export const DUE_TIMES = [...new Set(LATER_STEPS.map((step) => DELETION_STEPS[step].window.dueMs))]

/** The tables of a person in which no text of the person stands, each with the reason. */
const WITHOUT_TEXTS: Record<string, string> = {
  archive_keys: 'a key',
  archives: 'the copy is encrypted',
  events: 'the addresses are sealed',
  notices: 'what a letter tells is sealed',
  rate_limits: 'counters',
  reauth_requests: 'ids',
  withdrawal_blockers: 'what an application wrote',
}

/** The tables in which a person who has texts everywhere is found before a withdrawal. */
export const TABLES_WITH_TEXTS = [...new Set(LATER_STEPS.flatMap((step) => erasuresOf(step).map(({ table }) => table)))]
  .filter((table) => !Object.hasOwn(WITHOUT_TEXTS, table))
  .toSorted()
