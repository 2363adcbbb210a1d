import type { ShownAudit } from '@/contract/operator'
import type { ShownTask } from '@/contract/tasks'
import type { AuditAction } from './audit-actions'
import type { Actor, AnyContext } from './context'
import { type Described, integer, type Part, sql, statement, text, time } from './sql'

/** Who did what the audit tells. */
export interface AuditActor {
  actor: string
  /** Who acts, where `actor` alone does not say it; left out, the service token of the caller. */
  actorId?: string | null
  requestedBy?: string | null
  ip: string | null
  /** For the letters; the audit does not keep it. */
  userAgent?: string
}

interface Audited extends AuditActor {
  userId: string
  subject?: string
  at: Date
}

const insertAudit = statement(
  'add-audit',
  {
    id: text,
    userId: text,
    action: text,
    actor: text,
    actorId: text.orNull,
    requestedBy: text.orNull,
    subject: text.orNull,
    ip: text.orNull,
    at: time,
  },
  {},
  (v) => sql`INSERT INTO audit_events (id, user_id, action, actor, actor_id, requested_by, subject_id, ip, at)
   VALUES (${v.id}, ${v.userId}, ${v.action}, ${v.actor}, ${v.actorId}, ${v.requestedBy}, ${v.subject}, ${v.ip}, ${v.at})`,
)

/** The service token by which this kind of actor calls: its own, or the one that issued its page token. */
export const serviceTokenOf = (actor: Actor | undefined, kind: string): string | null =>
  actor && (kind === 'service' || kind === 'page_token') ? actor.id : null

export async function addAudit(ctx: AnyContext & { actor?: Actor }, action: AuditAction, of: Audited): Promise<void> {
  const { actorId = serviceTokenOf(ctx.actor, of.actor), requestedBy = null, subject = null } = of
  const { sql, secrets } = ctx
  await sql(insertAudit, { ...of, id: secrets.randomId('aud_'), action, actorId, requestedBy, subject })
}

/** What operators see of a row, by the names of its columns. */
export const ACT = {
  id: text,
  action: text,
  actor: text,
  actor_id: text.orNull,
  subject_id: text.orNull,
  requested_by: text.orNull,
  at: time,
  service_name: text.orNull,
  operator_email: text.orNull,
}
export const SELECT_ACT = sql`id, action, actor, actor_id, subject_id, requested_by, at,
     (SELECT name FROM service_tokens t WHERE t.id = actor_id) AS service_name,
     (SELECT email FROM users o WHERE o.id = actor_id AND actor = 'operator' AND o.withdrawn_at IS NULL) AS operator_email`

/** Of who acted, the id of a service or of an operator alone: any other is of the person. */
export const describeAct = ({ id, actor_id, at, ...act }: Described<typeof ACT>): ShownAudit => ({
  audit_id: id,
  ...act,
  service_token_id: actor_id?.startsWith('svt_') ? actor_id : null,
  operator_id: act.actor === 'operator' ? actor_id : null,
  at: at.toISOString(),
})

/** When somebody last had one of these withdrawals or deletion tasks tried again. */
export const retriedAt = (ids: Part) =>
  sql`(SELECT max(at) FROM audit_events r WHERE action IN ('withdrawal.retried', 'task.retried') AND subject_id IN (${ids}))`

const readActsOnApp = statement(
  'acts-on-app',
  { appId: text, ids: text.list, maxRows: integer },
  ACT,
  (v) => sql`SELECT ${SELECT_ACT} FROM (
     SELECT * FROM audit_events
     WHERE action IN ('app.registered', 'app.changed', 'app.disabled', 'app.enabled', 'app.secret_rotated', 'events.resent')
       AND subject_id = ${v.appId}
     UNION ALL
     SELECT * FROM audit_events
     WHERE action IN ('withdrawal.retried', 'task.retried', 'task.waived') AND subject_id = ANY(${v.ids}::text[])
   ) audit ORDER BY at DESC, id DESC LIMIT ${v.maxRows}`,
)

interface ActsOnApp {
  appId: string
  tasks: readonly Pick<ShownTask, 'task_id' | 'withdrawal_id'>[]
  maxRows: number
}

/** For operators: what was done to an application and to these tasks of it, the newest first. */
export async function actsOnApp(ctx: AnyContext, { tasks, ...of }: ActsOnApp): Promise<ShownAudit[]> {
  // Who has a deletion tried again has its tasks tried again.
  const ids = tasks.flatMap(({ task_id, withdrawal_id }) => [task_id, withdrawal_id])
  return (await ctx.sql(readActsOnApp, { ...of, ids })).map(describeAct)
}
