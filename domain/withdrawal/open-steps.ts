import type { Step } from '@/contract/withdrawal'
import type { SystemContext } from '../context'
import { sql, statement, text, time } from '../sql'
import { placeOf } from './steps/deletion-steps'

const read = statement(
  'open-steps',
  { withdrawalId: text },
  { step: text.of<Step>(), due_at: time.orNull },
  (v) =>
    sql`SELECT step, due_at FROM deletion_steps WHERE withdrawal_id = ${v.withdrawalId} ORDER BY due_at, ${placeOf(sql`step`)}`,
)
const readUntried = statement(
  'untried-step',
  { withdrawalId: text, step: text.of<Step>(), now: time },
  { due_at: time },
  (v) => sql`SELECT due_at FROM deletion_steps
   WHERE withdrawal_id = ${v.withdrawalId} AND step = ${v.step} AND due_at > ${v.now} AND attempts = 0`,
)

/** The steps that are not completed, in due order (ISO 8601); none for an unknown withdrawal. */
export async function openSteps(ctx: SystemContext, withdrawalId: string): Promise<{ step: Step; dueAt: string }[]> {
  const rows = await ctx.sql(read, { withdrawalId })
  return rows.flatMap(({ step, due_at }) => (due_at ? [{ step, dueAt: due_at.toISOString() }] : []))
}

/** Milliseconds until a step that was never tried is due; 0 if it may run, has run or is unknown. */
export async function timeUntilDue(
  ctx: SystemContext,
  { withdrawalId, step }: { withdrawalId: string; step: Step },
): Promise<number> {
  const now = ctx.clock.now()
  const [row] = await ctx.sql(readUntried, { withdrawalId, step, now })
  return row ? row.due_at.getTime() - now.getTime() : 0
}
