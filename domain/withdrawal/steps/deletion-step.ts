import type { Category, KeptFor } from '@/contract/vocabulary'
import type { StepStatus } from '@/contract/withdrawal'
import type { SystemContext } from '../../context'
import { identifier, type Part, sql } from '../../sql'

/** What the export gives of a table's rows. No member holds a secret, a hash or another person's data. */
export type Exported =
  | {
      /** `provided`: what the person gave. `observed`: what their use of the service produced. */
      kind: 'provided' | 'observed'
      /** The members of a record, and the SQL of each. */
      members: Readonly<Record<string, Part>>
      /** The text that identifies a user's rows and orders them; the column `id` by default. */
      by?: Part
      /** A person may have millions of rows. An index on user and `by` spares every batch a sort of all of them. */
      isLarge?: true
    }
  | { kind: 'never'; because: string }

/** A time as the API writes it, for a member of an export. */
export const utc = (column: string) =>
  sql`to_char(${identifier(column)} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** The amount of a row, null where it has no currency. */
export const amountOf = (minorUnits: string) =>
  sql`CASE WHEN currency IS NOT NULL THEN json_build_object('minor_units', ${identifier(minorUnits)}, 'currency', currency) END`

/** Members that have the names of their columns. */
export const columns = (...names: string[]): Record<string, Part> =>
  Object.fromEntries(names.map((name) => [name, identifier(name)]))

/** A condition on the table's rows of a user, a value. */
export const isOfUser = (table: string, user: Part) => sql`${table === 'users' ? sql`id` : sql`user_id`} = ${user}`

/** Rows of one table that a step deletes. */
export interface Erasure {
  table: string
  /** The public word for these rows; table names are internal. */
  category: Category
  exported: Exported
  /** The column that identifies a user's rows; `id` by default, `user_id` if there is at most one row. */
  key?: string
  /** The column that says when a row happened; `at` by default. */
  time?: string
  /** Limits the entry to some of the user's rows. */
  where?: Part
  /** Rows that the start of a withdrawal will write. The preview adds them to its count. */
  written?: {
    rows: number
    /** If the user already has such a row, the start overwrites it. */
    unless?: Part
    /** Before the start this entry has no rows. */
    only?: true
  }
  /** The columns that are kept under the pseudonym until the purge. None of them can hold an address, a name or an IP. */
  kept?: { for: KeptFor; facts: string[] }
}

interface Window {
  /** The earliest start, counted from the start of the withdrawal. */
  dueMs: number
  /** The time by which the step should be completed, counted from the start. */
  estimateMs: number
}

/** The request itself completes this step, in its own transaction. */
interface RequestStep {
  window: Window
  firstStatus: Extract<StepStatus, 'completed'>
}

/** A step without `erases` does not compile. */
interface ErasingStep {
  window: Window
  firstStatus: Exclude<StepStatus, 'completed'>
  erases: readonly [Erasure, ...Erasure[]]
  /** Runs before the rows are deleted, and again after a crash, because no transaction can undo it. */
  before?(ctx: SystemContext, userId: string): Promise<void>
  /** True if the step erases after all its tasks are done. Other steps erase at once and then wait for their tasks. */
  erasesAfterTasks?: true
}

export type DeletionStep = RequestStep | ErasingStep
