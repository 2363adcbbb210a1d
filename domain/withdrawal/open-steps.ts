import type { Step } from '@/contract/withdrawal'
import { type SystemContext, statement } from '../context'

const read = statement('open-steps', 'SELECT step, due_at FROM deletion_steps WHERE withdrawal_id = $1 ORDER BY due_at')

/** The steps that are not completed, in the order in which they are due (ISO 8601); none for an unknown withdrawal. */
export async function openSteps(ctx: SystemContext, withdrawalId: string): Promise<{ step: Step; dueAt: string }[]> {
  const rows = await ctx.sql<{ step: Step; due_at: Date | null }>(read, [withdrawalId])
  return rows.flatMap(({ step, due_at }) => (due_at ? [{ step, dueAt: due_at.toISOString() }] : []))
}
