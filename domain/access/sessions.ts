import type * as contract from '@/contract/access'
import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import { type Context, type SystemContext, statement, UNWAITED } from '../context'
import { lockActiveUser } from '../user'

const SESSION_LIFETIME_MS = 30 * 24 * 60 * 60 * 1000
/** One more ends the one that was seen longest ago: right passwords are not counted, and what lists or ends sessions reads all. */
const MOST_SESSIONS = 100

// Whoever signs in with a password that is changed meanwhile stays outside.
const insertSession = statement(
  'start-session',
  `WITH account AS (
     UPDATE users SET version = version + 1 WHERE id = $2 AND password_hash = $7 AND withdrawn_at IS NULL RETURNING id
   ), ended AS (
     UPDATE sessions s SET revoked_at = $5 FROM account
     WHERE s.revoked_at IS NULL AND s.id = ANY(ARRAY(
       SELECT id FROM sessions WHERE user_id = $2 AND revoked_at IS NULL AND expires_at > $5
       ORDER BY last_seen_at DESC, id OFFSET ${MOST_SESSIONS - 1}
     ))
   )
   INSERT INTO sessions (id, user_id, user_agent, ip, created_at, last_seen_at, expires_at)
   SELECT $1, id, $3, $4, $5, $5, $6 FROM account
   RETURNING id`,
)

/** Returns the session's id, or null when the account was withdrawn, or its password changed, since `passwordHash` was checked. */
export async function startSession(
  ctx: SystemContext,
  { userId, passwordHash, userAgent, ip }: { userId: string; passwordHash: string; userAgent: string; ip: string },
): Promise<string | null> {
  const now = ctx.clock.now()
  const [row] = await ctx.sql<{ id: string }>(insertSession, [
    ctx.secrets.randomId('ses_'),
    userId,
    userAgent.replaceAll('\0', '').toWellFormed().slice(0, 300),
    ip,
    now,
    new Date(now.getTime() + SESSION_LIFETIME_MS),
    passwordHash,
  ])
  return row?.id ?? null
}

const touch = statement(
  'touch-session',
  `UPDATE sessions SET last_seen_at = $2 WHERE id = $1 AND last_seen_at < $3 AND revoked_at IS NULL RETURNING ${UNWAITED}`,
)

/** Last seen is kept to the minute. */
export async function touchSession(ctx: SystemContext, sessionId: string): Promise<void> {
  const now = ctx.clock.now()
  await ctx.sql(touch, [sessionId, now, new Date(now.getTime() - 60_000)])
}

export async function listSessions(ctx: Context): Promise<Data<typeof contract.listSessions>> {
  const sessions = await openSessionsOf(ctx, ctx.actor.userId)
  return { sessions: sessions.map((session) => ({ ...session, current: session.session_id === ctx.actor.id })) }
}

/** Last seen first. */
export async function openSessionsOf(ctx: SystemContext, userId: string) {
  const sessions = await ctx.db.session.findMany({
    where: { userId, revokedAt: null, expiresAt: { gt: ctx.clock.now() } },
    orderBy: { lastSeenAt: 'desc' },
  })
  return sessions.map((session) => ({
    session_id: session.id,
    user_agent: session.userAgent,
    created_at: session.createdAt.toISOString(),
    last_seen_at: session.lastSeenAt.toISOString(),
  }))
}

const endOne = statement(
  'end-session',
  `WITH ended AS (
     UPDATE sessions SET revoked_at = $2 WHERE id = $1 AND ($4::text IS NULL OR user_id = $4) AND revoked_at IS NULL
     RETURNING id, user_id
   )
   INSERT INTO audit_events (id, user_id, action, actor, subject_id, at)
   SELECT $3, user_id, 'session.revoked', $5, id, $2 FROM ended
   RETURNING subject_id, user_id`,
)

/** Signing out; a session that has ended already stays as it is. */
export async function signOut(ctx: SystemContext, sessionId: string): Promise<void> {
  await ctx.sql(endOne, [sessionId, ctx.clock.now(), ctx.secrets.randomId('aud_'), null, 'session'])
}

export async function endSession(
  ctx: Context,
  input: Input<typeof contract.endSession>,
): Promise<Data<typeof contract.endSession>> {
  const auditId = ctx.secrets.randomId('aud_')
  const rows = await ctx.sql(endOne, [input.sessionId, ctx.clock.now(), auditId, ctx.actor.userId, 'session'])
  if (rows.length === 0) throw new AppError('REQUEST_005', 'There is no session with this id that is still signed in.')
  return { session_id: input.sessionId, ended: true }
}

/** By the operator. */
export async function endSessionOf(ctx: SystemContext, sessionId: string): Promise<{ userId: string }> {
  const values = [sessionId, ctx.clock.now(), ctx.secrets.randomId('aud_'), null, 'operator']
  const [row] = await ctx.sql<{ user_id: string }>(endOne, values)
  if (!row) throw new AppError('REQUEST_001', 'There is no session with this id that is still signed in.')
  return { userId: row.user_id }
}

// Whoever had signed in elsewhere may have started the change that is pending.
const endOthers = statement(
  'end-other-sessions',
  `WITH ended AS (
     UPDATE sessions SET revoked_at = $3 WHERE user_id = $1 AND id <> $2 AND revoked_at IS NULL AND expires_at > $3
     RETURNING id
   ), cancelled AS (
     UPDATE email_change_requests SET status = 'cancelled', closed_at = $3
     WHERE user_id = $1 AND status = 'pending_verification'
   ), audited AS (
     INSERT INTO audit_events (id, user_id, action, actor, ip, at) VALUES ($4, $1, 'session.others_revoked', $5, $6, $3)
   )
   SELECT count(*)::int AS ended FROM ended`,
)

export async function endOtherSessions(ctx: Context): Promise<Data<typeof contract.endOtherSessions>> {
  const { userId, id, kind } = ctx.actor
  const auditId = ctx.secrets.randomId('aud_')
  const [row] = await ctx.transaction(async (sql) => {
    await sql(lockActiveUser, [userId])
    return sql<{ ended: number }>(endOthers, [userId, id, ctx.clock.now(), auditId, kind, ctx.ip])
  })
  return { ended: row?.ended ?? 0 }
}

const endAll = statement(
  'end-all-sessions',
  `WITH ended AS (
     UPDATE sessions SET revoked_at = $2 WHERE user_id = $1 AND revoked_at IS NULL AND expires_at > $2
     RETURNING id
   ), cancelled AS (
     UPDATE email_change_requests SET status = 'cancelled', closed_at = $2
     WHERE user_id = $1 AND status = 'pending_verification'
   ), audited AS (
     INSERT INTO audit_events (id, user_id, action, actor, at) VALUES ($3, $1, 'session.all_revoked', 'operator', $2)
   )
   SELECT count(*)::int AS ended FROM ended`,
)

/** By the operator: signs the user out everywhere and cancels the pending change. Returns how many sessions ended. */
export async function endAllSessions(ctx: SystemContext, userId: string): Promise<number> {
  const [row] = await ctx.transaction(async (sql) => {
    if ((await sql(lockActiveUser, [userId])).length === 0) {
      throw new AppError('REQUEST_001', 'There is no active user with this id.')
    }
    return sql<{ ended: number }>(endAll, [userId, ctx.clock.now(), ctx.secrets.randomId('aud_')])
  })
  return row?.ended ?? 0
}
