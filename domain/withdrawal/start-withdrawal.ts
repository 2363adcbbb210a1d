import { AppError } from '@/contract/errors'
import type { Step } from '@/contract/withdrawal'
import { ALL_SCOPES } from '../access/authenticate'
import { macOfExternalId } from '../access/ended-external-ids'
import type { Actor, SystemContext } from '../context'
import { CONFIRMATION_LIFETIME_MS } from '../limits/durations'
import type { LedgerEntry } from '../ports'
import { WITHDRAWAL_STARTED } from '../queue/events'
import { queueNotice, toDeliverable } from '../queue/notice-kinds'
import type { EngineEventName } from '../queue/outbox'
import { audit, closePendingChange, type Sql, statement } from '../sql'
import type { WithdrawalPlan } from './schedule'
import { DELETION_STEPS } from './steps/deletion-steps'

export interface Withdrawal {
  id: string
  userId: string
  startedAt: Date
  reason: string | null
  feedback: string | null
  keeps: LedgerEntry['keeps']
  plan: WithdrawalPlan
  /** Who asked, and from where; null for a replay of the ledger, which tells nobody and which nothing holds back. */
  caller: WithdrawalCaller | null
}

export interface WithdrawalCaller {
  /** Null for the operator. */
  actor: Actor | null
  /** Who asked a service for it. */
  requestedBy: string | null
  ip: string | null
  noticeId: string
  /** Until then the message is the caller's to send. */
  noticeLeaseUntil: Date
}

export interface Account {
  name: string
  email: string
  external_id: string | null
}

const lockAccount = statement<{ userId: string }, Account>(
  'lock-account',
  (v) => `SELECT name, email, external_id FROM users WHERE id = ${v.userId} AND withdrawn_at IS NULL FOR UPDATE`,
)

/**
 * Locks the account, and with it whoever writes rows for it: all take this row's lock first. The statements that follow in the same
 * transaction see what the others have committed. Null where there is no such account, or it is withdrawn already.
 */
export async function lockForWithdrawal(sql: Sql, userId: string): Promise<Account | null> {
  const [account] = await sql(lockAccount, { userId })
  return account ?? null
}

const countPending = statement<{ userId: string }, { pending: number }>(
  'count-pending-transactions',
  (v) => `SELECT count(*)::int AS pending FROM transactions WHERE user_id = ${v.userId} AND status = 'pending'`,
)

export async function refusePendingTransactions(sql: Sql, userId: string): Promise<void> {
  const [{ pending } = { pending: 0 }] = await sql(countPending, { userId })
  if (pending === 0) return
  const [what, it] = pending === 1 ? ['transaction', 'it'] : ['transactions', 'them']
  throw new AppError('WITHDRAWAL_003', `${pending} pending ${what}. Settle or cancel ${it} first.`)
}

/** Writes everything that takes the account apart. `sql` is the transaction that holds the account's lock. */
export async function startWithdrawal(
  ctx: SystemContext,
  sql: Sql,
  account: Account,
  withdrawal: Withdrawal,
): Promise<void> {
  await endAccess(ctx, sql, account, withdrawal)
  await writePlan(sql, withdrawal)
  await queueMessages(ctx, sql, account, withdrawal)
  await recordStart(ctx, sql, withdrawal)
}

interface EndAccess {
  userId: string
  withdrawalId: string
  now: Date
  /** Row of the session or access token that made the call; empty for other callers. */
  callerId: string
  sessionScopes: readonly string[]
  outsideHash: Buffer | null
  outsideScopes: readonly string[]
  outsideExpiresAt: Date | null
  /** Null where the account has no external id. */
  externalIdMac: Buffer | null
  retainedUntil: Date
}

// Rows are found by the user's id, a value: joined with the account, the planner would read all that is open.
const endAccountAccess = statement<EndAccess>(
  'end-account-access',
  (v) => `WITH withdrawn AS (
     UPDATE users SET withdrawn_at = ${v.now}, email_key = NULL, version = version + 1 WHERE id = ${v.userId}
   ), ended_tokens AS (
     UPDATE access_tokens SET revoked_at = ${v.now}
     WHERE user_id = ${v.userId} AND revoked_at IS NULL AND expires_at > ${v.now}
     RETURNING token_hash AS hash, scopes, id, expires_at
   ), ended_sessions AS (
     UPDATE sessions SET revoked_at = ${v.now}
     WHERE user_id = ${v.userId} AND revoked_at IS NULL AND expires_at > ${v.now}
     RETURNING sha256(convert_to(id, 'UTF8')) AS hash, ${v.sessionScopes}::text[] AS scopes, id, expires_at
   ), remembered AS (
     INSERT INTO ended_credentials (credential_hash, withdrawal_id, user_id, scopes, made_the_call, expires_at)
     SELECT hash, ${v.withdrawalId}, ${v.userId}, scopes, id = ${v.callerId}, expires_at FROM ended_tokens
     UNION ALL SELECT hash, ${v.withdrawalId}, ${v.userId}, scopes, id = ${v.callerId}, expires_at FROM ended_sessions
     UNION ALL SELECT ${v.outsideHash}::bytea, ${v.withdrawalId}, ${v.userId}, ${v.outsideScopes}::text[], true, ${v.outsideExpiresAt}::timestamptz
     WHERE ${v.outsideHash}::bytea IS NOT NULL
   ), ended_external_id AS (
     INSERT INTO ended_external_ids (withdrawal_id, user_id, external_id_mac, expires_at)
     SELECT ${v.withdrawalId}, ${v.userId}, ${v.externalIdMac}::bytea, ${v.retainedUntil}::timestamptz
     WHERE ${v.externalIdMac}::bytea IS NOT NULL
   ), changes AS (
     ${closePendingChange('cancelled', { user: v.userId, at: v.now })}
   )
   UPDATE notices SET due_at = NULL, failed_at = ${v.now}
   WHERE user_id = ${v.userId} AND sent_at IS NULL AND failed_at IS NULL`,
)

