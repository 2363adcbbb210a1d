import type { Step } from '@/contract/withdrawal'
import { macOfExternalId } from '../accounts/ended-external-ids'
import { addStartEvent, versionAfter } from '../applications/events'
import { addAudit } from '../audit'
import type { Actor, Transaction } from '../context'
import { CONFIRMATION_LIFETIME_MS } from '../limits/durations'
import type { LockedAccount } from '../lock-account'
import { addNotice } from '../mail/notice-queue'
import type { LedgerEntry, WithdrawalWay } from '../ports'
import { ALL_SCOPES } from '../sessions/authenticate'
import {
  boolean,
  bytes,
  closePendingChange,
  endSessions,
  endTokens,
  integer,
  RAISE_VERSION,
  sql,
  statement,
  text,
  time,
} from '../sql'
import { addOutboxEvent } from '../work/outbox'
import { writeErasureLedger } from './ledger/erasure-ledger'
import type { WithdrawalPlan } from './schedule'
import { DELETION_STEPS } from './steps/deletion-steps'
import { replacedAddressNotice, withdrawalStarted } from './withdrawal-notices'

export interface Withdrawal {
  id: string
  userId: string
  startedAt: Date
  reason: string | null
  feedback: string | null
  keeps: LedgerEntry['keeps']
  plan: WithdrawalPlan
  /** Null for a replay of the ledger, which notifies nobody and which nothing holds back. */
  caller: WithdrawalCaller | null
  /**
   * The person's own addresses that recent changes replaced. They get a notice too, because whoever took the account over could delete it
   * before its owner undoes the change.
   */
  replaced: readonly string[]
}

export interface WithdrawalCaller {
  /** Null for the operator. */
  actor: Actor | null
  /** The person who asked a service for it. */
  requestedBy: string | null
  ip: string | null
}

/** Ends the account's access and writes what its deletion needs. `tx` must hold the account's lock. */
export async function startWithdrawal(tx: Transaction, account: LockedAccount, withdrawal: Withdrawal): Promise<void> {
  const { id: withdrawalId, userId, startedAt: at, plan } = withdrawal
  await Promise.all([
    endAccess(tx, account, withdrawal),
    writePlan(tx, withdrawal),
    recordRequest(tx, withdrawal),
    addStartEvent(tx, { withdrawalId, userId, version: account.version + 1, at }),
    tx.sql(queueTasks, {
      withdrawalId,
      userId,
      now: at,
      sealedSubject: tx.secrets.seal(account.external_id ?? userId),
      phases: plan.steps.map(({ step }) => step),
      phaseBegins: plan.steps.map(({ dueAt }) => dueAt),
    }),
    withdrawal.caller && notifyPerson(tx, account, withdrawal, withdrawal.caller),
    addOutboxEvent(tx, {
      id: `evt_${withdrawalId}`,
      name: 'account/withdrawal.started',
      data: { withdrawal_id: withdrawalId },
      at,
    }),
  ])
  if (withdrawal.caller?.actor && !tx.waitsForLedger) tx.afterCommit((ctx) => writeErasureLedger(ctx))
}

