import { createHmac } from 'node:crypto'
import { AppError } from '@/contract/errors'
import { type AppAnswer, type Sql, type SystemContext, statement } from '../context'
import { RAISE_VERSION } from '../user'

interface NotificationRow {
  id: string
  subject: string
  attempts: number
  endpoint: string
  sealed_secret: Buffer
  started_at: Date
}

const SECOND = 1000
const FIRST_WAIT_MS = 5 * SECOND
const LONGEST_WAIT_MS = 24 * 60 * 60 * SECOND
const LEASE_MS = 20 * SECOND
const ITEMS_AT_ONCE = 5_000

const claimDue = statement(
  'claim-app-notifications',
  `UPDATE app_notifications n SET status = 'processing', lease_until = $3, attempts = n.attempts + 1
   FROM connected_apps a, withdrawals w
   WHERE n.withdrawal_id = $1 AND a.id = n.app_id AND w.id = n.withdrawal_id AND n.due_at <= $2
     AND (n.lease_until IS NULL OR n.lease_until <= $2)
   RETURNING n.id, n.subject, n.attempts, a.endpoint, a.sealed_secret, w.started_at`,
)
// Whoever held the lease may come back after it has run out, when another has told the application.
// What ties the person to the application goes with the news, and first so much of what was shared that little is left. The withdrawal is locked first, as by the step's end and the purge.
const markTold = statement(
  'mark-app-told',
  `WITH withdrawal AS (
     SELECT id, user_id FROM withdrawals WHERE id = $2 FOR UPDATE
   ), items AS (
     DELETE FROM shared_items WHERE id = ANY(ARRAY(
       SELECT s.id FROM withdrawal w JOIN app_notifications n ON n.id = $1 AND n.withdrawal_id = w.id
       JOIN shared_items s ON s.user_id = w.user_id AND s.app_id = n.app_id LIMIT ${ITEMS_AT_ONCE}
     )) RETURNING 1
   ), told AS (
     UPDATE app_notifications n
     SET status = 'completed', completed_at = $3, due_at = NULL, lease_until = NULL, subject = NULL, last_error = NULL
     FROM withdrawal w
     WHERE n.id = $1 AND n.withdrawal_id = w.id AND n.status <> 'completed' AND (SELECT count(*) FROM items) < ${ITEMS_AT_ONCE}
     RETURNING w.user_id, n.app_id
   ), connections AS (
     DELETE FROM app_connections c USING told WHERE c.user_id = told.user_id AND c.app_id = told.app_id
   ), renewed AS (
     UPDATE app_notifications n SET lease_until = $4
     WHERE n.id = $1 AND n.status <> 'completed' AND (SELECT count(*) FROM items) >= ${ITEMS_AT_ONCE}
   )
   SELECT count(*) < ${ITEMS_AT_ONCE} AS is_over FROM items`,
)
const markFailed = statement(
  'mark-app-failed',
  `UPDATE app_notifications SET due_at = $2, lease_until = NULL, last_error = $3 WHERE id = $1 AND status <> 'completed'`,
)
const readNextTry = statement(
  'next-app-notification',
  `SELECT min(greatest(due_at, lease_until)) AS at, min(last_error) AS problem
   FROM app_notifications WHERE withdrawal_id = $1 AND status <> 'completed'`,
)

/** The applications of a withdrawal that are due and that nobody else is telling; each has a lease of its own. */
export function claimNotifications(ctx: SystemContext, withdrawalId: string): Promise<NotificationRow[]> {
  const now = ctx.clock.now()
  return ctx.sql<NotificationRow>(claimDue, [withdrawalId, now, new Date(now.getTime() + LEASE_MS)])
}

/** When the next application wants to be tried, or whoever tells it has lost it; null once all know. */
export async function nextTry(sql: Sql, withdrawalId: string): Promise<{ at: Date; problem: string | null } | null> {
  const [left] = await sql<{ at: Date | null; problem: string | null }>(readNextTry, [withdrawalId])
  return left?.at ? { at: left.at, problem: left.problem } : null
}

