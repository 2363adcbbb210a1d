import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { withdrawAccount as contract, Step } from '@/contract/withdrawal'
import { ALL_SCOPES, requireFreshSignIn } from '../access/authenticate'
import { type Actor, type Context, type LedgerEntry, type Sql, type SystemContext, statement } from '../context'
import { beginDueDeliveries, WITHDRAWAL_STARTED } from '../events'
import { leaseUntil, sendFirst, toDeliverable, toWithdrawalLetter } from '../notices'
import { sendOutboxEvents } from '../outbox'
import {
  type AskedPlaces,
  judgePlaces,
  type PlaceRow,
  placeValues,
  TAKE_PLACES,
  takePlaces,
  userBucket,
} from '../rate-limit'
import { writeErasureLedger } from './erasure-ledger'
import { CONFIRMATION_LIFETIME_MS, type PlannedStep, planWithdrawal, retentionDays } from './schedule'
import { createStatusToken } from './status-token'

const lockAccount = statement(
  'lock-account',
  'SELECT name, email, version FROM users WHERE id = $1 AND withdrawn_at IS NULL FOR UPDATE',
)
const countPending = statement(
  'count-pending-transactions',
  `SELECT count(*)::int AS pending FROM transactions WHERE user_id = $1 AND status = 'pending'`,
)

// One statement: the account is off, and everything that will take it apart is written, or none of it.
// What others have written for the account after this statement began is not seen by it. They raise the version, which is looked
// at once more when the row is locked: then nothing is started, and the caller looks again.
// Rows are found by $6 and not by joining with the account, which may read all that is open.
const startWithdrawal = statement(
  'start-withdrawal',
  `WITH places AS (${TAKE_PLACES}), account AS (
     SELECT u.id, u.version FROM users u
     WHERE u.id = $6 AND u.withdrawn_at IS NULL AND u.version = $7
       AND NOT EXISTS (SELECT FROM places WHERE NOT granted)
       AND ($35 OR NOT EXISTS (SELECT FROM transactions t WHERE t.user_id = $6 AND t.status = 'pending'))
     FOR UPDATE OF u
   ), withdrawal AS (
     INSERT INTO withdrawals (id, user_id, reason, feedback, keep_analytics, keep_audit_logs, keep_transaction_history,
                              started_at, scheduled_completion, purge_due_at)
     SELECT $8, id, $9, $10, $11, $12, $13, $1, $14, $15 FROM account
   ), steps AS (
     INSERT INTO deletion_steps (withdrawal_id, step, status, estimated_completion, due_at, completed_at)
     SELECT $8, s.step, s.status, s.estimate, s.due, CASE WHEN s.status = 'completed' THEN $1::timestamptz END
     FROM account, unnest($16::text[], $17::text[], $18::timestamptz[], $19::timestamptz[]) AS s (step, status, estimate, due)
   ), withdrawn AS (
     UPDATE users u SET withdrawn_at = $1, email_key = NULL, version = u.version + 1 FROM account WHERE u.id = $6
   ), ended_tokens AS (
     UPDATE access_tokens t SET revoked_at = $1 FROM account
     WHERE t.user_id = $6 AND t.revoked_at IS NULL AND t.expires_at > $1
     RETURNING t.token_hash AS hash, t.scopes, t.id, t.expires_at
   ), ended_sessions AS (
     UPDATE sessions s SET revoked_at = $1 FROM account
     WHERE s.user_id = $6 AND s.revoked_at IS NULL AND s.expires_at > $1
     RETURNING sha256(convert_to(s.id, 'UTF8')) AS hash, $20::text[] AS scopes, s.id, s.expires_at
   ), ended AS (
     INSERT INTO ended_credentials (credential_hash, withdrawal_id, user_id, scopes, made_the_call, expires_at)
     SELECT hash, $8, $6, scopes, id = $21, expires_at FROM ended_tokens
     UNION ALL SELECT hash, $8, $6, scopes, id = $21, expires_at FROM ended_sessions
     UNION ALL SELECT $31::bytea, $8, $6, $32::text[], true, $33::timestamptz FROM account WHERE $31::bytea IS NOT NULL
   ), changes AS (
     UPDATE email_change_requests r SET status = 'cancelled', closed_at = $1 FROM account
     WHERE r.user_id = $6 AND r.status = 'pending_verification'
   ), unsent AS (
     UPDATE notices n SET due_at = NULL, failed_at = $1 FROM account
     WHERE n.user_id = $6 AND n.sent_at IS NULL AND n.failed_at IS NULL
   ), connections AS (
     UPDATE app_connections c SET disabled_at = $1 FROM account WHERE c.user_id = $6
     RETURNING c.id, c.app_id, c.subject
   ), notifications AS (
     INSERT INTO app_notifications (id, withdrawal_id, app_id, app_name, subject, status, due_at)
     SELECT 'msg_' || substr($8, 4) || '_' || c.id, $8, c.app_id, a.name, c.subject, 'pending', $22::timestamptz
     FROM connections c JOIN connected_apps a ON a.id = c.app_id
   ), announced AS (
     INSERT INTO events (id, type, withdrawal_id, data, version, occurred_at)
     SELECT $37, '${WITHDRAWAL_STARTED}', $8, jsonb_build_object('withdrawal_id', $8::text), version + 1, $1 FROM account
   ), deliveries AS (
     INSERT INTO event_deliveries (id, event_id, app_id, subject, status, due_at)
     SELECT 'dlv_' || substr($37, 5) || '_' || a.id, $37, a.id, c.subject, 'pending', $1
     FROM connections c JOIN connected_apps a ON a.id = c.app_id WHERE '${WITHDRAWAL_STARTED}' = ANY(a.events)
   ), confirmation AS (
     INSERT INTO notices (id, user_id, kind, withdrawal_id, sealed, created_at, due_at, expires_at, attempts)
     SELECT $23::text, id, 'account_withdrawal_started', $8, $24::bytea, $1, $34::timestamptz, $25::timestamptz, 1
     FROM account WHERE $23::text IS NOT NULL
   ), event AS (
     INSERT INTO outbox_events (id, name, data, created_at, due_at)
     SELECT $26, 'account/withdrawal.started', jsonb_build_object('withdrawal_id', $8::text), $1, $1 FROM account WHERE $36
   ), legal AS (
     INSERT INTO legal_records (id, user_id, kind, details, at)
     SELECT $27, id, 'withdrawal_requested', $8, $1 FROM account
   ), audited AS (
     INSERT INTO audit_events (id, user_id, action, actor, subject_id, ip, at)
     SELECT $28, id, 'account.withdrawn', $29, $8, $30, $1 FROM account
   )
   SELECT places.key, places.hits, places.granted, account.id AS started
   FROM (SELECT) AS always LEFT JOIN places ON true LEFT JOIN account ON true`,
)

