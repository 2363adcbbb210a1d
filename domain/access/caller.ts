import type { Purpose } from '@/contract/access'
import type { Scope } from '@/contract/define'
import type { VerificationMethod } from '@/contract/email'
import type { Actor, Credential, SystemContext } from '../context'
import { askedTogether } from '../queue/coalesce'
import { fenced, statement, UNWAITED } from '../sql'

interface CallerRow {
  id: string
  live: boolean
  scopes: Scope[]
  unmarked: boolean
  authenticated_at?: Date | null
  authenticated_for?: Purpose | null
  user_id: string
  name: string
  email: string
  email_verified_at: Date | null
  change_id: string | null
  new_email: string
  method: VerificationMethod
  attempts: number
  requested_at: Date
  sent_at: Date
  change_expires_at: Date
}

interface Source {
  tables: string
  key: string
  keyType: string
  columns(at: string): string
}

const SOURCES: Record<Credential['kind'], Source> = {
  access_token: {
    tables: 'access_tokens t JOIN users u ON u.id = t.user_id',
    key: 't.token_hash',
    keyType: 'bytea',
    columns: (at) =>
      `t.id, t.scopes, t.revoked_at IS NULL AND t.expires_at > ${at} AND u.withdrawn_at IS NULL AS live,
       coalesce(t.last_used_at < ${at} - interval '1 minute', true) AS unmarked`,
  },
  session: {
    tables: 'sessions s JOIN users u ON u.id = s.user_id',
    key: 's.id',
    keyType: 'text',
    columns: (at) => `s.id, s.authenticated_at, s.authenticated_for,
       s.revoked_at IS NULL AND s.expires_at > ${at} AND u.withdrawn_at IS NULL AS live`,
  },
  outside_token: {
    tables: 'users u',
    key: 'u.id',
    keyType: 'text',
    // Its issuer has judged its expiry.
    columns: () => `'' AS id, u.withdrawn_at IS NULL AS live`,
  },
}

// The user and the pending change come along, so that a read needs no second statement.
const selectCaller = ({ tables, key, columns }: Source, asked: string, at: string) =>
  `SELECT ${columns(at)}, u.id AS user_id, u.name, u.email, u.email_verified_at,
     p.id AS change_id, p.new_email, p.method, p.attempts, p.requested_at, p.sent_at, p.expires_at AS change_expires_at
   FROM ${tables}
   LEFT JOIN email_change_requests p ON p.user_id = u.id AND p.status = 'pending_verification'
   WHERE ${key} = ${asked}`

/** One statement finds the callers of all calls that arrive together: under load this brings 1.5 to 2.4 times as many calls. */
const lookUp = (kind: Credential['kind']) => {
  const source = SOURCES[kind]
  const find = statement<{ keys: Credential['key'][]; now: Date }, CallerRow & { place: string }>(
    `find-callers-by-${kind}`,
    (v) => `SELECT asked.place, caller.*
     FROM unnest(${v.keys}::${source.keyType}[]) WITH ORDINALITY AS asked (key, place)
     CROSS JOIN LATERAL (${fenced(selectCaller(source, 'asked.key', v.now))}) AS caller`,
  )
  return askedTogether<Credential['key'], CallerRow | undefined>(find.name, async (ctx, keys) => {
    const rows = await ctx.sql(find, { keys, now: ctx.clock.now() })
    const found = new Map(rows.map((row) => [Number(row.place), row]))
    return keys.map((_key, index) => found.get(index + 1))
  })
}
const lookUps = {
  access_token: lookUp('access_token'),
  session: lookUp('session'),
  outside_token: lookUp('outside_token'),
}

/** Whose credential it is; null when it opens nothing: unknown, expired, revoked, or of a withdrawn account. */
export async function findCaller(ctx: SystemContext, credential: Credential): Promise<Actor | null> {
  const row = await lookUps[credential.kind](ctx, credential.key)
  if (!row?.live) return null
  if (row.unmarked) noteUse(ctx, row.id)
  return toActor(row, { ...credential, scopes: credential.scopes ?? row.scopes })
}

const toActor = (row: CallerRow, { kind, scopes, outsideToken }: Credential & Pick<Actor, 'scopes'>): Actor => ({
  kind,
  id: row.id,
  userId: row.user_id,
  scopes,
  authenticatedAt: row.authenticated_at,
  authenticatedFor: row.authenticated_for,
  user: { name: row.name, email: row.email, emailVerifiedAt: row.email_verified_at },
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
  outsideToken,
})

const touchToken = statement<{ tokenId: string; now: Date; before: Date }>(
  'touch-access-token',
  (v) => `UPDATE access_tokens SET last_used_at = ${v.now}
   WHERE id = ${v.tokenId} AND (last_used_at IS NULL OR last_used_at < ${v.before}) RETURNING ${UNWAITED}`,
)

/** Last use is kept to the minute, so that a busy token does not write on every call. */
function noteUse(ctx: SystemContext, tokenId: string) {
  const now = ctx.clock.now()
  ctx.background(() => ctx.sql(touchToken, { tokenId, now, before: new Date(now.getTime() - 60_000) }))
}
