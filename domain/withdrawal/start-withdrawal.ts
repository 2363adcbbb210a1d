import { parseAddress } from '@/contract/address'
import type { Step } from '@/contract/withdrawal'
import { macOfExternalId } from '../accounts/ended-external-ids'
import { tellStart, versionAfter } from '../applications/events'
import type { Actor, SystemContext } from '../context'
import { CONFIRMATION_LIFETIME_MS, REPLACED_ADDRESS_MS } from '../limits/durations'
import { queueNotice, toDeliverable } from '../mail/notice-kinds'
import type { Asker, LedgerEntry } from '../ports'
import { ALL_SCOPES } from '../sessions/authenticate'
import {
  audit,
  boolean,
  bytes,
  closePendingChange,
  endSessions,
  endTokens,
  integer,
  literal,
  RAISE_VERSION,
  type RowOf,
  type Sql,
  sql,
  statement,
  text,
  time,
} from '../sql'
import type { EngineEventName } from '../work/outbox'
import { insertReceipt } from './receipts/receipts'
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
  /** The signed receipt of the acceptance. */
  receipt: string
  /** Null for a replay of the ledger, which notifies nobody and which nothing holds back. */
  caller: WithdrawalCaller | null
  /** The addresses that get a notice beside the account's own. */
  told: readonly Told[]
}

export interface WithdrawalCaller {
  /** Null for the operator. */
  actor: Actor | null
  /** The person who asked a service for it. */
  requestedBy: string | null
  ip: string | null
  noticeId: string
  /** Until then the caller sends the messages. */
  noticeLeaseUntil: Date
}

/** The recipient of a message, sealed in its row. */
export interface Recipient {
  to: string
  name: string
}

/** A message to an address that a recent change replaced. */
export interface Told {
  noticeId: string
  recipient: Recipient
}

export type Account = RowOf<typeof lockAccount>

const lockAccount = statement(
  'lock-account',
  { userId: text },
  { name: text, email: text, locale: text.orNull, external_id: text.orNull, role: text.orNull, version: integer },
  (v) =>
    sql`SELECT name, email, locale, external_id, role, version FROM users WHERE id = ${v.userId} AND withdrawn_at IS NULL FOR UPDATE`,
)

/**
 * Locks the account. Every writer of its rows takes this lock first, so the following statements of the transaction see what others
 * have committed. Null if there is no such account, or it is already withdrawn.
 */
export async function lockForWithdrawal(sql: Sql, userId: string): Promise<Account | null> {
  const [account] = await sql(lockAccount, { userId })
  return account ?? null
}

/** Ends the account's access and writes what its deletion needs. `sql` must hold the account's lock. */
export async function startWithdrawal(
  ctx: SystemContext,
  sql: Sql,
  account: Account,
  withdrawal: Withdrawal,
): Promise<void> {
  const { id: withdrawalId, userId, startedAt: at } = withdrawal
  await Promise.all([
    endAccess(ctx, sql, account, withdrawal),
    writePlan(ctx, sql, withdrawal),
    tellStart(ctx, sql, { withdrawalId, userId, version: account.version + 1, at }),
    queueMessages(ctx, sql, account, withdrawal),
  ])
}

const replacedAddresses = statement(
  'replaced-addresses',
  { userId: text, after: time },
  { old_email: text },
  (v) => sql`SELECT old_email FROM email_change_requests
   WHERE user_id = ${v.userId} AND status = 'verified' AND closed_at > ${v.after} ORDER BY closed_at`,
)

/**
 * The addresses that recent changes replaced. They get a notice too, because whoever took the account over could delete it before
 * its owner undoes the change.
 */
export async function findReplaced(sql: Sql, userId: string, startedAt: Date): Promise<string[]> {
  const after = new Date(startedAt.getTime() - REPLACED_ADDRESS_MS)
  return (await sql(replacedAddresses, { userId, after })).map(({ old_email }) => old_email)
}

/** One message for each replaced address, none for the account's own. */
export function tellReplaced(ctx: SystemContext, { email, name }: Account, replaced: readonly string[]): Told[] {
  const byKey = new Map(replaced.map((address) => [parseAddress(address)?.key, address]))
  byKey.delete(parseAddress(email)?.key)
  return [...byKey.values()].map((address) => ({
    noticeId: ctx.secrets.randomId('ntc_'),
    recipient: recipientOf({ email: address, name }),
  }))
}

