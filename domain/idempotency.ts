import { AppError } from '@/contract/errors'
import type { AnyContext, SystemContext, Transaction } from './context'
import { IDEMPOTENCY_WINDOW_MS, IDEMPOTENT_CALL_MS } from './limits/durations'
import { openSealed, seal } from './sealed'
import { bytes, sql, statement, text, time } from './sql'

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
  // A first call that began before `deadBefore` and has no answer has died.
  { key: text, userId: text, bodyMac: bytes, now: time, expiresAt: time, deadBefore: time },
  { key: text },
  (v) => sql`INSERT INTO idempotency_keys AS k (key, user_id, body_mac, started_at, expires_at)
   VALUES (${v.key}, ${v.userId}, ${v.bodyMac}, ${v.now}, ${v.expiresAt})
   ON CONFLICT (key) DO UPDATE SET body_mac = ${v.bodyMac}, answer = NULL, started_at = ${v.now}, expires_at = ${v.expiresAt}
   WHERE k.expires_at <= ${v.now} OR (k.answer IS NULL AND k.started_at <= ${v.deadBefore})
   RETURNING key`,
)
const read = statement(
  'read-idempotent-call',
  { key: text },
  { body_mac: bytes, answer: bytes.orNull },
  (v) => sql`SELECT body_mac, answer FROM idempotency_keys WHERE key = ${v.key}`,
)
const keep = statement(
  'keep-idempotent-answer',
  { key: text, startedAt: time, answer: bytes },
  { key: text },
  (v) =>
    sql`UPDATE idempotency_keys SET answer = ${v.answer} WHERE key = ${v.key} AND started_at = ${v.startedAt} RETURNING key`,
)
const release = statement(
  'release-idempotency-key',
  { key: text, startedAt: time },
  {},
  (v) => sql`DELETE FROM idempotency_keys WHERE key = ${v.key} AND started_at = ${v.startedAt} AND answer IS NULL`,
)

/** `key` must be scoped to user and path. Returns the first answer, if there is one, or the right to be the first call. */
export async function beginIdempotentCall(
  ctx: SystemContext,
  { key, userId, body }: { key: string; userId: string; body: string },
): Promise<KeptAnswer | FirstCall> {
  const now = ctx.clock.now()
  const bodyMac = ctx.secrets.mac('idempotency', body)
  const started = await ctx.sql(begin, {
    key,
    userId,
    bodyMac,
    now,
    expiresAt: new Date(now.getTime() + IDEMPOTENCY_WINDOW_MS),
    deadBefore: new Date(now.getTime() - IDEMPOTENT_CALL_MS),
  })
  if (started.length > 0) return { key, startedAt: now }
  const [first] = await ctx.sql(read, { key })
  if (first && !ctx.secrets.macMatches('idempotency', body, first.body_mac)) throw new AppError('REQUEST_006')
  const answer = openSealed<KeptAnswer>(ctx, first?.answer ?? null)
  if (!answer) throw new AppError('REQUEST_007', undefined, 1)
  return answer
}

/** Encrypts the answer, because it can hold a token. False if the key no longer belongs to this call. */
export async function keepAnswer(ctx: AnyContext, call: FirstCall, answer: KeptAnswer): Promise<boolean> {
  const rows = await ctx.sql(keep, { ...call, answer: seal(ctx, answer) })
  return rows.length > 0
}

/** Runs in the transaction of the call's effect, and rolls it back if a repeated call has taken the key over. */
export async function keepAnswerWithEffect(tx: Transaction, call: FirstCall, answer: KeptAnswer): Promise<void> {
  if (!(await keepAnswer(tx, call, answer))) throw new AppError('REQUEST_007', undefined, 1)
}

/** For a call without a lasting outcome, so that the next call with this key is a first call again. */
export async function releaseKey(ctx: SystemContext, call: FirstCall): Promise<void> {
  await ctx.sql(release, call)
}
