import type * as contract from '@/contract/access'
import type { Data, GrantableScope, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import { addEvent } from '../applications/events'
import { addAudit } from '../audit'
import type { Context, SystemContext, Transaction } from '../context'
import { withIsoTimes } from '../iso-times'
import { day } from '../limits/durations'
import { lockAccountOfId, requireAccountOfId } from '../lock-account'
import { defineNotice, sealedFacts } from '../mail/define-notice'
import { addNotice } from '../mail/notice-queue'
import type { Origin } from '../ports'
import { bytes, integer, sql, statement, text, time } from '../sql'
import { sha256 } from './authenticate'
import { endAccess } from './end-access'
import { endOne, endOneOf, NOT_LIVE } from './end-one'
import { requireFreshSignIn } from './fresh-sign-in'
import { isStillLive } from './live-caller'

const MAX_TOKENS = 100
/** So many new tokens of a day are told. Whoever gets as many mails knows enough, and no account floods a mailbox. */
const MAX_DAILY_MAILS = 10

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
    dayAgo: time,
  },
  { made_before: integer },
  (v) => sql`INSERT INTO access_tokens (id, user_id, name, token_hash, scopes, created_at, expires_at)
   SELECT ${v.id}, ${v.userId}, ${v.name}, ${v.tokenHash}, ${v.scopes}, ${v.now}, ${v.expiresAt}
   WHERE (
     SELECT count(*) FROM access_tokens t
     WHERE t.user_id = ${v.userId} AND t.revoked_at IS NULL AND t.expires_at > ${v.now}
   ) < ${v.maxTokens}
   RETURNING (
     SELECT count(*)::int FROM access_tokens t WHERE t.user_id = ${v.userId} AND t.created_at > ${v.dayAgo}
   ) AS made_before`,
)

interface NewToken {
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
  /** How many others the account got within a day. */
  madeBefore: number
}

/** Only this answer shows the token. */
export const issueAccessToken = (ctx: SystemContext, input: NewToken): Promise<Issued> =>
  ctx.transaction((tx) => issueAccessTokenIn(tx, input))

/** `tx` locks the account until it ends. */
async function issueAccessTokenIn(
  tx: Transaction,
  { userId, name, scopes, expiresInMs, actor }: NewToken,
): Promise<Issued> {
  await requireAccountOfId(tx, userId)
  const createdAt = tx.clock.now()
  const expiresAt = new Date(createdAt.getTime() + expiresInMs)
  const accessToken = `uat_${tx.secrets.randomToken()}`
  const id = tx.secrets.randomId('tok_')
  const token = { id, userId, name, tokenHash: sha256(accessToken), scopes, now: createdAt, expiresAt }
  const dayAgo = new Date(createdAt.getTime() - day)
  const [inserted] = await tx.sql(insertToken, { ...token, maxTokens: MAX_TOKENS, dayAgo })
  if (!inserted) {
    throw new AppError(
      'REQUEST_001',
      `There are ${MAX_TOKENS} access tokens that work. Revoke one that is no longer used.`,
    )
  }
  await addAudit(tx, 'access_token.created', { userId, actor, ip: null, subject: id, at: createdAt })
  return { id, accessToken, createdAt, expiresAt, madeBefore: inserted.made_before }
}

interface CreatedFacts extends Origin {
  /** Encrypted in the row, with the rest of the letter. */
  to: string
  userName: string
  /** Missing in rows of an older release. */
  hasPassword?: boolean
  tokenName: string
  scopes: GrantableScope[]
  /** ISO 8601 */
  expiresAt: string
  at: Date
}

export const accessTokenCreated = defineNotice<CreatedFacts, 'sealed'>({
  name: 'access_token_created',
  ...sealedFacts<CreatedFacts>(),
  message: (ctx, { to: _, hasPassword = false, at: createdAt, expiresAt, ...facts }) => ({
    template: 'access-token-created',
    hasPassword,
    ...facts,
    createdAt,
    expiresAt: new Date(expiresAt),
    // Not SETTINGS_URL, because no page of an adopter has access tokens.
    tokensUrl: `${ctx.appUrl}/settings/access-tokens`,
  }),
})

/** A verified address gets a notice, because a token outlasts the session that made it. Any other may be a stranger's. */
export async function createAccessToken(
  ctx: Context,
  input: Input<typeof contract.createAccessToken>,
): Promise<Data<typeof contract.createAccessToken>> {
  requireFreshSignIn(ctx, 'token')
  const scopes = [...new Set(input.scopes)]
  const { userId } = ctx.actor
  return ctx.transaction(async (tx) => {
    const account = await lockAccountOfId(tx, userId)
    // A new password, or a sign-out, may have ended the session while this call waited for the lock.
    if (!account || !(await isStillLive(tx, tx.actor))) throw new AppError('AUTH_001')
    const { id, accessToken, createdAt, expiresAt, madeBefore } = await issueAccessTokenIn(tx, {
      userId,
      name: input.name,
      scopes,
      expiresInMs: input.expires_in_days * day,
      actor: tx.actor.kind,
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
    const { email: to, name: userName, has_password: hasPassword, email_verified_at: verifiedAt, locale } = account
    if (verifiedAt && madeBefore < MAX_DAILY_MAILS) {
      await addNotice(
        tx,
        accessTokenCreated,
        { userId, locale, recipients: ['sealed'], at: createdAt },
        {
          ...{ to, userName, hasPassword, at: createdAt, ipAddress: tx.ip, userAgent: tx.userAgent },
          ...{ tokenName: input.name, scopes, expiresAt: data.expires_at },
        },
      )
    }
    await tx.keepAnswer?.(data)
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
  return rows.map(withIsoTimes)
}

export async function revokeAccessToken(
  ctx: Context,
  input: Input<typeof contract.revokeAccessToken>,
): Promise<Data<typeof contract.revokeAccessToken>> {
  const { userId, kind: actor } = ctx.actor
  const notifiesApps = input.accessId !== ctx.actor.id
  const revoked = await endOne(ctx, 'access_token', { id: input.accessId, userId, notifiesApps, actor, ip: ctx.ip })
  if (!revoked) throw new AppError('REQUEST_005', NOT_LIVE.access_token)
  return { token_id: input.accessId, revoked: true }
}

/** The operator revokes a token of any user. */
export const revokeTokenOf = (ctx: SystemContext, tokenId: string) => endOneOf(ctx, 'access_token', tokenId)

/** The operator revokes all tokens of a user. Returns how many ended. */
export const revokeAllTokens = (ctx: SystemContext, userId: string): Promise<number> =>
  ctx.transaction(async (tx) => {
    await requireAccountOfId(tx, userId)
    const at = tx.clock.now()
    const [ended] = await Promise.all([
      endAccess(tx, { userId, at, ends: ['access_tokens', 'outside_tokens'] }),
      addAudit(tx, 'access_token.all_revoked', { userId, actor: 'operator', ip: null, at }),
      addEvent(tx, 'account.sessions_ended', { userId, at }),
    ])
    return ended.tokens
  })
