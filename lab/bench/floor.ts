import { createHash, createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { verify as verifyHash } from '@node-rs/argon2'
import pg from 'pg'

/**
 * The floor: the same reads and writes in the same tables, by bare node:http and pg with named statements. It lacks what makes
 * a service of it: limits, exactness under parallel calls, address rules, idempotency, logs, mail.
 */
const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: 16,
  idleTimeoutMillis: 300_000,
  options: '-c timezone=UTC',
})
const SECRET = process.env.CODE_SECRET as string
const id = (prefix: string) => prefix + randomBytes(16).toString('base64url')
const newCode = () => String(randomInt(1_000_000)).padStart(6, '0')
const macOf = (request: string, code: string) =>
  createHmac('sha256', SECRET).update(`verification-code\0${request}:${code}`).digest()
const run = async (name: string, sql: string, values: unknown[]) => (await pool.query({ name, text: sql, values })).rows

const ACTOR = `SELECT t.id, t.expires_at, t.revoked_at, t.scopes, u.id AS user_id, u.name, u.email, u.email_verified_at,
    u.withdrawn_at, u.password_hash, p.id AS change_id, p.new_email, p.method, p.attempts, p.requested_at, p.sent_at,
    p.expires_at AS change_expires_at, p.code_mac
  FROM access_tokens t JOIN users u ON u.id = t.user_id
  LEFT JOIN email_change_requests p ON p.user_id = u.id AND p.status = 'pending_verification'
  WHERE t.token_hash = $1`

const CHANGE = `WITH superseded AS (
    UPDATE email_change_requests SET status = 'superseded', closed_at = now() WHERE user_id = $2 AND status = 'pending_verification' RETURNING id
  ), request AS (
    INSERT INTO email_change_requests (id, user_id, status, method, old_email, new_email, new_email_key, code_mac, requested_at,
                                       request_ip, sent_at, expires_at)
    SELECT $1, $2, 'pending_verification', 'email_code', $3, $4, $4, $5, now(), '127.0.0.1', now(), now() + interval '12 hours'
    WHERE (SELECT count(*) FROM superseded) >= 0
    RETURNING expires_at
  ), audited AS (
    INSERT INTO audit_events (id, user_id, action, actor, subject_id, ip, at)
    VALUES ($6, $2, 'email_change.requested', 'access_token', $1, '127.0.0.1', now())
  ), noted AS (
    INSERT INTO notices (id, user_id, kind, recipient, change_request_id, created_at)
    VALUES ($7, $2, 'email_change_requested', 'old', $1, now())
  )
  SELECT expires_at FROM request`

const VERIFY = `WITH request AS (
    UPDATE email_change_requests SET status = 'verified', attempts = attempts + 1, closed_at = now(), closed_ip = '127.0.0.1'
    WHERE id = $1 AND user_id = $2 AND status = 'pending_verification' AND code_mac = $3
    RETURNING id, user_id, new_email, new_email_key
  ), changed AS (
    UPDATE users u SET email = r.new_email, email_key = r.new_email_key, email_verified_at = now() FROM request r WHERE u.id = r.user_id
  ), ended AS (
    UPDATE sessions s SET revoked_at = now() FROM request r WHERE s.user_id = r.user_id AND s.revoked_at IS NULL
  ), audited AS (
    INSERT INTO audit_events (id, user_id, action, actor, subject_id, ip, at)
    SELECT $4, user_id, 'email.changed', 'access_token', id, '127.0.0.1', now() FROM request
  ), noted AS (
    INSERT INTO notices (id, user_id, kind, recipient, change_request_id, created_at)
    SELECT n.id, user_id, 'email_changed', n.recipient, request.id, now() FROM request, (VALUES ($5, 'old'), ($6, 'new')) n (id, recipient)
  )
  SELECT new_email FROM request`

const RESEND = `WITH request AS (
    UPDATE email_change_requests SET code_mac = $3, sent_at = now(), expires_at = now() + interval '12 hours'
    WHERE id = $1 AND user_id = $2 AND status = 'pending_verification' RETURNING expires_at
  ), audited AS (
    INSERT INTO audit_events (id, user_id, action, actor, subject_id, ip, at)
    SELECT $4, $2, 'email_change.resent', 'access_token', $1, '127.0.0.1', now() FROM request
  )
  SELECT expires_at FROM request`