// Rows are found by the user's id as a value: joined with the account, the planner would read all open rows.
const endAccountAccess = statement(
  'end-account-access',
  {
    userId: text,
    withdrawalId: text,
    now: time,
    /** The id of the session or access token that made the call; empty for other callers. */
    callerId: text,
    sessionScopes: text.list,
    outsideHash: bytes.orNull,
    outsideScopes: text.list,
    outsideExpiresAt: time.orNull,
    /** Null if the account has no external id. */
    externalIdMac: bytes.orNull,
    nextVersion: integer,
    retainedUntil: time,
  },
  {},
  (v) => sql`WITH withdrawn AS (
     UPDATE users SET withdrawn_at = ${v.now}, email_key = NULL, ${RAISE_VERSION} WHERE id = ${v.userId}
   ), ended_tokens AS (
     ${endTokens({ user: v.userId, at: v.now })} AND t.expires_at > ${v.now}
     RETURNING t.token_hash AS hash, t.scopes, t.id, t.expires_at
   ), ended_sessions AS (
     ${endSessions({ user: v.userId, at: v.now })} AND s.expires_at > ${v.now}
     RETURNING sha256(convert_to(s.id, 'UTF8')) AS hash, ${v.sessionScopes}::text[] AS scopes, s.id, s.expires_at
   ), remembered AS (
     INSERT INTO ended_credentials (credential_hash, withdrawal_id, user_id, scopes, made_the_call, expires_at)
     SELECT hash, ${v.withdrawalId}, ${v.userId}, scopes, id = ${v.callerId}, expires_at FROM ended_tokens
     UNION ALL SELECT hash, ${v.withdrawalId}, ${v.userId}, scopes, id = ${v.callerId}, expires_at FROM ended_sessions
     UNION ALL SELECT ${v.outsideHash}::bytea, ${v.withdrawalId}, ${v.userId}, ${v.outsideScopes}::text[], true, ${v.outsideExpiresAt}::timestamptz
     WHERE ${v.outsideHash}::bytea IS NOT NULL
   ), ended_external_id AS (
     INSERT INTO ended_external_ids (withdrawal_id, user_id, external_id_mac, next_version, expires_at)
     SELECT ${v.withdrawalId}, ${v.userId}, ${v.externalIdMac}::bytea, ${v.nextVersion}::int, ${v.retainedUntil}::timestamptz
     WHERE ${v.externalIdMac}::bytea IS NOT NULL
   ), changes AS (
     ${closePendingChange('cancelled', { user: v.userId, at: v.now })}
   )
   UPDATE notices SET due_at = NULL, failed_at = ${v.now}
   WHERE user_id = ${v.userId} AND sent_at IS NULL AND failed_at IS NULL`,
)

/** Ends the account's sessions and tokens and stores their hashes; closes its pending change and its unsent notices. */
async function endAccess(
  ctx: SystemContext,
  sql: Sql,
  account: Account,
  { id, userId, startedAt, caller, plan }: Withdrawal,
): Promise<void> {
  const outside = caller?.actor?.rowless
  await sql(endAccountAccess, {
    userId,
    withdrawalId: id,
    now: startedAt,
    callerId: caller?.actor?.id ?? '',
    sessionScopes: ALL_SCOPES,
    outsideHash: outside?.hash ?? null,
    outsideScopes: [...(caller?.actor?.scopes ?? [])],
    outsideExpiresAt: outside?.expiresAt ?? null,
    externalIdMac: account.external_id === null ? null : macOfExternalId(ctx, account.external_id),
    nextVersion: versionAfter(account.version + 1),
    retainedUntil: plan.purgeDueAt,
  })
}

