import type { Category, KeptFor } from '@/contract/vocabulary'
import type { StepStatus } from '@/contract/withdrawal'
import type { SystemContext } from '../../context'

/** What the export of one's own data gives of a table's rows. Secrets, hashes and other people's data are in no member. */
export type Exported =
  | {
      /** `provided`: what the person gave. `observed`: what came of their use of the service. */
      kind: 'provided' | 'observed'
      /** The members of a record, and the SQL of each. */
      members: Record<string, string>
      /** The text column that tells a user's rows apart and orders them; `id` without it. */
      by?: string
      /** A person may have millions: there is an index on user and `by`, so that no batch sorts the rows of all. */
      isLarge?: true
    }
  | { kind: 'never'; because: string }

/** A time as the API writes it, for a member of an export. */
export const utc = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** Rows of one table that a step deletes. */
export interface Erasure {
  table: string
  /** The public word for these rows; table names stay inside. */
  category: Category
  exported: Exported
  /** The column that tells a user's rows apart; `id` without it, `user_id` where there is one row at most. */
  key?: string
  /** The column that says when a row happened; `at` without it. */
  time?: string
  /** The rows that this entry means; all of the user's without it. */
  where?: string
  /** Rows that the start of a withdrawal writes. The preview, which comes before it, adds them to what it counts. */
  written?: {
    rows: number
    /** Where such a row of the user is there already, it is written over. */
    unless?: string
    /** Before the start there are no rows of this entry. */
    only?: true
  }
  /** Kept under the pseudonym until the purge, these columns alone: none of them can hold an address, a name or an IP. */
  kept?: { for: KeptFor; facts: string[] }
}

interface Window {
  /** The earliest begin, counted from the start of the withdrawal. */
  dueMs: number
  /** The time by which the step should be completed, counted from the start. */
  estimateMs: number
}

/** The request itself does it, in its own transaction. */
interface RequestStep {
  window: Window
  firstStatus: Extract<StepStatus, 'completed'>
}

/** A step that does not say what it erases does not compile. */
export interface ErasingStep {
  window: Window
  firstStatus: Exclude<StepStatus, 'completed'>
  erases: readonly [Erasure, ...Erasure[]]
  /** What no transaction can take back; it runs before the rows are deleted, and again after a crash. */
  before?(ctx: SystemContext, userId: string): Promise<void>
  /** True where the step erases once all its tasks are done; the others erase at once, and then wait for their tasks. */
  erasesAfterTasks?: true
}

export type DeletionStep = RequestStep | ErasingStep