// Rows are found by the user's id as a value: joined with the account, the planner would read all open rows. Issuers tell the time in
// whole seconds, so that an outside token may have ended the former account of a person who came back in the same second.
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
     ON CONFLICT (credential_hash) DO UPDATE SET withdrawal_id = excluded.withdrawal_id, user_id = excluded.user_id
   )
   ${closePendingChange('cancelled', { user: v.userId, at: v.now })}`,
)
const dropUnsentNotices = statement(
  'drop-unsent-notices',
  { userId: text, now: time },
  {},
  (v) => sql`UPDATE notices SET due_at = NULL, failed_at = ${v.now}
   WHERE user_id = ${v.userId} AND sent_at IS NULL AND failed_at IS NULL`,
)
const keepExternalId = statement(
  'keep-ended-external-id',
  { withdrawalId: text, userId: text, externalIdMac: bytes, nextVersion: integer, retainedUntil: time },
  {},
  (v) => sql`INSERT INTO ended_external_ids (withdrawal_id, user_id, external_id_mac, next_version, expires_at)
   VALUES (${v.withdrawalId}, ${v.userId}, ${v.externalIdMac}, ${v.nextVersion}, ${v.retainedUntil})`,
)

/** Ends the account's sessions and tokens and stores their hashes; closes its pending change and its unsent notices. */
async function endAccess(
  tx: Transaction,
  { external_id: externalId, version }: LockedAccount,
  { id: withdrawalId, userId, startedAt: now, caller, plan }: Withdrawal,
): Promise<void> {
  const outside = caller?.actor?.rowless
  await Promise.all([
    tx.sql(endAccountAccess, {
      userId,
      withdrawalId,
      now,
      callerId: caller?.actor?.id ?? '',
      sessionScopes: ALL_SCOPES,
      outsideHash: outside?.hash ?? null,
      outsideScopes: [...(caller?.actor?.scopes ?? [])],
      outsideExpiresAt: outside?.expiresAt ?? null,
    }),
    tx.sql(dropUnsentNotices, { userId, now }),
    externalId !== null &&
      tx.sql(keepExternalId, {
        withdrawalId,
        userId,
        externalIdMac: macOfExternalId(tx, externalId),
        nextVersion: versionAfter(version + 1),
        retainedUntil: plan.purgeDueAt,
      }),
  ])
}

const insertWithdrawal = statement(
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
  },
  {},
  (v) => sql`INSERT INTO withdrawals (id, user_id, reason, feedback, keep_analytics, keep_audit_logs,
                            keep_transaction_history, started_at, scheduled_completion, purge_due_at, due_by)
   VALUES (${v.withdrawalId}, ${v.userId}, ${v.reason}, ${v.feedback}, ${v.keepAnalytics}, ${v.keepAuditLogs},
           ${v.keepTransactionHistory}, ${v.now}, ${v.scheduledCompletion}, ${v.purgeDueAt}, ${v.dueBy})`,
)
const insertSteps = statement(
  'plan-deletion-steps',
  {
    withdrawalId: text,
    now: time,
    steps: text.of<Step>().list,
    statuses: text.list,
    estimates: time.list,
    /** Null if the request itself completes the step. */
    dueTimes: time.orNull.list,
  },
  {},
  (v) => sql`INSERT INTO deletion_steps (withdrawal_id, step, status, estimated_completion, due_at, completed_at,
                               is_counted)
   SELECT ${v.withdrawalId}, s.step, s.status, s.estimate, s.due, CASE WHEN s.due IS NULL THEN ${v.now}::timestamptz END,
          s.due IS NULL
   FROM unnest(${v.steps}::text[], ${v.statuses}::text[], ${v.estimates}::timestamptz[], ${v.dueTimes}::timestamptz[])
     AS s (step, status, estimate, due)`,
)

/** Writes the withdrawal, and its steps with their due times. */
async function writePlan(
  tx: Transaction,
  { id: withdrawalId, userId, startedAt: now, reason, feedback, keeps, plan }: Withdrawal,
): Promise<void> {
  const { steps, scheduledCompletion, purgeDueAt, dueBy } = plan
  await Promise.all([
    tx.sql(insertWithdrawal, {
      withdrawalId,
      userId,
      now,
      reason,
      feedback,
      keepAnalytics: keeps.analytics,
      keepAuditLogs: keeps.auditLogs,
      keepTransactionHistory: keeps.transactionHistory,
      scheduledCompletion,
      purgeDueAt,
      dueBy,
    }),
    tx.sql(insertSteps, {
      withdrawalId,
      now,
      steps: steps.map(({ step }) => step),
      statuses: steps.map(({ step }) => DELETION_STEPS[step].firstStatus),
      estimates: steps.map(({ estimatedCompletion }) => estimatedCompletion),
      dueTimes: steps.map(({ step, dueAt }) => (DELETION_STEPS[step].firstStatus === 'completed' ? null : dueAt)),
    }),
  ])
}

const insertLegalRecord = statement(
  'record-withdrawal-request',
  { id: text, userId: text, withdrawalId: text, now: time },
  {},
  (v) => sql`INSERT INTO legal_records (id, user_id, kind, details, at)
   VALUES (${v.id}, ${v.userId}, 'withdrawal_requested', ${v.withdrawalId}, ${v.now})`,
)

/** Writes the records of who asked for the withdrawal. */
async function recordRequest(
  tx: Transaction,
  { id: withdrawalId, userId, startedAt: now, caller }: Withdrawal,
): Promise<void> {
  await Promise.all([
    tx.sql(insertLegalRecord, { id: tx.secrets.randomId('lgl_'), userId, withdrawalId, now }),
    addAudit(tx, 'account.withdrawn', {
      userId,
      actor: nameOfCaller(caller),
      requestedBy: caller?.requestedBy ?? null,
      subject: withdrawalId,
      ip: caller?.ip ?? null,
      at: now,
    }),
  ])
}

/** The name of the caller in the audit. */
function nameOfCaller(caller: Withdrawal['caller']): string {
  if (!caller) return 'system'
  if (!caller.actor) return 'operator'
  return caller.actor.kind === 'service_token' ? 'service' : caller.actor.kind
}

/** How each kind of caller asks, as its mails say. The other kinds begin no withdrawal. */
const WAYS: Partial<Record<Actor['kind'], WithdrawalWay>> = {
  session: 'settings',
  page_token: 'settings',
  access_token: 'program',
  outside_token: 'program',
  mailed_link: 'mail',
  service_token: 'service',
}

const wayOf = ({ actor }: Pick<WithdrawalCaller, 'actor'>): WithdrawalWay =>
  actor ? (WAYS[actor.kind] ?? 'person') : 'support'

// The messages to applications, which ask for a deletion.
const queueTasks = statement(
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
  },
  {},
  (v) => sql`WITH connections AS (
     UPDATE app_connections SET disabled_at = ${v.now} WHERE user_id = ${v.userId} RETURNING id, app_id, subject
   )
   INSERT INTO deletion_tasks (id, withdrawal_id, app_id, app_name, subject, sealed_subject, phase, acknowledges, confirms, status,
     due_at)
   SELECT 'msg_' || substr(${v.withdrawalId}, 4) || '_' || app.id, ${v.withdrawalId}, app.app_id, app.name, app.subject, app.sealed,
          app.phase, app.acknowledges, app.confirms, 'pending', phases.due_at
   FROM (
     SELECT c.id, c.app_id, c.subject, NULL::bytea AS sealed, a.name, a.phase, a.acknowledges, a.confirms
     FROM connections c JOIN connected_apps a ON a.id = c.app_id WHERE a.audience <> 'everyone'
     UNION ALL
     SELECT id, id, NULL, ${v.sealedSubject}, name, phase, acknowledges, confirms FROM connected_apps WHERE audience = 'everyone'
   ) app
   JOIN unnest(${v.phases}::text[], ${v.phaseBegins}::timestamptz[]) AS phases (phase, due_at) ON phases.phase = app.phase`,
)

/** Writes to the account's address, and to each one that a recent change replaced. */
async function notifyPerson(
  tx: Transaction,
  { email, name, locale }: LockedAccount,
  { id: withdrawalId, userId, startedAt: at, keeps, plan, replaced }: Withdrawal,
  caller: WithdrawalCaller,
): Promise<void> {
  const expiresAt = new Date(at.getTime() + CONFIRMATION_LIFETIME_MS * tx.timeScale)
  const { scheduledCompletion, purgeDueAt } = plan
  const facts = {
    ...{ withdrawalId, startedAt: at, scheduledCompletion, keeps, purgeDueAt },
    ...{ way: wayOf(caller), expiresAt },
  }
  const letter = (notice: typeof withdrawalStarted, address: string) =>
    addNotice(
      tx,
      notice,
      { userId, locale, recipients: ['sealed'], at, isSentBySweep: caller.actor === null },
      { ...facts, recipient: { to: address, name } },
    )
  await Promise.all([
    letter(withdrawalStarted, email),
    ...replaced.map((address) => letter(replacedAddressNotice, address)),
  ])
}
