import type { Step } from '@/contract/withdrawal'
import { type SystemContext, statement } from '../context'

const read = statement('open-steps', 'SELECT step, due_at FROM deletion_steps WHERE withdrawal_id = $1 ORDER BY due_at')
const readUntried = statement(
  'untried-step',
  'SELECT due_at FROM deletion_steps WHERE withdrawal_id = $1 AND step = $2 AND due_at > $3 AND attempts = 0',
)

/** The steps that are not completed, in the order in which they are due (ISO 8601); none for an unknown withdrawal. */
export async function openSteps(ctx: SystemContext, withdrawalId: string): Promise<{ step: Step; dueAt: string }[]> {
  const rows = await ctx.sql<{ step: Step; due_at: Date | null }>(read, [withdrawalId])
  return rows.flatMap(({ step, due_at }) => (due_at ? [{ step, dueAt: due_at.toISOString() }] : []))
}

/** How long a step that nobody has tried yet has to wait; 0 where it may run, has run or is unknown. */
export async function timeUntilDue(
  ctx: SystemContext,
  { withdrawalId, step }: { withdrawalId: string; step: Step },
): Promise<number> {
  const now = ctx.clock.now()
  const [row] = await ctx.sql<{ due_at: Date }>(readUntried, [withdrawalId, step, now])
  return row ? row.due_at.getTime() - now.getTime() : 0
}
