import type { AuditAction } from './audit-actions'
import type { AnyContext } from './context'
import { sql, statement, text, time } from './sql'

/** Who did what the audit tells. */
export interface AuditActor {
  actor: string
  /** The service token that acts. */
  actorId?: string | null
  requestedBy?: string | null
  ip: string | null
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

export async function addAudit({ sql, secrets }: AnyContext, action: AuditAction, of: Audited): Promise<void> {
  const { actorId = null, requestedBy = null, subject = null } = of
  await sql(insertAudit, { ...of, id: secrets.randomId('aud_'), action, actorId, requestedBy, subject })
}