interface Account {
  name: string
  email: string
  version: number
}

interface Withdrawal {
  id: string
  userId: string
  startedAt: Date
  reason: string | null
  feedback: string | null
  keeps: LedgerEntry['keeps']
  /** Who asked, and from where; null where nobody is to be told, and nothing holds it back. */
  caller: { actor: Actor; ip: string; noticeId: string } | null
}

type Plan = ReturnType<typeof planWithdrawal>
/** `started` is null where the account is not, or no longer, as it was thought to be. */
type StartedRow = PlaceRow & { started: string | null }

function start(
  ctx: SystemContext,
  sql: Sql,
  account: Account,
  withdrawal: Withdrawal,
  plan: Plan,
  asked: AskedPlaces = { take: [], code: 'RATE_001' },
): Promise<StartedRow[]> {
  const { id, userId, startedAt, keeps, caller } = withdrawal
  const statuses = plan.steps.map(({ step }) => FIRST_STATUS[step])
  return sql<StartedRow>(startWithdrawal, [
    ...placeValues(asked, startedAt),
    userId,
    account.version,
    id,
    withdrawal.reason,
    withdrawal.feedback,
    keeps.analytics,
    keeps.auditLogs,
    keeps.transactionHistory,
    plan.scheduledCompletion,
    plan.purgeDueAt,
    plan.steps.map(({ step }) => step),
    statuses,
    plan.steps.map(({ estimatedCompletion }) => estimatedCompletion),
    plan.steps.map(({ dueAt }, index) => (statuses[index] === 'completed' ? null : dueAt)),
    ALL_SCOPES,
    caller?.actor.id ?? '',
    plan.steps.find(({ step }) => step === 'third_party_integrations')?.dueAt,
    caller?.noticeId ?? null,
    caller ? ctx.secrets.seal(JSON.stringify(recipientOf(account))) : null,
    new Date(startedAt.getTime() + CONFIRMATION_LIFETIME_MS * ctx.timeScale),
    `evt_${id}`,
    ctx.secrets.randomId('lgl_'),
    ctx.secrets.randomId('aud_'),
    caller?.actor.kind ?? 'system',
    caller?.ip ?? null,
    caller?.actor.outsideToken?.hash ?? null,
    caller?.actor.scopes ?? [],
    caller?.actor.outsideToken?.expiresAt ?? null,
    leaseUntil(startedAt),
    caller === null,
    ctx.emit !== null,
    `evt_${id.slice('wd_'.length)}`,
  ])
}

