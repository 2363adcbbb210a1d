import { AppError } from '@/contract/errors'
import type { SystemContext } from '../context'
import { CALL_LEASE_MS } from '../limits/durations'
import type { AppAnswer } from '../ports'
import { EVENT_TYPES, type EventType } from '../queue/events'
import { isClaimable, isOneOf, openAccount, type Placeholders, type Sql, statement } from '../sql'
import { backOffMs, isTold, sendWebhook } from './webhook'

interface NotificationRow {
  id: string
  subject: string
  attempts: number
  endpoint: string
  sealed_secret: Buffer
  started_at: Date
}

/** Shared items that one statement deletes. */
const BATCH = 5_000

const claimDue = statement<{ withdrawalId: string; now: Date; leaseUntil: Date }, NotificationRow>(
  'claim-app-notifications',
  (
    v,
  ) => `UPDATE app_notifications n SET status = 'processing', lease_until = ${v.leaseUntil}, attempts = n.attempts + 1,
     first_tried_at = coalesce(n.first_tried_at, ${v.now})
   FROM connected_apps a, withdrawals w
   WHERE n.withdrawal_id = ${v.withdrawalId} AND a.id = n.app_id AND w.id = n.withdrawal_id AND ${isClaimable(v, 'n')}
   RETURNING n.id, n.subject, n.attempts, a.endpoint, a.sealed_secret, w.started_at`,
)

interface Told {
  id: string
  withdrawalId: string
  now: Date
  leaseUntil: Date
}

/** Locks the withdrawal, as the end of a step and the purge do, and deletes a batch of what was shared with the application. */
const deletedItems = (v: Placeholders<Told>) => `withdrawal AS (
     SELECT id, user_id FROM withdrawals WHERE id = ${v.withdrawalId} FOR UPDATE
   ), items AS (
     DELETE FROM shared_items WHERE ${isOneOf(
       'id',
       `SELECT s.id FROM withdrawal w JOIN app_notifications n ON n.id = ${v.id} AND n.withdrawal_id = w.id
       JOIN shared_items s ON s.user_id = w.user_id AND s.app_id = n.app_id LIMIT ${BATCH}`,
     )} RETURNING 1
   )`

// The last batch ends the notification and deletes the connection; the batches before renew the lease. An instance that has lost its
// lease finds the notification completed.
const markTold = statement<Told, { is_over: boolean }>(
  'mark-app-told',
  (v) => `WITH ${deletedItems(v)}, told AS (
     UPDATE app_notifications n
     SET status = 'completed', completed_at = ${v.now}, due_at = NULL, lease_until = NULL, subject = NULL, last_error = NULL
     FROM withdrawal w
     WHERE n.id = ${v.id} AND n.withdrawal_id = w.id AND n.status <> 'completed' AND (SELECT count(*) FROM items) < ${BATCH}
     RETURNING w.user_id, n.app_id
   ), connections AS (
     DELETE FROM app_connections c USING told WHERE c.user_id = told.user_id AND c.app_id = told.app_id
   ), renewed AS (
     UPDATE app_notifications n SET lease_until = ${v.leaseUntil}
     WHERE n.id = ${v.id} AND n.status <> 'completed' AND (SELECT count(*) FROM items) >= ${BATCH}
   )
   SELECT count(*) < ${BATCH} AS is_over FROM items`,
)
const markFailed = statement<{ id: string; nextTryAt: Date; problem: string }>(
  'mark-app-failed',
  (v) => `UPDATE app_notifications SET due_at = ${v.nextTryAt}, lease_until = NULL, last_error = ${v.problem}
   WHERE id = ${v.id} AND status <> 'completed'`,
)
const readNextTry = statement<{ withdrawalId: string }, { at: Date | null; problem: string | null }>(
  'next-app-notification',
  (v) => `SELECT min(greatest(due_at, lease_until)) AS at, min(last_error) AS problem
   FROM app_notifications WHERE withdrawal_id = ${v.withdrawalId} AND status <> 'completed'`,
)

/** Claims the due notifications of a withdrawal that no other instance holds; each has a lease of its own. */
export function claimNotifications(ctx: SystemContext, withdrawalId: string): Promise<NotificationRow[]> {
  const now = ctx.clock.now()
  return ctx.sql(claimDue, { withdrawalId, now, leaseUntil: new Date(now.getTime() + CALL_LEASE_MS) })
}

/** When the next notification is due, or its lease ends; null once all applications have been told. */
export async function nextTry(sql: Sql, withdrawalId: string): Promise<{ at: Date; problem: string | null } | null> {
  const [left] = await sql(readNextTry, { withdrawalId })
  return left?.at ? { at: left.at, problem: left.problem } : null
}

/** One attempt. */
export async function notify(ctx: SystemContext, withdrawalId: string, notification: NotificationRow): Promise<void> {
  const answer = await call(ctx, withdrawalId, notification)
  const now = ctx.clock.now()
  if (isTold(answer)) await noteTold(ctx, withdrawalId, notification.id)
  else {
    const nextTryAt = new Date(now.getTime() + backOffMs(ctx, notification.attempts, answer))
    await ctx.sql(markFailed, { id: notification.id, nextTryAt, problem: answer.problem ?? `HTTP ${answer.status}` })
  }
}

async function noteTold(ctx: SystemContext, withdrawalId: string, id: string) {
  for (let isOver = false; !isOver; ) {
    const now = ctx.clock.now()
    const leaseUntil = new Date(now.getTime() + CALL_LEASE_MS)
    const [row] = await ctx.sql(markTold, { id, withdrawalId, now, leaseUntil })
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

interface Register {
  id: string
  name: string
  endpoint: string
  sealedSecret: Buffer
  now: Date
  events: EventType[]
}

const insertApp = statement<Register>(
  'register-app',
  (v) => `INSERT INTO connected_apps (id, name, endpoint, sealed_secret, created_at, events)
   VALUES (${v.id}, ${v.name}, ${v.endpoint}, ${v.sealedSecret}, ${v.now}, ${v.events})`,
)

/** Every application gets `account.withdrawn`, whatever `events` says. */
export async function registerApp(
  ctx: SystemContext,
  { name, endpoint, secret, events = [] }: { name: string; endpoint: string; secret: string; events?: EventType[] },
): Promise<string> {
  const id = ctx.secrets.randomId('app_')
  const wanted = EVENT_TYPES.filter((type) => type === 'account.withdrawn' || events.includes(type))
  await ctx.sql(insertApp, {
    id,
    name,
    endpoint,
    sealedSecret: ctx.secrets.seal(secret),
    now: ctx.clock.now(),
    events: wanted,
  })
  return id
}

interface Connect {
  id: string
  userId: string
  appId: string
  subject: string
  now: Date
}

const insertConnection = statement<Connect, { id: string }>(
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
