import type { ServiceScope } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { SystemContext } from '../context'
import { cappedCount, readFigures } from '../figures'
import { TOKEN_ENDS_SOON_MS, TOKEN_IN_USE_MS } from '../limits/durations'
import { auditManager } from '../manager'
import { bytes, sql, statement, text, time } from '../sql'
import { sha256 } from './authenticate'

const insertToken = statement(
  'create-service-token',
  {
    id: text,
    name: text,
    tokenHash: bytes,
    scopes: text.of<ServiceScope>().list,
    hosts: text.list,
    appId: text.orNull,
    now: time,
    expiresAt: time,
  },
  { id: text },
  (v) => sql`INSERT INTO service_tokens (id, name, token_hash, scopes, hosts, app_id, created_at, expires_at)
   SELECT ${v.id}, ${v.name}, ${v.tokenHash}, ${v.scopes}, ${v.hosts}, ${v.appId}, ${v.now}, ${v.expiresAt}
   WHERE ${v.appId}::text IS NULL OR EXISTS (SELECT FROM connected_apps WHERE id = ${v.appId})
   RETURNING id`,
)

interface NewServiceToken {
  name: string
  scopes: ServiceScope[]
  /** Hosts that URLs sent with the token may name. */
  hosts: string[]
  /** The application whose deletion tasks it takes: for the scope `tasks:work` alone. */
  appId?: string | null | undefined
  expiresInMs: number
}

/** The operator creates a service token. Only this answer shows it. */
export async function issueServiceToken(
  ctx: SystemContext,
  { expiresInMs, appId = null, ...token }: NewServiceToken,
): Promise<{ id: string; serviceToken: string; expiresAt: Date }> {
  if (token.scopes.includes('tasks:work') !== (appId !== null)) {
    throw new AppError('REQUEST_001', 'The scope tasks:work and the application go together: give both or neither.')
  }
  const now = ctx.clock.now()
  const expiresAt = new Date(now.getTime() + expiresInMs)
  const serviceToken = `svc_${ctx.secrets.randomToken()}`
  const id = ctx.secrets.randomId('svt_')
  await ctx.transaction(async (tx) => {
    const [inserted] = await tx.sql(insertToken, {
      ...token,
      appId,
      id,
      tokenHash: sha256(serviceToken),
      now,
      expiresAt,
    })
    if (!inserted) throw new AppError('REQUEST_001', 'There is no application with this ID.')
    await auditManager(tx, 'service_token.created', id)
  })
  return { id, serviceToken, expiresAt }
}

/** The tokens that have not ended, newest first. */
export async function listServiceTokens(ctx: SystemContext) {
  const tokens = await ctx.db.serviceToken.findMany({
    where: { revokedAt: null, expiresAt: { gt: ctx.clock.now() } },
    orderBy: { createdAt: 'desc' },
  })
  return tokens.map((token) => ({
    service_token_id: token.id,
    name: token.name,
    scopes: token.scopes,
    hosts: token.hosts,
    app_id: token.appId,
    created_at: token.createdAt.toISOString(),
    expires_at: token.expiresAt.toISOString(),
    last_used_at: token.lastUsedAt?.toISOString() ?? null,
  }))
}

// What nobody uses any more may end.
const ENDING = {
  ending_tokens: cappedCount(
    'count-ending-service-tokens',
    { now: time, until: time, usedSince: time },
    (v) => sql`FROM service_tokens
     WHERE revoked_at IS NULL AND expires_at > ${v.now} AND expires_at <= ${v.until} AND last_used_at > ${v.usedSince}`,
  ),
}

export function countEndingTokens(ctx: SystemContext) {
  const now = ctx.clock.now()
  const until = new Date(now.getTime() + TOKEN_ENDS_SOON_MS)
  return readFigures(ctx, ENDING, { now, until, usedSince: new Date(now.getTime() - TOKEN_IN_USE_MS) })
}

const revoke = statement(
  'revoke-service-token',
  { id: text, now: time },
  { id: text },
  (v) => sql`UPDATE service_tokens SET revoked_at = ${v.now} WHERE id = ${v.id} AND revoked_at IS NULL RETURNING id`,
)

export const revokeServiceToken = (ctx: SystemContext, id: string): Promise<void> =>
  ctx.transaction(async (tx) => {
    const [token] = await tx.sql(revoke, { id, now: tx.clock.now() })
    if (!token) throw new AppError('REQUEST_001', 'There is no service token with this ID that still works.')
    await auditManager(tx, 'service_token.revoked', id)
  })