const insertPlan = statement(
  'plan-withdrawal',
  {
    withdrawalId: text,
    userId: text,
    now: time,
    reason: text.orNull,
    feedback: text.orNull,
    keepAnalytics: boolean,
    keepAuditLogs: boolean,
    keepTransactionHistory: boolean,
    scheduledCompletion: time,
    purgeDueAt: time,
    dueBy: time,
    steps: text.of<Step>().list,
    statuses: text.list,
    estimates: time.list,
    /** Null if the request itself completes the step. */
    dueTimes: time.orNull.list,
    legalId: text,
    auditId: text,
    actor: text,
    /** The service token that made the call. */
    actorId: text.orNull,
    requestedBy: text.orNull,
    ip: text.orNull,
    receipt: text,
  },
  {},
  (v) => sql`WITH withdrawal AS (
     INSERT INTO withdrawals (id, user_id, reason, feedback, keep_analytics, keep_audit_logs, keep_transaction_history,
                              started_at, scheduled_completion, purge_due_at, due_by)
     VALUES (${v.withdrawalId}, ${v.userId}, ${v.reason}, ${v.feedback}, ${v.keepAnalytics}, ${v.keepAuditLogs},
             ${v.keepTransactionHistory}, ${v.now}, ${v.scheduledCompletion}, ${v.purgeDueAt}, ${v.dueBy})
   ), steps AS (
     INSERT INTO deletion_steps (withdrawal_id, step, status, estimated_completion, due_at, completed_at, is_counted)
     SELECT ${v.withdrawalId}, s.step, s.status, s.estimate, s.due, CASE WHEN s.due IS NULL THEN ${v.now}::timestamptz END,
            s.due IS NULL
     FROM unnest(${v.steps}::text[], ${v.statuses}::text[], ${v.estimates}::timestamptz[], ${v.dueTimes}::timestamptz[])
       AS s (step, status, estimate, due)
   ), receipt AS (
     ${insertReceipt({ withdrawal: v.withdrawalId, kind: sql`'acceptance'`, receipt: v.receipt, at: v.now })}
   ), legal AS (
     INSERT INTO legal_records (id, user_id, kind, details, at)
     VALUES (${v.legalId}, ${v.userId}, 'withdrawal_requested', ${v.withdrawalId}, ${v.now})
   )
   ${audit('account.withdrawn', { id: v.auditId, user: v.userId, actor: v.actor, actorId: v.actorId, requestedBy: v.requestedBy, subject: v.withdrawalId, ip: v.ip, at: v.now })}`,
)

/** Writes the withdrawal, its steps with their due times, and the record of who asked for it. */
async function writePlan(
  { secrets }: SystemContext,
  sql: Sql,
  { id, userId, startedAt, reason, feedback, keeps, plan, caller, receipt }: Withdrawal,
): Promise<void> {
  await sql(insertPlan, {
    receipt,
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
    dueBy: plan.dueBy,
    steps: plan.steps.map(({ step }) => step),
    statuses: plan.steps.map(({ step }) => DELETION_STEPS[step].firstStatus),
    estimates: plan.steps.map(({ estimatedCompletion }) => estimatedCompletion),
    dueTimes: plan.steps.map(({ step, dueAt }) => (DELETION_STEPS[step].firstStatus === 'completed' ? null : dueAt)),
    legalId: secrets.randomId('lgl_'),
    auditId: secrets.randomId('aud_'),
    actor: nameOfCaller(caller),
    actorId: caller?.actor?.kind === 'service_token' ? caller.actor.id : null,
    requestedBy: caller?.requestedBy ?? null,
    ip: caller?.ip ?? null,
  })
}

/** The name of the caller in the audit. */
function nameOfCaller(caller: Withdrawal['caller']): string {
  if (!caller) return 'system'
  if (!caller.actor) return 'operator'
  return caller.actor.kind === 'service_token' ? 'service' : caller.actor.kind
}

/** As the messages about the withdrawal tell it. */
export function askerOf({ actor }: Pick<WithdrawalCaller, 'actor'>): Asker {
  if (!actor) return 'support'
  return actor.kind === 'service_token' ? 'service' : 'person'
}

const ENGINE_EVENT: EngineEventName = 'account/withdrawal.started'

