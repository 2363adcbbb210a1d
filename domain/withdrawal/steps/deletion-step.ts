import type { StepStatus } from '@/contract/withdrawal'
import type { SystemContext } from '../../context'

/** What asks for a table's rows to stay until the purge: the law, or the person's own choice. */
export type KeptFor = 'law' | 'analytics' | 'audit_logs' | 'transaction_history'

/** Rows of one table that a step deletes. */
export interface Erasure {
  table: string
  /** The public word for these rows; table names stay inside. */
  category: string
  /** The column that tells a user's rows apart; `id` without it, `user_id` where there is one row at most. */
  key?: string
  /** The column that says when a row happened; `at` without it. */
  time?: string
  /** The rows that this entry means; all of the user's without it. */
  where?: string
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
  /** True where the step stays open until every application has been told. */
  waitsForApplications?: true
}

export type DeletionStep = RequestStep | ErasingStep
