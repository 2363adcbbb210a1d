import type * as contract from '@/contract/access'
import type { Data, GrantableScope, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import { addAudit } from '../audit'
import type { Context, SystemContext } from '../context'
import { day } from '../limits/durations'
import { lockAccountOfId, requireAccountOfId } from '../lock-account'
import { audit, bytes, integer, type Sql, sql, statement, text, time } from '../sql'
import { sha256 } from './authenticate'
import { endAccess } from './end-access'
import { requireFreshSignIn } from './fresh-sign-in'

const MAX_TOKENS = 100

// Runs under the account's lock, so that the count sees the tokens that parallel calls have created.
const insertToken = statement(
  'create-access-token',
  {
    id: text,
    userId: text,
    name: text,
    tokenHash: bytes,
    scopes: text.of<GrantableScope>().list,
    now: time,
    expiresAt: time,
    maxTokens: integer,
    auditId: text,
    actor: text,
  },
  { subject_id: text },
  (v) => sql`WITH token AS (
     INSERT INTO access_tokens (id, user_id, name, token_hash, scopes, created_at, expires_at)
     SELECT ${v.id}, ${v.userId}, ${v.name}, ${v.tokenHash}, ${v.scopes}, ${v.now}, ${v.expiresAt}
     WHERE (
       SELECT count(*) FROM access_tokens t
       WHERE t.user_id = ${v.userId} AND t.revoked_at IS NULL AND t.expires_at > ${v.now}
     ) < ${v.maxTokens}
     RETURNING id, user_id
   )
   ${audit('access_token.created', { from: sql`token`, id: v.auditId, user: sql`user_id`, actor: v.actor, subject: sql`id`, at: v.now })}
   RETURNING subject_id`,
)

interface Wanted {
  userId: string
  name: string
  scopes: GrantableScope[]
  expiresInMs: number
  actor: string
}

interface Issued {
  id: string
  accessToken: string
  createdAt: Date
  expiresAt: Date
}

/** Only this answer shows the token. */
export const issueAccessToken = (ctx: SystemContext, input: Wanted): Promise<Issued> =>
  ctx.transaction((sql) => issueAccessTokenIn(ctx, sql, input))

/** `sql` must be a transaction, because it locks the account until it ends. */
export async function issueAccessTokenIn(ctx: SystemContext, sql: Sql, input: Wanted): Promise<Issued> {
  await requireAccountOfId(sql, input.userId)
  const createdAt = ctx.clock.now()
  const expiresAt = new Date(createdAt.getTime() + input.expiresInMs)
  const accessToken = `uat_${ctx.secrets.randomToken()}`
  const id = ctx.secrets.randomId('tok_')
  const rows = await sql(insertToken, {
    id,
    userId: input.userId,
    name: input.name,
    tokenHash: sha256(accessToken),
    scopes: input.scopes,
    now: createdAt,
    expiresAt,
    maxTokens: MAX_TOKENS,
    auditId: ctx.secrets.randomId('aud_'),
    actor: input.actor,
  })
  if (rows.length === 0) {
    throw new AppError(
      'REQUEST_001',
      `There are ${MAX_TOKENS} access tokens that work. Revoke one that is no longer used.`,
    )
  }
  return { id, accessToken, createdAt, expiresAt }
}

const findOpenSession = statement(
  'find-open-session',
  { sessionId: text },
  {},
  (v) => sql`SELECT FROM sessions WHERE id = ${v.sessionId} AND revoked_at IS NULL`,
)

export async function createAccessToken(
  ctx: Context,
  input: Input<typeof contract.createAccessToken>,
): Promise<Data<typeof contract.createAccessToken>> {
  requireFreshSignIn(ctx, 'token')
  const scopes = [...new Set(input.scopes)]
  const { userId, id: sessionId } = ctx.actor
  return ctx.transaction(async (sql) => {
    await lockAccountOfId(sql, userId)
    // A new password, or a sign-out, may have ended the session while this call waited for the lock.
    if ((await sql(findOpenSession, { sessionId })).length === 0) throw new AppError('AUTH_001')
    const { id, accessToken, createdAt, expiresAt } = await issueAccessTokenIn(ctx, sql, {
      userId,
      name: input.name,
      scopes,
      expiresInMs: input.expires_in_days * day,
      actor: ctx.actor.kind,
    })
    const data = {
      token_id: id,
      name: input.name,
      scopes,
      created_at: createdAt.toISOString(),
      expires_at: expiresAt.toISOString(),
      last_used_at: null,
      access_token: accessToken,
    }
    await ctx.keepAnswer?.(sql, data)
    return data
  })
}

export async function listAccessTokens(ctx: Context): Promise<Data<typeof contract.listAccessTokens>> {
  return { access_tokens: await liveTokensOf(ctx, ctx.actor.userId) }
}

const readLive = statement(
  'live-access-tokens',
  { userId: text, now: time },
  { token_id: text, name: text, scopes: text.list, created_at: time, expires_at: time, last_used_at: time.orNull },
  (v) => sql`SELECT id AS token_id, name, scopes, created_at, expires_at, last_used_at FROM access_tokens
   WHERE user_id = ${v.userId} AND revoked_at IS NULL AND expires_at > ${v.now} ORDER BY created_at DESC`,
)

/** Newest first. */
export async function liveTokensOf(ctx: SystemContext, userId: string) {
  const rows = await ctx.sql(readLive, { userId, now: ctx.clock.now() })
  return rows.map((row) => ({
    ...row,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    last_used_at: row.last_used_at?.toISOString() ?? null,
  }))
}

const revoke = statement(
  'revoke-access-token',
  {
    id: text,
    /** The token's user; null lets the operator revoke a token of any user. */
    userId: text.orNull,
    now: time,
    auditId: text,
    actor: text,
    ip: text.orNull,
  },
  { user_id: text },
  (v) => sql`WITH token AS (
     UPDATE access_tokens SET revoked_at = ${v.now}
     WHERE id = ${v.id} AND (${v.userId}::text IS NULL OR user_id = ${v.userId}) AND revoked_at IS NULL
     RETURNING id, user_id
   )
   ${audit('access_token.revoked', { from: sql`token`, id: v.auditId, user: sql`user_id`, actor: v.actor, subject: sql`id`, ip: v.ip, at: v.now })}
   RETURNING user_id`,
)

export async function revokeAccessToken(
  ctx: Context,
  input: Input<typeof contract.revokeAccessToken>,
): Promise<Data<typeof contract.revokeAccessToken>> {
  const { userId, kind: actor } = ctx.actor
  const [now, auditId] = [ctx.clock.now(), ctx.secrets.randomId('aud_')]
  const rows = await ctx.sql(revoke, { id: input.accessId, userId, now, auditId, actor, ip: ctx.ip })
  if (rows.length === 0) throw new AppError('REQUEST_005', 'There is no access token with this id that still works.')
  return { token_id: input.accessId, revoked: true }
}

/** The operator revokes a token of any user. */
export async function revokeTokenOf(ctx: SystemContext, tokenId: string): Promise<{ userId: string }> {
  const [now, auditId] = [ctx.clock.now(), ctx.secrets.randomId('aud_')]
  const [row] = await ctx.sql(revoke, { id: tokenId, userId: null, now, auditId, actor: 'operator', ip: null })
  if (!row) throw new AppError('REQUEST_001', 'There is no access token with this id that still works.')
  return { userId: row.user_id }
}

/** The operator revokes all tokens of a user. Returns how many ended. */
export const revokeAllTokens = (ctx: SystemContext, userId: string): Promise<number> =>
  ctx.transaction(async (tx) => {
    await requireAccountOfId(tx, userId)
    const at = ctx.clock.now()
    const [ended] = await Promise.all([
      endAccess(tx, { userId, at, ends: ['access_tokens', 'outside_tokens'] }),
      addAudit(ctx, tx, 'access_token.all_revoked', { userId, actor: 'operator', ip: null, at }),
    ])
    return ended.tokens
  })
