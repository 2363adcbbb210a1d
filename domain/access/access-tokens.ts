import type * as contract from '@/contract/access'
import type { Data, GrantableScope, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import { type Context, type Sql, type SystemContext, statement } from '../context'
import { lockActiveUser, RAISE_VERSION } from '../user'
import { requireFreshSignIn, sha256 } from './authenticate'

const DAY_MS = 24 * 60 * 60 * 1000
const MAX_TOKENS = 100

// Runs under the lock of `lock-active-user`, so that the count sees the tokens that parallel calls have created.
const insertToken = statement(
  'create-access-token',
  `WITH account AS (${RAISE_VERSION}), token AS (
     INSERT INTO access_tokens (id, user_id, name, token_hash, scopes, created_at, expires_at)
     SELECT $1, id, $3, $4, $5, $6, $7 FROM account
     WHERE (SELECT count(*) FROM access_tokens t WHERE t.user_id = $2 AND t.revoked_at IS NULL AND t.expires_at > $6) < $10
     RETURNING id, user_id
   )
   INSERT INTO audit_events (id, user_id, action, actor, subject_id, at)
   SELECT $8, user_id, 'access_token.created', $9, id, $6 FROM token
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

/** The token is shown in this answer and never again. */
export const issueAccessToken = (ctx: SystemContext, input: Wanted): Promise<Issued> =>
  ctx.transaction((sql) => issueAccessTokenIn(ctx, sql, input))

/** `sql` is a transaction's, which holds the account's lock to its end. */
export async function issueAccessTokenIn(ctx: SystemContext, sql: Sql, input: Wanted): Promise<Issued> {
  const [account] = await sql(lockActiveUser, [input.userId])
  if (!account) throw new AppError('REQUEST_001', 'There is no active user with this id.')
  const createdAt = ctx.clock.now()
  const expiresAt = new Date(createdAt.getTime() + input.expiresInMs)
  const accessToken = `uat_${ctx.secrets.randomToken()}`
  const id = ctx.secrets.randomId('tok_')
  const rows = await sql(insertToken, [
    id,
    input.userId,
    input.name,
    sha256(accessToken),
    input.scopes,
    createdAt,
    expiresAt,
    ctx.secrets.randomId('aud_'),
    input.actor,
    MAX_TOKENS,
  ])
  if (rows.length === 0) {
    throw new AppError(
      'REQUEST_001',
      `There are ${MAX_TOKENS} access tokens that work. Revoke one that is no longer used.`,
    )
  }
  return { id, accessToken, createdAt, expiresAt }
}

export async function createAccessToken(
  ctx: Context,
  input: Input<typeof contract.createAccessToken>,
): Promise<Data<typeof contract.createAccessToken>> {
  requireFreshSignIn(ctx)
  const scopes = [...new Set(input.scopes)]
  return ctx.transaction(async (sql) => {
    const { id, accessToken, createdAt, expiresAt } = await issueAccessTokenIn(ctx, sql, {
      userId: ctx.actor.userId,
      name: input.name,
      scopes,
      expiresInMs: input.expires_in_days * DAY_MS,
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

/** Newest first. */
export async function liveTokensOf(ctx: SystemContext, userId: string) {
  const tokens = await ctx.db.accessToken.findMany({
    where: { userId, revokedAt: null, expiresAt: { gt: ctx.clock.now() } },
    orderBy: { createdAt: 'desc' },
  })
  return tokens.map((token) => ({
    token_id: token.id,
    name: token.name,
    scopes: token.scopes,
    created_at: token.createdAt.toISOString(),
    expires_at: token.expiresAt.toISOString(),
    last_used_at: token.lastUsedAt?.toISOString() ?? null,
  }))
}

const revoke = statement(
  'revoke-access-token',
  `WITH token AS (
     UPDATE access_tokens SET revoked_at = $3 WHERE id = $1 AND ($2::text IS NULL OR user_id = $2) AND revoked_at IS NULL
     RETURNING id, user_id
   )
   INSERT INTO audit_events (id, user_id, action, actor, subject_id, ip, at)
   SELECT $4, user_id, 'access_token.revoked', $5, id, $6, $3 FROM token
   RETURNING subject_id, user_id`,
)

export async function revokeAccessToken(
  ctx: Context,
  input: Input<typeof contract.revokeAccessToken>,
): Promise<Data<typeof contract.revokeAccessToken>> {
  const { userId, kind } = ctx.actor
  const auditId = ctx.secrets.randomId('aud_')
  const rows = await ctx.sql(revoke, [input.accessId, userId, ctx.clock.now(), auditId, kind, ctx.ip])
  if (rows.length === 0) throw new AppError('REQUEST_005', 'There is no access token with this id that still works.')
  return { token_id: input.accessId, revoked: true }
}

/** By the operator. */
export async function revokeTokenOf(ctx: SystemContext, tokenId: string): Promise<{ userId: string }> {
  const values = [tokenId, null, ctx.clock.now(), ctx.secrets.randomId('aud_'), 'operator', null]
  const [row] = await ctx.sql<{ user_id: string }>(revoke, values)
  if (!row) throw new AppError('REQUEST_001', 'There is no access token with this id that still works.')
  return { userId: row.user_id }
}

const revokeAll = statement(
  'revoke-all-access-tokens',
  `WITH ended AS (
     UPDATE access_tokens SET revoked_at = $2 WHERE user_id = $1 AND revoked_at IS NULL AND expires_at > $2
     RETURNING id
   ), audited AS (
     INSERT INTO audit_events (id, user_id, action, actor, at) VALUES ($3, $1, 'access_token.all_revoked', 'operator', $2)
   )
   SELECT count(*)::int AS revoked FROM ended`,
)

/** By the operator. Returns how many tokens ended. */
export async function revokeAllTokens(ctx: SystemContext, userId: string): Promise<number> {
  const [row] = await ctx.transaction(async (sql) => {
    if ((await sql(lockActiveUser, [userId])).length === 0) {
      throw new AppError('REQUEST_001', 'There is no active user with this id.')
    }
    return sql<{ revoked: number }>(revokeAll, [userId, ctx.clock.now(), ctx.secrets.randomId('aud_')])
  })
  return row?.revoked ?? 0
}
