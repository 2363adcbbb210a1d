import { createHash } from 'node:crypto'
import { SCOPES, type Scope } from '@/contract/define'
import type { VerificationMethod } from '@/contract/email'
import { type Actor, type OutsideIssuer, type SystemContext, statement, UNWAITED } from '../context'

interface UserRow {
  user_id: string
  name: string
  email: string
  email_verified_at: Date | null
  withdrawn_at: Date | null
  version: number
  change_id: string | null
  new_email: string
  method: VerificationMethod
  attempts: number
  requested_at: Date
  sent_at: Date
  change_expires_at: Date
}

interface CredentialRow extends UserRow {
  id: string
  expires_at: Date
  revoked_at: Date | null
}

interface AccessTokenRow extends CredentialRow {
  scopes: Scope[]
  last_used_at: Date | null
}

// The user and the pending change come along, so that a read needs no second statement.
const withUser = (columns: string, tables: string, key: string) =>
  `SELECT ${columns} u.id AS user_id, u.name, u.email, u.email_verified_at, u.withdrawn_at, u.version,
          p.id AS change_id, p.new_email, p.method, p.attempts, p.requested_at, p.sent_at, p.expires_at AS change_expires_at
   FROM ${tables}
   LEFT JOIN email_change_requests p ON p.user_id = u.id AND p.status = 'pending_verification'
   WHERE ${key} = $1`

const byAccessToken = statement(
  'actor-by-access-token',
  withUser(
    't.id, t.expires_at, t.revoked_at, t.scopes, t.last_used_at,',
    'access_tokens t JOIN users u ON u.id = t.user_id',
    't.token_hash',
  ),
)
const bySession = statement(
  'actor-by-session',
  withUser('s.id, s.expires_at, s.revoked_at,', 'sessions s JOIN users u ON u.id = s.user_id', 's.id'),
)
const byUserId = statement('actor-by-user', withUser('', 'users u', 'u.id'))

export const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

const ACCESS_TOKEN = /^uat_[A-Za-z0-9_-]{43}$/
const SESSION_TOKEN = /^pst_(ses_[A-Za-z0-9_-]{22})\.(\d{1,12})\.([A-Za-z0-9_-]{43})$/
/** Three parts of base64url: a JWT. A session token has three parts as well. */
const OUTSIDE_TOKEN = /^(?!pst_)[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/
const SESSION_TOKEN_SECONDS = 10 * 60
/** A browser session may do everything that its pages offer. */
export const ALL_SCOPES = Object.keys(SCOPES) as Scope[]

/** Whose token this is, or null when it opens nothing: unknown, expired, revoked, or of a withdrawn account. */
export async function authenticate(ctx: SystemContext, token: string): Promise<Actor | null> {
  if (ACCESS_TOKEN.test(token)) return authenticateAccessToken(ctx, token)
  if (ctx.outsideIssuer && OUTSIDE_TOKEN.test(token)) return authenticateOutsideToken(ctx, ctx.outsideIssuer, token)
  const sessionId = sessionOf(ctx, token)
  return sessionId ? authenticateSession(ctx, sessionId) : null
}

async function authenticateAccessToken(ctx: SystemContext, token: string): Promise<Actor | null> {
  const [row] = await ctx.sql<AccessTokenRow>(byAccessToken, [sha256(token)])
  if (!row || !isLive(ctx, row)) return null
  noteUse(ctx, row)
  return toActor(row, { kind: 'access_token', id: row.id, scopes: row.scopes })
}

async function authenticateOutsideToken(
  ctx: SystemContext,
  issuer: OutsideIssuer,
  token: string,
): Promise<Actor | null> {
  const verified = await issuer.verify(token)
  const [row] = verified ? await ctx.sql<UserRow>(byUserId, [verified.userId]) : []
  if (!verified || !row || row.withdrawn_at) return null
  const outsideToken = { hash: sha256(token), expiresAt: verified.expiresAt }
  return toActor(row, { kind: 'outside_token', id: '', scopes: verified.scopes, outsideToken })
}

/** The session that a genuine, unexpired session token names. */
function sessionOf(ctx: SystemContext, token: string): string | null {
  const [, sessionId = '', expires = '', mac = ''] = SESSION_TOKEN.exec(token) ?? []
  if (!sessionId || Number(expires) * 1000 <= ctx.clock.now().getTime()) return null
  const genuine = ctx.secrets.macMatches('session-token', `${sessionId}.${expires}`, Buffer.from(mac, 'base64url'))
  return genuine ? sessionId : null
}

/** What a withdrawal remembers a credential by; null for what cannot be one. */
export function hashOfCredential(ctx: SystemContext, token: string): Buffer | null {
  const isWhole = ACCESS_TOKEN.test(token) || (ctx.outsideIssuer && OUTSIDE_TOKEN.test(token))
  const text = isWhole ? token : sessionOf(ctx, token)
  return text ? sha256(text) : null
}

/** For the pages: the session that the signed cookie names. */
export async function authenticateSession(ctx: SystemContext, sessionId: string): Promise<Actor | null> {
  const [row] = await ctx.sql<CredentialRow>(bySession, [sessionId])
  return row && isLive(ctx, row) ? toActor(row, { kind: 'session', id: row.id, scopes: ALL_SCOPES }) : null
}

/** A bearer token for the pages of one session; it dies with the session, after ten minutes at most. */
export function createSessionToken(ctx: SystemContext, sessionId: string): { token: string; expiresAt: Date } {
  const expires = Math.floor(ctx.clock.now().getTime() / 1000) + SESSION_TOKEN_SECONDS
  const text = `${sessionId}.${expires}`
  const mac = ctx.secrets.mac('session-token', text).toString('base64url')
  return { token: `pst_${text}.${mac}`, expiresAt: new Date(expires * 1000) }
}

const isLive = (ctx: SystemContext, row: CredentialRow): boolean =>
  !row.revoked_at && !row.withdrawn_at && row.expires_at > ctx.clock.now()

const toActor = (row: UserRow, credential: Pick<Actor, 'kind' | 'id' | 'scopes' | 'outsideToken'>): Actor => ({
  ...credential,
  userId: row.user_id,
  user: { name: row.name, email: row.email, emailVerifiedAt: row.email_verified_at, version: row.version },
  pendingChange: row.change_id
    ? {
        id: row.change_id,
        newEmail: row.new_email,
        method: row.method,
        attempts: row.attempts,
        requestedAt: row.requested_at,
        sentAt: row.sent_at,
        expiresAt: row.change_expires_at,
      }
    : null,
})

const touchToken = statement(
  'touch-access-token',
  `UPDATE access_tokens SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $3) RETURNING ${UNWAITED}`,
)

/** Last use is kept to the minute, so that a busy token does not write on every call. */
function noteUse(ctx: SystemContext, row: AccessTokenRow) {
  const now = ctx.clock.now()
  const minuteAgo = new Date(now.getTime() - 60_000)
  if (row.last_used_at && row.last_used_at > minuteAgo) return
  ctx.background(() => ctx.sql(touchToken, [row.id, now, minuteAgo]))
}