/** One try. */
export async function notify(ctx: SystemContext, withdrawalId: string, notification: NotificationRow): Promise<void> {
  const answer = await call(ctx, withdrawalId, notification)
  const now = ctx.clock.now()
  if (knows(answer)) await noteTold(ctx, withdrawalId, notification.id)
  else {
    const nextTryAt = new Date(now.getTime() + waitMs(ctx, notification.attempts, answer))
    await ctx.sql(markFailed, [notification.id, nextTryAt, answer.problem ?? `HTTP ${answer.status}`])
  }
}

async function noteTold(ctx: SystemContext, withdrawalId: string, id: string) {
  for (let isOver = false; !isOver; ) {
    const now = ctx.clock.now()
    const leaseUntil = new Date(now.getTime() + LEASE_MS)
    const [row] = await ctx.sql<{ is_over: boolean }>(markTold, [id, withdrawalId, now, leaseUntil])
    isOver = row?.is_over !== false
  }
}

async function call(ctx: SystemContext, withdrawalId: string, notification: NotificationRow): Promise<AppAnswer> {
  const secret = ctx.secrets.open(notification.sealed_secret)
  if (!secret) return { status: 0, problem: 'no configured key opens its signing secret' }
  const body = JSON.stringify({
    type: 'account.withdrawn',
    timestamp: notification.started_at.toISOString(),
    data: { withdrawal_id: withdrawalId, subject: notification.subject },
  })
  const headers = signedHeaders(notification.id, ctx.clock.now(), body, secret.toString())
  return ctx.callApp({ endpoint: notification.endpoint, headers, body })
}

/** Gone at the application is as good as told. */
const knows = ({ status }: AppAnswer) => (status >= 200 && status < 300) || status === 404 || status === 410

/** Standard Webhooks, symmetric (v1). */
function signedHeaders(id: string, at: Date, body: string, secret: string): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / SECOND))
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return {
    'Content-Type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  }
}

/** Doubles from 5 s to a day, with up to a quarter more at random. What the application asks for comes first, but for less than 5 s. */
function waitMs(ctx: SystemContext, attempts: number, { retryAfterMs }: AppAnswer): number {
  const shortest = FIRST_WAIT_MS * ctx.timeScale
  if (retryAfterMs !== undefined) return Math.min(Math.max(retryAfterMs, shortest), LONGEST_WAIT_MS)
  const doubled = shortest * 2 ** Math.min(attempts - 1, 20) * (1 + Math.random() / 4)
  return Math.min(doubled, LONGEST_WAIT_MS * ctx.timeScale)
}

const insertApp = statement(
  'register-app',
  'INSERT INTO connected_apps (id, name, endpoint, sealed_secret, created_at) VALUES ($1, $2, $3, $4, $5)',
)

/** The secret is shown in this answer and never again. */
export async function registerApp(
  ctx: SystemContext,
  { name, endpoint, secret }: { name: string; endpoint: string; secret: string },
): Promise<string> {
  const id = ctx.secrets.randomId('app_')
  await ctx.sql(insertApp, [id, name, endpoint, ctx.secrets.seal(secret), ctx.clock.now()])
  return id
}

const insertConnection = statement(
  'connect-app',
  `WITH account AS (${RAISE_VERSION})
   INSERT INTO app_connections (id, user_id, app_id, subject, connected_at)
   SELECT $1, account.id, a.id, $4, $5 FROM account, connected_apps a WHERE a.id = $3
   ON CONFLICT (user_id, app_id) DO UPDATE SET subject = excluded.subject
   RETURNING id`,
)

export async function connectApp(
  ctx: SystemContext,
  input: { userId: string; appId: string; subject: string },
): Promise<string> {
  const id = ctx.secrets.randomId('con_')
  const [row] = await ctx.sql<{ id: string }>(insertConnection, [
    id,
    input.userId,
    input.appId,
    input.subject,
    ctx.clock.now(),
  ])
  if (!row) throw new AppError('REQUEST_001', 'There is no active user, or no application, with this id.')
  return row.id
}
