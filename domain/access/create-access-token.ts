import type { Scope } from '@/contract/define'
import { AppError } from '@/contract/errors'
import { type SystemContext, statement } from '../context'
import { sha256 } from './authenticate'

const insertToken = statement(
  'create-access-token',
  `WITH token AS (
     INSERT INTO access_tokens (id, user_id, name, token_hash, scopes, created_at, expires_at)
     SELECT $1, id, $3, $4, $5, $6, $7 FROM users WHERE id = $2 AND withdrawn_at IS NULL
     RETURNING id, user_id
   )
   INSERT INTO audit_events (id, user_id, action, actor, subject_id, at)
   SELECT $8, user_id, 'access_token.created', $9, id, $6 FROM token
   RETURNING subject_id`,
)

/** The token is shown in this answer and never again. */
export async function createAccessToken(
  ctx: SystemContext,
  input: { userId: string; name: string; scopes: Scope[]; expiresInMs: number; actor: string },
): Promise<{ id: string; accessToken: string; expiresAt: Date }> {
  const now = ctx.clock.now()
  const expiresAt = new Date(now.getTime() + input.expiresInMs)
  const accessToken = `uat_${ctx.secrets.randomToken()}`
  const id = ctx.secrets.randomId('tok_')
  const rows = await ctx.sql(insertToken, [
    id,
    input.userId,
    input.name,
    sha256(accessToken),
    input.scopes,
    now,
    expiresAt,
    ctx.secrets.randomId('aud_'),
    input.actor,
  ])
  if (rows.length === 0) throw new AppError('REQUEST_001', 'There is no active user with this id.')
  return { id, accessToken, expiresAt }
}