/** The account is off: its sessions and tokens are ended and remembered by hash, its pending change and its unsent notices are closed. */
async function endAccess(
  ctx: SystemContext,
  sql: Sql,
  account: Account,
  { id, userId, startedAt, caller, plan }: Withdrawal,
): Promise<void> {
  const outside = caller?.actor?.outsideToken
  await sql(endAccountAccess, {
    userId,
    withdrawalId: id,
    now: startedAt,
    callerId: caller?.actor?.id ?? '',
    sessionScopes: ALL_SCOPES,
    outsideHash: outside?.hash ?? null,
    outsideScopes: caller?.actor?.scopes ?? [],
    outsideExpiresAt: outside?.expiresAt ?? null,
    externalIdMac: account.external_id === null ? null : macOfExternalId(ctx, account.external_id),
    retainedUntil: plan.purgeDueAt,
  })
}

interface Plan {
  withdrawalId: string
  userId: string
  now: Date
  reason: string | null
  feedback: string | null
  keepAnalytics: boolean
  keepAuditLogs: boolean
  keepTransactionHistory: boolean
  scheduledCompletion: Date
  purgeDueAt: Date
  steps: Step[]
  statuses: string[]
  estimates: Date[]
  /** Null where the request itself completes the step. */
  dueTimes: (Date | null)[]
}

const insertPlan = statement<Plan>(
  'plan-withdrawal',
  (v) => `WITH withdrawal AS (
     INSERT INTO withdrawals (id, user_id, reason, feedback, keep_analytics, keep_audit_logs, keep_transaction_history,
                              started_at, scheduled_completion, purge_due_at)
     VALUES (${v.withdrawalId}, ${v.userId}, ${v.reason}, ${v.feedback}, ${v.keepAnalytics}, ${v.keepAuditLogs},
             ${v.keepTransactionHistory}, ${v.now}, ${v.scheduledCompletion}, ${v.purgeDueAt})
   )
   INSERT INTO deletion_steps (withdrawal_id, step, status, estimated_completion, due_at, completed_at)
   SELECT ${v.withdrawalId}, s.step, s.status, s.estimate, s.due, CASE WHEN s.due IS NULL THEN ${v.now}::timestamptz END
   FROM unnest(${v.steps}::text[], ${v.statuses}::text[], ${v.estimates}::timestamptz[], ${v.dueTimes}::timestamptz[])
     AS s (step, status, estimate, due)`,
)

/** The withdrawal and its steps, each with the time at which it is due. */
async function writePlan(
  sql: Sql,
  { id, userId, startedAt, reason, feedback, keeps, plan }: Withdrawal,
): Promise<void> {
  await sql(insertPlan, {
    withdrawalId: id,
    userId,
    now: startedAt,
    reason,
    feedback,
    keepAnalytics: keeps.analytics,
    keepAuditLogs: keeps.auditLogs,
    keepTransactionHistory: keeps.transactionHistory,
    scheduledCompletion: plan.scheduledCompletion,
    purgeDueAt: plan.purgeDueAt,
    steps: plan.steps.map(({ step }) => step),
    statuses: plan.steps.map(({ step }) => DELETION_STEPS[step].firstStatus),
    estimates: plan.steps.map(({ estimatedCompletion }) => estimatedCompletion),
    dueTimes: plan.steps.map(({ step, dueAt }) => (DELETION_STEPS[step].firstStatus === 'completed' ? null : dueAt)),
  })
}

const ENGINE_EVENT: EngineEventName = 'account/withdrawal.started'

interface Queue {
  withdrawalId: string
  userId: string
  now: Date
  notifyAt: Date
  eventId: string
  /** Null where nobody is to be told by mail. */
  noticeId: string | null
  /** Name and address, which are gone before the message may be sent. */
  sealedRecipient: Buffer | null
  noticeLeaseUntil: Date
  noticeExpiresAt: Date
  engineEventId: string
  hasEngine: boolean
}