// It has no erasure ledger; without the mark the service would write these lines too.
const WITHDRAW = `WITH withdrawal AS (
    INSERT INTO withdrawals (id, user_id, reason, keep_analytics, keep_audit_logs, keep_transaction_history, started_at,
                             scheduled_completion, purge_due_at, ledgered_at)
    SELECT $2, $1, 'no_longer_needed', false, false, false, now(), now() + interval '7 days', now() + interval '30 days', now()
    WHERE NOT EXISTS (SELECT FROM transactions WHERE user_id = $1 AND status = 'pending')
    RETURNING id
  ), steps AS (
    INSERT INTO deletion_steps (withdrawal_id, step, status, estimated_completion, due_at)
    SELECT $2, s, 'pending', now() + interval '7 days', now() + interval '1 day'
    FROM unnest(ARRAY['session_revocation', 'user_profile', 'third_party_integrations', 'data_archives']) s
  ), account AS (
    UPDATE users SET withdrawn_at = now(), email_key = NULL WHERE id = $1
  ), tokens AS (
    UPDATE access_tokens SET revoked_at = now() WHERE user_id = $1 AND revoked_at IS NULL RETURNING token_hash, scopes, expires_at
  ), sessions AS (
    UPDATE sessions SET revoked_at = now() WHERE user_id = $1 AND revoked_at IS NULL
  ), ended AS (
    INSERT INTO ended_credentials (credential_hash, withdrawal_id, user_id, scopes, made_the_call, expires_at)
    SELECT token_hash, $2, $1, scopes, true, expires_at FROM tokens
  ), changes AS (
    UPDATE email_change_requests SET status = 'cancelled', closed_at = now() WHERE user_id = $1 AND status = 'pending_verification'
  ), connections AS (
    UPDATE app_connections SET disabled_at = now() WHERE user_id = $1
  ), noted AS (
    INSERT INTO notices (id, user_id, kind, withdrawal_id, created_at) VALUES ($3, $1, 'account_withdrawal_started', $2, now())
  ), event AS (
    INSERT INTO outbox_events (id, name, data, created_at) VALUES ('evt_' || $2, 'account/withdrawal.started', '{}', now())
  ), legal AS (
    INSERT INTO legal_records (id, user_id, kind, details, at) VALUES ($4, $1, 'withdrawal_requested', $2, now())
  ), audited AS (
    INSERT INTO audit_events (id, user_id, action, actor, subject_id, ip, at)
    VALUES ($5, $1, 'account.withdrawn', 'access_token', $2, '127.0.0.1', now())
  )
  SELECT id FROM withdrawal`

type Answer = [status: number, data: object]
type Row = Awaited<ReturnType<typeof run>>[number]
type Body = Record<string, string>

async function answer(request: IncomingMessage): Promise<Answer> {
  const path = request.url ?? ''
  if (path === '/ready') return [200, {}]
  const token = (request.headers.authorization ?? '').slice(7)
  const [actor] = await run('actor', ACTOR, [createHash('sha256').update(token).digest()])
  if (!actor || actor.revoked_at || actor.withdrawn_at || actor.expires_at < new Date()) return [401, {}]
  if (!path.startsWith(`/api/v1/users/${actor.user_id}/`)) return [403, {}]
  if (path.endsWith('/status')) return [200, statusOf(actor)]
  const body: Body = JSON.parse(await text(request))
  if (path.endsWith('/change')) return changeEmail(actor, body)
  if (path.endsWith('/verify')) return verifyEmail(actor, body)
  if (path.endsWith('/resend-verification')) return resendVerification(actor)
  return withdraw(actor)
}

const statusOf = (actor: Row) => ({
  current_email: actor.email,
  email_verified: actor.email_verified_at !== null,
  verified_at: actor.email_verified_at,
  pending_change: {
    has_pending: actor.change_id !== null,
    new_email: actor.new_email,
    expires_at: actor.change_expires_at,
  },
})

async function changeEmail(actor: Row, body: Body): Promise<Answer> {
  if (!(await verifyHash(actor.password_hash, body.current_password ?? ''))) return [403, {}]
  const change = id('ecr_')
  const [row] = await run('change', CHANGE, [
    ...[change, actor.user_id, actor.email, body.new_email, macOf(change, newCode())],
    ...[id('aud_'), id('ntc_')],
  ])
  return [200, { change_request_id: change, verification_expires_at: row.expires_at }]
}

async function verifyEmail(actor: Row, body: Body): Promise<Answer> {
  const mac = macOf(body.change_request_id ?? '', body.verification_code ?? '')
  if (!actor.code_mac || !timingSafeEqual(mac, actor.code_mac)) return [400, {}]
  const [row] = await run('verify', VERIFY, [actor.change_id, actor.user_id, mac, id('aud_'), id('ntc_'), id('ntc_')])
  return row ? [200, { email_verified: true, new_email: row.new_email }] : [400, {}]
}

async function resendVerification(actor: Row): Promise<Answer> {
  const values = [actor.change_id, actor.user_id, macOf(actor.change_id, newCode()), id('aud_')]
  const [row] = await run('resend', RESEND, values)
  return row ? [200, { verification_sent: true, expires_at: row.expires_at }] : [404, {}]
}

async function withdraw(actor: Row): Promise<Answer> {
  const withdrawal = id('wd_')
  const [row] = await run('withdraw', WITHDRAW, [actor.user_id, withdrawal, id('ntc_'), id('lgl_'), id('aud_')])
  return row ? [202, { withdrawal_id: withdrawal }] : [409, {}]
}

createServer((request, response) => {
  answer(request).then(
    ([status, data]) => {
      const body = JSON.stringify({ success: status < 300, data })
      response
        .writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) })
        .end(body)
    },
    (error) => response.writeHead(500).end(String(error)),
  )
}).listen(Number(process.env.PORT), () => process.stdout.write('Ready\n'))
process.on('SIGTERM', () => process.exit(0))
