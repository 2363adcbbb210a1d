import { AppError } from '@/contract/errors'
import { type SystemContext, statement } from '../context'
import type { AppAnswer } from '../ports'
import { EVENT_TYPES, type EventType } from '../queue/events'
import { statement as named, openAccount, type Sql } from '../sql'
import { backOffMs, CALL_LEASE_MS, isTold, sendWebhook } from './webhook'

interface NotificationRow {
  id: string
  subject: string
  attempts: number
  endpoint: string
  sealed_secret: Buffer
  started_at: Date
}

const ITEMS_AT_ONCE = 5_000

const claimDue = statement(
  'claim-app-notifications',
  `UPDATE app_notifications n SET status = 'processing', lease_until = $3, attempts = n.attempts + 1,
     first_tried_at = coalesce(n.first_tried_at, $2)
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
  return ctx.sql<NotificationRow>(claimDue, [withdrawalId, now, new Date(now.getTime() + CALL_LEASE_MS)])
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
  if (isTold(answer)) await noteTold(ctx, withdrawalId, notification.id)
  else {
    const nextTryAt = new Date(now.getTime() + backOffMs(ctx, notification.attempts, answer))
    await ctx.sql(markFailed, [notification.id, nextTryAt, answer.problem ?? `HTTP ${answer.status}`])
  }
}

async function noteTold(ctx: SystemContext, withdrawalId: string, id: string) {
  for (let isOver = false; !isOver; ) {
    const now = ctx.clock.now()
    const leaseUntil = new Date(now.getTime() + CALL_LEASE_MS)
    const [row] = await ctx.sql<{ is_over: boolean }>(markTold, [id, withdrawalId, now, leaseUntil])
    isOver = row?.is_over !== false
  }
}

function call(ctx: SystemContext, withdrawalId: string, notification: NotificationRow): Promise<AppAnswer> {
  const body = JSON.stringify({
    type: 'account.withdrawn',
    timestamp: notification.started_at.toISOString(),
    data: { withdrawal_id: withdrawalId, subject: notification.subject },
  })
  const { id, endpoint, sealed_secret: sealedSecret } = notification
  return sendWebhook(ctx, { id, endpoint, sealedSecret, body })
}

const insertApp = statement(
  'register-app',
  'INSERT INTO connected_apps (id, name, endpoint, sealed_secret, created_at, events) VALUES ($1, $2, $3, $4, $5, $6)',
)

/** The secret is shown in this answer and never again. Whatever `events` says, `account.withdrawn` is among them. */
export async function registerApp(
  ctx: SystemContext,
  { name, endpoint, secret, events = [] }: { name: string; endpoint: string; secret: string; events?: EventType[] },
): Promise<string> {
  const id = ctx.secrets.randomId('app_')
  const wanted = EVENT_TYPES.filter((type) => type === 'account.withdrawn' || events.includes(type))
  await ctx.sql(insertApp, [id, name, endpoint, ctx.secrets.seal(secret), ctx.clock.now(), wanted])
  return id
}

interface Connect {
  id: string
  userId: string
  appId: string
  subject: string
  now: Date
}

const insertConnection = named<Connect, { id: string }>(
  'connect-app',
  (v) => `WITH account AS (${openAccount(v.userId)})
   INSERT INTO app_connections (id, user_id, app_id, subject, connected_at)
   SELECT ${v.id}, account.id, a.id, ${v.subject}, ${v.now} FROM account, connected_apps a WHERE a.id = ${v.appId}
   ON CONFLICT (user_id, app_id) DO UPDATE SET subject = excluded.subject
   RETURNING id`,
)

export async function connectApp(
  ctx: SystemContext,
  input: { userId: string; appId: string; subject: string },
): Promise<string> {
  const id = ctx.secrets.randomId('con_')
  const [row] = await ctx.sql(insertConnection, { ...input, id, now: ctx.clock.now() })
  if (!row) throw new AppError('REQUEST_001', 'There is no active user, or no application, with this id.')
  return row.id
}