/** What could not be started at once is looked at under a lock: it is started, or it is told what stands in the way. */
function startLocked(
  ctx: SystemContext,
  withdrawal: Withdrawal,
  plan: Plan,
  keep: (sql: Sql) => Promise<void> | undefined,
): Promise<Account> {
  const { userId } = withdrawal
  return ctx.transaction(async (sql) => {
    const [account] = await sql<Account>(lockAccount, [userId])
    if (!account) throw new AppError('WITHDRAWAL_002')
    const [{ pending } = { pending: 0 }] = await sql<{ pending: number }>(countPending, [userId])
    if (pending > 0) throw new AppError('WITHDRAWAL_003', pendingDetails(pending))
    const [row] = await start(ctx, sql, account, withdrawal, plan)
    if (!row?.started) throw new Error('a locked account without pending transactions was not withdrawn')
    await keep(sql)
    return account
  })
}

export async function withdrawAccount(ctx: Context, input: Input<typeof contract>): Promise<Data<typeof contract>> {
  const { actor, ip } = ctx
  const { userId, user } = actor
  const asked: AskedPlaces = { take: [userBucket(ctx, 'withdraw', userId)], code: 'RATE_001' }
  if (actor.withdrawal) {
    await takePlaces(ctx, asked)
    throw new AppError('WITHDRAWAL_002')
  }
  requireFreshSignIn(ctx)
  const startedAt = ctx.clock.now()
  const id = ctx.secrets.randomId('wd_')
  const noticeId = ctx.secrets.randomId('ntc_')
  const {
    analytics = false,
    audit_logs: auditLogs = false,
    transaction_history: transactionHistory = false,
  } = input.data_retention ?? {}
  const withdrawal: Withdrawal = {
    id,
    userId,
    startedAt,
    reason: input.reason ?? null,
    feedback: input.feedback ?? null,
    keeps: { analytics, auditLogs, transactionHistory },
    caller: { actor, ip, noticeId },
  }
  const plan = planOf(ctx, startedAt)
  const { scheduledCompletion } = plan
  const data = {
    withdrawal_id: id,
    status: 'processing' as const,
    scheduled_completion: scheduledCompletion.toISOString(),
    data_retention_period: retentionDays(ctx.limits.withdrawalRetentionMs),
    deletion_steps: plan.steps.map((step) => describeFirst(step, startedAt)),
    status_token: createStatusToken(ctx, id),
  }
  const keep = (sql: Sql) => ctx.keepAnswer?.(sql, data)
  const startAndKeep = async (sql: Sql) => {
    const rows = await start(ctx, sql, user, withdrawal, plan, asked)
    if (rows[0]?.started) await keep(sql)
    return rows
  }
  // Without an answer to keep the statement is a transaction by itself.
  const rows = await (ctx.keepAnswer ? ctx.transaction(startAndKeep) : startAndKeep(ctx.sql))
  await judgePlaces(ctx, asked, rows, startedAt)
  const account = rows[0]?.started ? user : await startLocked(ctx, withdrawal, plan, keep)

  sendFirst(ctx, { id: noticeId, userId }, toWithdrawalLetter(ctx, recipientOf(account), { id, scheduledCompletion }))
  if (ctx.emit) ctx.background(() => sendOutboxEvents(ctx))
  ctx.background(() => writeErasureLedger(ctx))
  ctx.background(() => beginDueDeliveries(ctx))
  return data
}

/** After a restored backup brought a person back: the same withdrawal once more, its steps overdue. False if they are gone already. */
export function withdrawAgain(ctx: SystemContext, userId: string, entry: LedgerEntry): Promise<boolean> {
  return ctx.transaction(async (sql) => {
    const [account] = await sql<Account>(lockAccount, [userId])
    if (!account) return false
    const { withdrawalId: id, keeps } = entry
    const startedAt = new Date(entry.startedAt)
    const withdrawal = { id, userId, startedAt, reason: null, feedback: null, keeps, caller: null }
    await start(ctx, sql, account, withdrawal, planOf(ctx, startedAt))
    return true
  })
}

const planOf = (ctx: SystemContext, startedAt: Date): Plan =>
  planWithdrawal(startedAt, { timeScale: ctx.timeScale, retentionMs: ctx.limits.withdrawalRetentionMs })

const recipientOf = ({ email, name }: Account) => ({ to: toDeliverable(email), name })

/** The first step is done by the request itself; the second counts as begun. */
const FIRST_STATUS = {
  session_revocation: 'completed',
  user_profile: 'processing',
  third_party_integrations: 'pending',
  data_archives: 'pending',
} as const satisfies Record<Step, string>

const describeFirst = ({ step, estimatedCompletion }: PlannedStep, now: Date) =>
  FIRST_STATUS[step] === 'completed'
    ? { step, status: FIRST_STATUS[step], completed_at: now.toISOString() }
    : { step, status: FIRST_STATUS[step], estimated_completion: estimatedCompletion.toISOString() }

const pendingDetails = (pending: number) =>
  `${pending} pending ${pending === 1 ? 'transaction' : 'transactions'}. Settle or cancel ${pending === 1 ? 'it' : 'them'} first.`
