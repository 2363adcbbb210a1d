import type { Scope } from '@/contract/define'
import type { VerificationMethod } from '@/contract/email'
import { askedTogether } from '../batched'
import { type Actor, type CallerStatement, type Credential, type SystemContext, statement, UNWAITED } from '../context'

interface CallerRow {
  id: string
  live: boolean
  scopes: Scope[]
  unmarked: boolean
  signed_in_at?: Date
  user_id: string
  name: string
  email: string
  email_verified_at: Date | null
  version: number
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
    columns: (at) => `s.id, s.created_at AS signed_in_at,
       s.revoked_at IS NULL AND s.expires_at > ${at} AND u.withdrawn_at IS NULL AS live`,
  },
  outside_token: {
    tables: 'users u',
    key: 'u.id',
    keyType: 'text',
    // Its issuer has judged its expiry; PostgreSQL wants every value used.
    columns: (at) => `'' AS id, u.withdrawn_at IS NULL AND ${at}::timestamptz IS NOT NULL AS live`,
  },
}

/** What a verb does in the statement that finds its caller; its values come first, so that they are $1 to $`values`. */
interface VerbPart {
  values: number
  /** Acts only where `admitted (user_id, id, kind)` has its row: the credential's user is the path's, and it may make the call. */
  parts: string
  columns: string
  joins: string
}

// The user and the pending change come along, so that a read needs no second statement.
const selectCaller = ({ tables, key, columns }: Source, asked: string, at: string) =>
  `SELECT ${columns(at)}, u.id AS user_id, u.name, u.email, u.email_verified_at, u.version,
     p.id AS change_id, p.new_email, p.method, p.attempts, p.requested_at, p.sent_at, p.expires_at AS change_expires_at
   FROM ${tables}
   LEFT JOIN email_change_requests p ON p.user_id = u.id AND p.status = 'pending_verification'
   WHERE ${key} = ${asked}`

export function callerStatement(name: string, verb: VerbPart): CallerStatement {
  const value = (n: number) => `$${verb.values + n}`
  const of = (kind: Credential['kind']) => {
    const isInScope = kind === 'access_token' ? `AND ${value(4)} = ANY(scopes)` : ''
    return statement(
      `${name}-by-${kind}`,
      `WITH caller AS (${selectCaller(SOURCES[kind], value(1), value(2))}), admitted AS (
         SELECT user_id, id, '${kind}'::text AS kind FROM caller WHERE live AND user_id = ${value(3)} ${isInScope}
       ), ${verb.parts}
       SELECT caller.*, ${verb.columns} FROM caller ${verb.joins}`,
    )
  }
  return { access_token: of('access_token'), session: of('session'), outside_token: of('outside_token') }
}

// The callers of many calls. OFFSET 0 has each looked up by its key: tables that nobody has analysed yet would be joined by reading them whole.
const lookUp = (kind: Credential['kind']) => {
  const source = SOURCES[kind]
  const find = statement(
    `find-callers-by-${kind}`,
    `SELECT asked.place, caller.*
     FROM unnest($1::${source.keyType}[]) WITH ORDINALITY AS asked (key, place)
     CROSS JOIN LATERAL (${selectCaller(source, 'asked.key', '$2')} OFFSET 0) AS caller`,
  )
  return askedTogether<Credential['key'], CallerRow | undefined>(async (ctx, keys) => {
    const rows = await ctx.sql<CallerRow & { place: string }>(find, [keys, ctx.clock.now()])
    const found = new Map(rows.map((row) => [Number(row.place), row]))
    return keys.map((_key, index) => found.get(index + 1))
  })
}
const lookUps = {
  access_token: lookUp('access_token'),
  session: lookUp('session'),
  outside_token: lookUp('outside_token'),
}

/** What a call asks for, and what its verb does in the statement that finds who makes it. */
export interface Riding {
  userId: string
  scope: Scope
  first: CallerStatement
  values: unknown[]
}

/** Whose credential it is, with what the verb's part has answered; null when it opens nothing: unknown, expired, revoked, or of a withdrawn account. */
export async function findCaller<Row extends object>(
  ctx: SystemContext,
  credential: Credential,
  riding?: Riding,
): Promise<{ actor: Actor; rows: Row[] } | null> {
  const { kind, key } = credential
  if (!riding) {
    const actor = judge(ctx, credential, await lookUps[kind](ctx, key))
    return actor && { actor, rows: [] }
  }
  const values = [...riding.values, key, ctx.clock.now(), riding.userId]
  if (kind === 'access_token') values.push(riding.scope)
  const rows = await ctx.sql<CallerRow & Row>(riding.first[kind], values)
  const actor = judge(ctx, credential, rows[0])
  return actor && { actor, rows }
}

function judge(ctx: SystemContext, credential: Credential, row: CallerRow | undefined): Actor | null {
  if (!row?.live) return null
  if (row.unmarked) noteUse(ctx, row.id)
  return toActor(row, { ...credential, scopes: credential.scopes ?? row.scopes })
}

const toActor = (row: CallerRow, { kind, scopes, outsideToken }: Credential & Pick<Actor, 'scopes'>): Actor => ({
  kind,
  id: row.id,
  userId: row.user_id,
  scopes,
  signedInAt: row.signed_in_at,
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
  outsideToken,
})

const touchToken = statement(
  'touch-access-token',
  `UPDATE access_tokens SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $3) RETURNING ${UNWAITED}`,
)

/** Last use is kept to the minute, so that a busy token does not write on every call. */
function noteUse(ctx: SystemContext, tokenId: string) {
  const now = ctx.clock.now()
  ctx.background(() => ctx.sql(touchToken, [tokenId, now, new Date(now.getTime() - 60_000)]))
}