const queueAll = statement<Queue>(
  'queue-withdrawal-messages',
  (v) => `WITH connections AS (
     UPDATE app_connections SET disabled_at = ${v.now} WHERE user_id = ${v.userId} RETURNING id, app_id, subject
   ), notifications AS (
     INSERT INTO app_notifications (id, withdrawal_id, app_id, app_name, subject, status, due_at)
     SELECT 'msg_' || substr(${v.withdrawalId}, 4) || '_' || c.id, ${v.withdrawalId}, c.app_id, a.name, c.subject, 'pending',
            ${v.notifyAt}::timestamptz
     FROM connections c JOIN connected_apps a ON a.id = c.app_id
   ), announced AS (
     INSERT INTO events (id, type, withdrawal_id, data, version, occurred_at)
     SELECT ${v.eventId}, '${WITHDRAWAL_STARTED}', ${v.withdrawalId}, jsonb_build_object('withdrawal_id', ${v.withdrawalId}::text),
            version, ${v.now}
     FROM users WHERE id = ${v.userId}
   ), deliveries AS (
     INSERT INTO event_deliveries (id, event_id, app_id, subject, status, due_at)
     SELECT 'dlv_' || substr(${v.eventId}, 5) || '_' || a.id, ${v.eventId}, a.id, c.subject, 'pending', ${v.now}
     FROM connections c JOIN connected_apps a ON a.id = c.app_id WHERE '${WITHDRAWAL_STARTED}' = ANY(a.events)
   ), confirmation AS (
     ${queueNotice('account_withdrawal_started', {
       from: `(VALUES (${v.noticeId}::text)) AS notice (id) WHERE notice.id IS NOT NULL`,
       id: 'notice.id',
       user: v.userId,
       about: v.withdrawalId,
       sealed: v.sealedRecipient,
       at: v.now,
       leaseUntil: v.noticeLeaseUntil,
       expiresAt: v.noticeExpiresAt,
     })}
   )
   INSERT INTO outbox_events (id, name, data, created_at, due_at)
   SELECT ${v.engineEventId}, '${ENGINE_EVENT}', jsonb_build_object('withdrawal_id', ${v.withdrawalId}::text),
          ${v.now}, ${v.now}
   WHERE ${v.hasEngine}`,
)

/** What is told, and to whom: applications, the person and the engine. */
async function queueMessages(
  ctx: SystemContext,
  sql: Sql,
  account: Account,
  { id, userId, startedAt, plan, caller }: Withdrawal,
): Promise<void> {
  await sql(queueAll, {
    withdrawalId: id,
    userId,
    now: startedAt,
    notifyAt: plan.notifyAt,
    eventId: ctx.secrets.randomId('evt_'),
    noticeId: caller?.noticeId ?? null,
    sealedRecipient: caller ? ctx.secrets.seal(JSON.stringify(recipientOf(account))) : null,
    noticeLeaseUntil: caller?.noticeLeaseUntil ?? startedAt,
    noticeExpiresAt: new Date(startedAt.getTime() + CONFIRMATION_LIFETIME_MS * ctx.timeScale),
    engineEventId: `evt_${id}`,
    hasEngine: ctx.emit !== null,
  })
}

interface StartRecord {
  withdrawalId: string
  userId: string
  now: Date
  legalId: string
  auditId: string
  actor: string
  /** The service token that made the call. */
  actorId: string | null
  requestedBy: string | null
  ip: string | null
}

const insertRecords = statement<StartRecord>(
  'record-withdrawal-start',
  (v) => `WITH legal AS (
     INSERT INTO legal_records (id, user_id, kind, details, at)
     VALUES (${v.legalId}, ${v.userId}, 'withdrawal_requested', ${v.withdrawalId}, ${v.now})
   )
   ${audit('account.withdrawn', { id: v.auditId, user: v.userId, actor: v.actor, actorId: v.actorId, requestedBy: v.requestedBy, subject: v.withdrawalId, ip: v.ip, at: v.now })}`,
)

async function recordStart(
  { secrets }: SystemContext,
  sql: Sql,
  { id, userId, startedAt, caller }: Withdrawal,
): Promise<void> {
  await sql(insertRecords, {
    withdrawalId: id,
    userId,
    now: startedAt,
    legalId: secrets.randomId('lgl_'),
    auditId: secrets.randomId('aud_'),
    actor: nameOfCaller(caller),
    actorId: caller?.actor?.kind === 'service_token' ? caller.actor.id : null,
    requestedBy: caller?.requestedBy ?? null,
    ip: caller?.ip ?? null,
  })
}

/** As the audit calls whoever asked. */
function nameOfCaller(caller: Withdrawal['caller']): string {
  if (!caller) return 'system'
  if (!caller.actor) return 'operator'
  return caller.actor.kind === 'service_token' ? 'service' : caller.actor.kind
}

export const recipientOf = ({ email, name }: Account) => ({ to: toDeliverable(email), name })
