import type * as contract from '@/contract/access'
import type { Purpose } from '@/contract/access'
import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import { addEvent } from '../applications/events'
import { type AuditActor, addAudit } from '../audit'
import type { AuditAction } from '../audit-actions'
import type { Actor, Context, SystemContext, Transaction } from '../context'
import { withIsoTimes } from '../iso-times'
import { SESSION_USE_PRECISION_MS, SESSION_USES_WITHIN_IDLE } from '../limits/durations'
import { lockAccountOfId, requireAccountOfId } from '../lock-account'
import { noteIncident } from '../security-incidents'
import { boolean, integer, isOneOf, real, sql, statement, text, time, UNWAITED, type ValuesOf } from '../sql'
import { endAccess } from './end-access'
import { endOne, endOneOf, NOT_LIVE } from './end-one'
import { requireFreshSignIn } from './fresh-sign-in'
import { isStillLive } from './live-caller'

/**
 * Per user. A further sign-in ends the session that was seen longest ago. The limit is needed because sign-ins with the right
 * password are not limited, and listing or ending sessions reads all of them.
 */
const MAX_SESSIONS = 100

type Insert = ValuesOf<typeof insertSession>

const insertSession = statement(
  'start-session',
  {
    id: text,
    userId: text,
    /** No session starts if the password was changed after it was checked. */
    credentialVersion: integer,
    userAgent: text,
    ip: text,
    now: time,
    authenticatedAt: time.orNull,
    /** Such a sign-in is never fresh for an account that the identity provider knows. */
    isWeak: boolean,
    authenticatedFor: text.of<Purpose>().orNull,
    expiresAt: time,
  },
  { id: text },
  (v) => sql`WITH account AS (
     SELECT id, external_id FROM users
     WHERE id = ${v.userId} AND credential_version = ${v.credentialVersion} AND withdrawn_at IS NULL
     FOR NO KEY UPDATE
   ), ended AS (
     UPDATE sessions s SET revoked_at = ${v.now} FROM account
     WHERE s.revoked_at IS NULL AND ${isOneOf(
       sql`s.id`,
       sql`SELECT id FROM sessions WHERE user_id = ${v.userId} AND revoked_at IS NULL AND expires_at > ${v.now}
        ORDER BY last_seen_at DESC, id OFFSET ${MAX_SESSIONS - 1}`,
     )}
   )
   INSERT INTO sessions (id, user_id, user_agent, ip, created_at, last_seen_at, authenticated_at,
                         authenticated_for, expires_at)
   SELECT ${v.id}, id, ${v.userAgent}, ${v.ip}, ${v.now}, ${v.now},
          CASE WHEN ${v.isWeak} AND external_id IS NOT NULL THEN NULL ELSE ${v.authenticatedAt}::timestamptz END,
          ${v.authenticatedFor}, ${v.expiresAt} FROM account
   RETURNING id`,
)

export interface NewSession
  extends Pick<Insert, 'userId' | 'credentialVersion' | 'authenticatedAt' | 'userAgent' | 'ip'> {
  isWeak?: boolean
  /** The only purpose that the sign-in serves; without it, all. */
  authenticatedFor?: Purpose
}

/** What a browser says of itself, as a database can store it. */
export const storableUserAgent = (userAgent: string) => userAgent.replaceAll('\0', '').toWellFormed().slice(0, 300)

/**
 * Returns the session's id; null if the account was withdrawn, or its password changed, since the check.
 * `authenticatedAt` is when the person last signed in or confirmed who they are.
 */
export async function startSession(
  ctx: Pick<SystemContext, 'clock' | 'secrets' | 'sql' | 'limits'>,
  input: NewSession,
): Promise<string | null> {
  const now = ctx.clock.now()
  const { sessionIdleMs, sessionLifetimeMs } = ctx.limits
  const [row] = await ctx.sql(insertSession, {
    id: ctx.secrets.randomId('ses_'),
    ...input,
    isWeak: input.isWeak ?? false,
    authenticatedFor: input.authenticatedFor ?? null,
    userAgent: storableUserAgent(input.userAgent),
    now,
    expiresAt: new Date(now.getTime() + Math.min(sessionIdleMs, sessionLifetimeMs)),
  })
  return row?.id ?? null
}

const touch = statement(
  'touch-session',
  { id: text, now: time, before: time, idleUntil: time, lifetimeMs: real },
  {},
  (v) => sql`UPDATE sessions SET last_seen_at = ${v.now},
     expires_at = least(${v.idleUntil}, created_at + ${v.lifetimeMs} * interval '1 millisecond')
   WHERE id = ${v.id} AND last_seen_at <= ${v.before} AND revoked_at IS NULL AND expires_at > ${v.now}
   RETURNING ${UNWAITED}`,
)

