import { type SystemContext, statement } from '../context'

const SESSION_LIFETIME_MS = 30 * 24 * 60 * 60 * 1000

const insertSession = statement(
  'start-session',
  `INSERT INTO sessions (id, user_id, user_agent, ip, created_at, last_seen_at, expires_at)
   SELECT $1, id, $3, $4, $5, $5, $6 FROM users WHERE id = $2 AND withdrawn_at IS NULL FOR SHARE
   RETURNING id`,
)

/** Returns the session's id, or null when the account was withdrawn meanwhile. */
export async function startSession(
  ctx: SystemContext,
  { userId, userAgent, ip }: { userId: string; userAgent: string; ip: string },
): Promise<string | null> {
  const now = ctx.clock.now()
  const expiresAt = new Date(now.getTime() + SESSION_LIFETIME_MS)
  const agent = userAgent.replaceAll('\0', '').toWellFormed().slice(0, 300)
  const [row] = await ctx.sql<{ id: string }>(insertSession, [
    ctx.secrets.randomId('ses_'),
    userId,
    agent,
    ip,
    now,
    expiresAt,
  ])
  return row?.id ?? null
}

const endOne = statement(
  'end-session',
  `WITH ended AS (UPDATE sessions SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL RETURNING id, user_id)
   INSERT INTO audit_events (id, user_id, action, actor, subject_id, at)
   SELECT $3, user_id, 'session.revoked', 'session', id, $2 FROM ended`,
)

/** Signing out; a session that has ended already stays as it is. */
export async function endSession(ctx: SystemContext, sessionId: string): Promise<void> {
  await ctx.sql(endOne, [sessionId, ctx.clock.now(), ctx.secrets.randomId('aud_')])
}

const touch = statement(
  'touch-session',
  'UPDATE sessions SET last_seen_at = $2 WHERE id = $1 AND last_seen_at < $3 AND revoked_at IS NULL',
)

/** Last seen is kept to the minute. */
export async function touchSession(ctx: SystemContext, sessionId: string): Promise<void> {
  const now = ctx.clock.now()
  await ctx.sql(touch, [sessionId, now, new Date(now.getTime() - 60_000)])
}