const queueAll = statement(
  'queue-withdrawal-messages',
  {
    withdrawalId: text,
    userId: text,
    now: time,
    /** The id by which applications of everyone know the person. */
    sealedSubject: bytes,
    /** The steps, and when their applications are first called. */
    phases: text.of<Step>().list,
    phaseBegins: time.list,
    /** Null if nobody gets a message. */
    noticeId: text.orNull,
    locale: text.orNull,
    /** Name and address, which are erased before the message may be sent. */
    sealedRecipient: bytes.orNull,
    noticeLeaseUntil: time,
    noticeExpiresAt: time,
    /** For the other addresses that get a notice. */
    toldIds: text.list,
    toldRecipients: bytes.list,
    engineEventId: text,
    hasEngine: boolean,
  },
  {},
  (v) => sql`WITH connections AS (
     UPDATE app_connections SET disabled_at = ${v.now} WHERE user_id = ${v.userId} RETURNING id, app_id, subject
   ), notifications AS (
     INSERT INTO app_notifications (id, withdrawal_id, app_id, app_name, subject, sealed_subject, phase, acknowledges, status, due_at)
     SELECT 'msg_' || substr(${v.withdrawalId}, 4) || '_' || told.id, ${v.withdrawalId}, told.app_id, told.name, told.subject, told.sealed,
            told.phase, told.acknowledges, 'pending', phases.due_at
     FROM (
       SELECT c.id, c.app_id, c.subject, NULL::bytea AS sealed, a.name, a.phase, a.acknowledges
       FROM connections c JOIN connected_apps a ON a.id = c.app_id WHERE a.audience <> 'everyone'
       UNION ALL
       SELECT id, id, NULL, ${v.sealedSubject}, name, phase, acknowledges FROM connected_apps WHERE audience = 'everyone'
     ) told
     JOIN unnest(${v.phases}::text[], ${v.phaseBegins}::timestamptz[]) AS phases (phase, due_at) ON phases.phase = told.phase
   ), confirmation AS (
     ${queueNotice('account_withdrawal_started', {
       from: sql`(VALUES (${v.noticeId}::text)) AS notice (id) WHERE notice.id IS NOT NULL`,
       id: sql`notice.id`,
       user: v.userId,
       locale: v.locale,
       about: v.withdrawalId,
       sealed: v.sealedRecipient,
       at: v.now,
       leaseUntil: v.noticeLeaseUntil,
       expiresAt: v.noticeExpiresAt,
     })}
   ), told AS (
     ${queueNotice('account_withdrawal_told', {
       from: sql`unnest(${v.toldIds}::text[], ${v.toldRecipients}::bytea[]) AS told (id, sealed)`,
       id: sql`told.id`,
       user: v.userId,
       locale: v.locale,
       about: v.withdrawalId,
       sealed: sql`told.sealed`,
       at: v.now,
       leaseUntil: v.noticeLeaseUntil,
       expiresAt: v.noticeExpiresAt,
     })}
   )
   INSERT INTO outbox_events (id, name, data, created_at, due_at)
   SELECT ${v.engineEventId}, ${literal(ENGINE_EVENT)}, jsonb_build_object('withdrawal_id', ${v.withdrawalId}::text),
          ${v.now}, ${v.now}
   WHERE ${v.hasEngine}`,
)

/** Queues the messages to applications, the person and the engine. */
async function queueMessages(
  ctx: SystemContext,
  sql: Sql,
  account: Account,
  { id, userId, startedAt, plan, caller, told }: Withdrawal,
): Promise<void> {
  const askedBy = caller && askerOf(caller)
  const seal = (recipient: Recipient) => ctx.secrets.seal(JSON.stringify({ ...recipient, askedBy }))
  await sql(queueAll, {
    withdrawalId: id,
    userId,
    now: startedAt,
    sealedSubject: ctx.secrets.seal(account.external_id ?? userId),
    phases: plan.steps.map(({ step }) => step),
    phaseBegins: plan.steps.map(({ dueAt }) => dueAt),
    noticeId: caller?.noticeId ?? null,
    locale: account.locale,
    sealedRecipient: caller ? seal(recipientOf(account)) : null,
    noticeLeaseUntil: caller?.noticeLeaseUntil ?? startedAt,
    noticeExpiresAt: new Date(startedAt.getTime() + CONFIRMATION_LIFETIME_MS * ctx.timeScale),
    toldIds: told.map(({ noticeId }) => noticeId),
    toldRecipients: told.map(({ recipient }) => seal(recipient)),
    engineEventId: `evt_${id}`,
    hasEngine: ctx.emit !== null,
  })
}

export const recipientOf = ({ email, name }: Pick<Account, 'email' | 'name'>): Recipient => ({
  to: toDeliverable(email),
  name,
})
