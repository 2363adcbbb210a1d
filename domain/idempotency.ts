import { AppError } from '@/contract/errors'
import { type SystemContext, statement } from './context'
import type { Sql } from './sql'

const WINDOW_MS = 24 * 60 * 60 * 1000
/** A first call that has not answered by then has died. */
const RUNNING_MS = 60_000

export interface KeptAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

export interface FirstCall {
  key: string
  startedAt: Date
}

const begin = statement(
  'begin-idempotent-call',
  `INSERT INTO idempotency_keys AS k (key, user_id, body_mac, started_at, expires_at) VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (key) DO UPDATE SET body_mac = $3, answer = NULL, started_at = $4, expires_at = $5
   WHERE k.expires_at <= $4 OR (k.answer IS NULL AND k.started_at <= $6)
   RETURNING key`,
)
const read = statement('read-idempotent-call', 'SELECT body_mac, answer FROM idempotency_keys WHERE key = $1')
const keep = statement(
  'keep-idempotent-answer',
  'UPDATE idempotency_keys SET answer = $3 WHERE key = $1 AND started_at = $2 RETURNING key',
)
const release = statement(
  'release-idempotency-key',
  'DELETE FROM idempotency_keys WHERE key = $1 AND started_at = $2 AND answer IS NULL',
)

/** `key` has to be scoped to user and path already. Answers the first answer where there is one, else the right to be first. */
export async function beginIdempotentCall(
  ctx: SystemContext,
  { key, userId, body }: { key: string; userId: string; body: string },
): Promise<KeptAnswer | FirstCall> {
  const now = ctx.clock.now()
  const bodyMac = ctx.secrets.mac('idempotency', body)
  const expiresAt = new Date(now.getTime() + WINDOW_MS)
  const values = [key, userId, bodyMac, now, expiresAt, new Date(now.getTime() - RUNNING_MS)]
  if ((await ctx.sql(begin, values)).length > 0) return { key, startedAt: now }
  const [first] = await ctx.sql<{ body_mac: Buffer; answer: Buffer | null }>(read, [key])
  if (first && !ctx.secrets.macMatches('idempotency', body, first.body_mac)) throw new AppError('REQUEST_006')
  const opened = first?.answer && ctx.secrets.open(first.answer)
  if (!opened) throw new AppError('REQUEST_007', undefined, 1)
  return JSON.parse(opened.toString()) as KeptAnswer
}

/** Sealed: an answer can hold a token. False where the key no longer belongs to this call. */
export async function keepAnswer(ctx: SystemContext, sql: Sql, call: FirstCall, answer: KeptAnswer): Promise<boolean> {
  const rows = await sql(keep, [call.key, call.startedAt, ctx.secrets.seal(JSON.stringify(answer))])
  return rows.length > 0
}

/** In the transaction of the call's effect, which is undone where a repeated call has taken the key over: the effect is its to have. */
export async function keepAnswerWithEffect(
  ctx: SystemContext,
  sql: Sql,
  call: FirstCall,
  answer: KeptAnswer,
): Promise<void> {
  if (!(await keepAnswer(ctx, sql, call, answer))) throw new AppError('REQUEST_007', undefined, 1)
}

/** The call had no lasting outcome; the next one with this key is a first call again. */
export async function releaseKey(ctx: SystemContext, call: FirstCall): Promise<void> {
  await ctx.sql(release, [call.key, call.startedAt])
}
