import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import { type issuePageToken as contract, secondsOf } from '@/contract/page-tokens'
import { addAudit } from '../audit'
import type { Context } from '../context'
import { MAX_AHEAD_MS, second } from '../limits/durations'
import { refusalOfRole } from '../lock-account'
import { integer, sql, statement, text, time } from '../sql'
import { type PageClaims, sealPageToken } from './page-tokens'

const findCredentials = statement(
  'find-credentials',
  { externalId: text },
  { id: text, role: text.orNull, credential_version: integer, credentials_since: time.orNull },
  (v) => sql`SELECT id, role, credential_version, credentials_since FROM users
   WHERE external_id = ${v.externalId} AND withdrawn_at IS NULL`,
)

/** For a page of the adopter, whose backend knows the person. */
export async function issuePageToken(
  ctx: Context,
  { externalId, origin, scopes, authenticated_at, acr, expires_in }: Input<typeof contract>,
): Promise<Data<typeof contract>> {
  const at = ctx.clock.now()
  const now = at.getTime()
  if (!ctx.allowedOrigins.includes(origin)) throw new AppError('ORIGIN_001')
  const authenticatedAt = authenticated_at === undefined ? null : Date.parse(authenticated_at)
  if (authenticatedAt !== null && authenticatedAt > now + MAX_AHEAD_MS) {
    throw new AppError('REQUEST_001', 'authenticated_at must not be more than 60 seconds in the future.')
  }
  const [account] = await ctx.sql(findCredentials, { externalId })
  if (!account) throw new AppError('USER_001')
  if (account.role) throw refusalOfRole()
  const claims: PageClaims = {
    userId: account.id,
    version: account.credential_version,
    since: account.credentials_since?.getTime() ?? null,
    scopes: [...new Set(scopes)],
    origin,
    authenticatedAt,
    acr: acr ?? null,
    issuedBy: ctx.actor.id,
  }
  const text = Buffer.from(JSON.stringify(claims)).toString('base64url')
  const { token, expiresAt } = sealPageToken(ctx, 'pgt', text, now + secondsOf(expires_in) * second)
  await addAudit(ctx, 'page_token.issued', { userId: account.id, actor: 'service', ip: ctx.ip, at })
  return { page_token: token, expires_at: expiresAt.toISOString() }
}
