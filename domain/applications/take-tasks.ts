import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { takeTasks as contract } from '@/contract/tasks'
import type { Step } from '@/contract/withdrawal'
import type { Context } from '../context'
import { TASK_LEASE_MS } from '../limits/durations'
import { integer, isOneOf, sql, statement, text, time } from '../sql'
import { claimFor, isClaimable } from '../work/queue'
import { PERSON_OF_TASK, PERSON_ROW, personOf, startsTry } from './deliver'
import { isOpenTask } from './task-states'
import { reportPlaceOf } from './task-token'

const DEFAULT_TASKS = 10

const take = statement(
  'take-tasks',
  { appId: text, now: time, leaseUntil: time, maxRows: integer },
  {
    ...PERSON_ROW,
    id: text,
    withdrawal_id: text,
    phase: text.of<Step>(),
    due_by: time,
    attempts: integer,
  },
  (v) => sql`UPDATE deletion_tasks n SET ${startsTry(v)}
   FROM connected_apps a, withdrawals w, deletion_steps s
   WHERE ${isOneOf(
     sql`n.id`,
     sql`SELECT o.id FROM deletion_tasks o WHERE o.app_id = ${v.appId} AND ${isOpenTask(sql`o`)} AND o.completed_at IS NULL
       AND ${isClaimable(v, sql`o`)}
       ORDER BY o.due_at LIMIT ${v.maxRows} FOR UPDATE SKIP LOCKED`,
   )}
     AND a.id = n.app_id AND a.disabled_at IS NULL AND w.id = n.withdrawal_id AND s.withdrawal_id = n.withdrawal_id AND s.step = n.phase
   RETURNING n.id, n.withdrawal_id, ${PERSON_OF_TASK}, n.phase, n.attempts, s.estimated_completion AS due_by`,
)

/** For an application that polls: its due tasks, which nobody else gets for a minute. */
export async function takeTasks(ctx: Context, { app, limit }: Input<typeof contract>): Promise<Data<typeof contract>> {
  await refuseOthers(ctx, app)
  const claim = claimFor(ctx, TASK_LEASE_MS)
  const rows = await ctx.sql(take, { appId: app, ...claim, maxRows: Number(limit ?? DEFAULT_TASKS) })
  return {
    tasks: rows.flatMap((row) => {
      const person = personOf(ctx, row)
      if (person === null) return []
      const { id, withdrawal_id, phase, attempts: attempt } = row
      const dueBy = row.due_by.toISOString()
      return [{ id, withdrawal_id, ...person, phase, due_by: dueBy, ...reportPlaceOf(ctx, id), attempt }]
    }),
  }
}

const findPolling = statement(
  'find-polling-app',
  { appId: text },
  {},
  (v) => sql`SELECT FROM connected_apps WHERE id = ${v.appId} AND endpoint IS NULL`,
)

/** The tasks of an application name people, and a report on one is believed: no other service may take them. */
async function refuseOthers({ actor, sql }: Context, app: string): Promise<void> {
  const own = actor.service?.appId ?? null
  if (own === null) throw new AppError('AUTH_002', NO_APPLICATION)
  if (own !== app) throw new AppError('AUTH_002', 'This service token takes the tasks of another application.')
  const [polling] = await sql(findPolling, { appId: app })
  if (!polling)
    throw new AppError('AUTH_002', 'Its application is not registered with --poll: its tasks are sent to it.')
}

const NO_APPLICATION =
  'This service token was made for no application. The operator makes one with service-token create --scope tasks:work --app app_….'