/** Called for what a person does with a session; a page that only asks whether it is still signed in is no use. */
export function noteSessionUse(ctx: SystemContext, { id, lastSeenAt }: Pick<Actor, 'id' | 'lastSeenAt'>): void {
  const now = ctx.clock.now()
  const { sessionIdleMs, sessionLifetimeMs: lifetimeMs } = ctx.limits
  const precisionMs = Math.min(SESSION_USE_PRECISION_MS, sessionIdleMs / SESSION_USES_WITHIN_IDLE)
  const before = new Date(now.getTime() - precisionMs)
  if (!lastSeenAt || lastSeenAt > before) return
  const idleUntil = new Date(now.getTime() + sessionIdleMs)
  ctx.background(() => ctx.sql(touch, { id, now, before, idleUntil, lifetimeMs }))
}

export async function listSessions(ctx: Context): Promise<Data<typeof contract.listSessions>> {
  const sessions = await openSessionsOf(ctx, ctx.actor.userId)
  return { sessions: sessions.map((session) => ({ ...session, current: session.session_id === ctx.actor.id })) }
}

const readOpen = statement(
  'open-sessions',
  { userId: text, now: time },
  { session_id: text, user_agent: text, ip_address: text, created_at: time, last_seen_at: time },
  (v) => sql`SELECT id AS session_id, user_agent, ip AS ip_address, created_at, last_seen_at FROM sessions
   WHERE user_id = ${v.userId} AND revoked_at IS NULL AND expires_at > ${v.now} ORDER BY last_seen_at DESC`,
)

/** Last seen first. */
export async function openSessionsOf(ctx: SystemContext, userId: string) {
  const rows = await ctx.sql(readOpen, { userId, now: ctx.clock.now() })
  return rows.map(withIsoTimes)
}

// Without it a person who confirms the password for something else would be signed out by the verification of the own change.
const passChangeOn = statement(
  'pass-change-on',
  { userId: text, from: text, to: text },
  {},
  (v) => sql`UPDATE email_change_requests SET requested_by = ${v.to}
   WHERE user_id = ${v.userId} AND status = 'pending_verification' AND requested_by = ${v.from}
     AND EXISTS (SELECT FROM sessions WHERE id = ${v.from} AND revoked_at IS NULL)`,
)

/** The same browser has a new session, which asked for the pending change from now on if the old one did. */
export const passChange = (ctx: Pick<SystemContext, 'sql'>, of: ValuesOf<typeof passChangeOn>): Promise<unknown> =>
  ctx.sql(passChangeOn, of)

/** Ends the session that a browser held before it got a new one of this user. Does nothing if it has already ended. */
export async function endReplaced(ctx: SystemContext, of: ValuesOf<typeof passChangeOn>): Promise<void> {
  await passChange(ctx, of)
  await endOne(ctx, 'session', { id: of.from, userId: of.userId, notifiesApps: false, actor: 'session', ip: null })
}

export async function endSession(
  ctx: Context,
  input: Input<typeof contract.endSession>,
): Promise<Data<typeof contract.endSession>> {
  const isOther = input.sessionId !== ctx.actor.id
  if (isOther) requireFreshSignIn(ctx, 'sessions')
  const ended = await endOne(ctx, 'session', {
    id: input.sessionId,
    userId: ctx.actor.userId,
    notifiesApps: isOther,
    actor: 'session',
    ip: null,
  })
  if (!ended) throw new AppError('REQUEST_005', NOT_LIVE.session)
  return { session_id: input.sessionId, ended: true }
}

/** The operator ends a session of any user. */
export const endSessionOf = (ctx: SystemContext, sessionId: string) => endOneOf(ctx, 'session', sessionId)

export async function endOtherSessions(ctx: Context): Promise<Data<typeof contract.endOtherSessions>> {
  requireFreshSignIn(ctx, 'sessions')
  return ctx.transaction(async (tx) => {
    const { userId, id: except, kind: actor } = tx.actor
    if (!(await lockAccountOfId(tx, userId))) return { ended: 0 }
    // Else the call of a thief that waited for the owner's new password would end the owner's session.
    if (!(await isStillLive(tx, tx.actor))) throw new AppError('AUTH_001')
    const by = { userId, except, action: 'session.others_revoked' as const, actor, ip: tx.ip }
    return { ended: await endMany(tx, by) }
  })
}

/** The operator signs the user out everywhere and cancels the pending change. Returns how many sessions ended. */
export const endAllSessions = (ctx: SystemContext, userId: string): Promise<number> =>
  ctx.transaction(async (tx) => {
    await requireAccountOfId(tx, userId)
    await noteIncident(tx, 'sessions_ended', { userId })
    return endMany(tx, { userId, action: 'session.all_revoked', actor: 'operator', ip: null })
  })

async function endMany(
  tx: Transaction,
  { userId, except = '', action, ...by }: AuditActor & { userId: string; except?: string; action: AuditAction },
): Promise<number> {
  const at = tx.clock.now()
  const [{ sessions }] = await Promise.all([
    endAccess(tx, { userId, at, except, ends: ['sessions', 'outside_tokens'] }),
    addAudit(tx, action, { ...by, userId, at }),
    // Outside tokens end too, and nobody knows whether there are any.
    addEvent(tx, 'account.sessions_ended', { userId, at }),
  ])
  return sessions
}
