import { type AuditActor, addAudit } from '../audit'
import type { SystemContext } from '../context'
import { type Part, sql, statement, text, time } from '../sql'

const end = (name: string, table: Part) =>
  statement(
    name,
    { id: text, userId: text.orNull, now: time },
    { user_id: text },
    (v) => sql`UPDATE ${table} SET revoked_at = ${v.now}
   WHERE id = ${v.id} AND (${v.userId}::text IS NULL OR user_id = ${v.userId}) AND revoked_at IS NULL
   RETURNING user_id`,
  )
const ENDS = {
  session: end('end-session', sql`sessions`),
  access_token: end('revoke-access-token', sql`access_tokens`),
}

interface One extends AuditActor {
  id: string
  /** Null ends one of any user. */
  userId: string | null
}

/** The user whose session or token ended; undefined if it had already ended. */
export const endOne = (
  ctx: SystemContext,
  kind: keyof typeof ENDS,
  { id, userId, ...by }: One,
): Promise<string | undefined> =>
  ctx.transaction(async (tx) => {
    const at = tx.clock.now()
    const [ended] = await tx.sql(ENDS[kind], { id, userId, now: at })
    if (ended) await addAudit(tx, `${kind}.revoked`, { ...by, userId: ended.user_id, subject: id, at })
    return ended?.user_id
  })
