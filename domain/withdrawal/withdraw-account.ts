import { parseAddress } from '@/contract/address'
import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { withdrawAccount as contract, Step } from '@/contract/withdrawal'
import { ALL_SCOPES } from '../access/authenticate'
import { type Actor, type Context, type LedgerEntry, type Sql, type SystemContext, statement } from '../context'
import { sendNotice } from '../notices'
import { sendOutboxEvents } from '../outbox'
import { writeErasureLedger } from './erasure-ledger'
import { CONFIRMATION_LIFETIME_MS, type PlannedStep, planWithdrawal, retentionDays } from './schedule'
import { createStatusToken } from './status-token'

const lockAccount = statement(
  'lock-account',
  'SELECT name, email FROM users WHERE id = $1 AND withdrawn_at IS NULL FOR UPDATE',
)
const countPending = statement(
  'count-pending-transactions',
  `SELECT count(*)::int AS pending FROM transactions WHERE user_id = $1 AND status = 'pending'`,
)

// One statement: the account is off, and everything that will take it apart is written, or none of it.
const startWithdrawal = statement(
  'start-withdrawal',
  `WITH withdrawal AS (
     INSERT INTO withdrawals (id, user_id, reason, feedback, keep_analytics, keep_audit_logs, keep_transaction_history,
                              started_at, scheduled_completion, purge_due_at)
     VALUES ($2, $1, $4, $5, $6, $7, $8, $3, $9, $10)
   ), steps AS (
     INSERT INTO deletion_steps (withdrawal_id, step, status, estimated_completion, due_at, completed_at)
     SELECT $2, s.step, s.status, s.estimate, s.due, CASE WHEN s.status = 'completed' THEN $3::timestamptz END
     FROM unnest($11::text[], $12::text[], $13::timestamptz[], $14::timestamptz[]) AS s (step, status, estimate, due)
   ), account AS (
     UPDATE users SET withdrawn_at = $3, email_key = NULL WHERE id = $1
   ), ended_tokens AS (
     UPDATE access_tokens SET revoked_at = $3 WHERE user_id = $1 AND revoked_at IS NULL AND expires_at > $3
     RETURNING token_hash AS hash, scopes, id, expires_at
   ), ended_sessions AS (
     UPDATE sessions SET revoked_at = $3 WHERE user_id = $1 AND revoked_at IS NULL AND expires_at > $3
     RETURNING sha256(convert_to(id, 'UTF8')) AS hash, $15::text[] AS scopes, id, expires_at
   ), ended AS (
     INSERT INTO ended_credentials (credential_hash, withdrawal_id, user_id, scopes, made_the_call, expires_at)
     SELECT hash, $2, $1, scopes, id = $16, expires_at FROM ended_tokens
     UNION ALL SELECT hash, $2, $1, scopes, id = $16, expires_at FROM ended_sessions
     UNION ALL SELECT $26::bytea, $2, $1, $27::text[], true, $28::timestamptz WHERE $26::bytea IS NOT NULL
   ), changes AS (
     UPDATE email_change_requests SET status = 'cancelled', closed_at = $3
     WHERE user_id = $1 AND status = 'pending_verification'
   ), unsent AS (
     UPDATE notices SET due_at = NULL, failed_at = $3 WHERE user_id = $1 AND due_at IS NOT NULL
   ), connections AS (
     UPDATE app_connections SET disabled_at = $3 WHERE user_id = $1 RETURNING id, app_id, subject
   ), notifications AS (
     INSERT INTO app_notifications (id, withdrawal_id, app_id, app_name, subject, status, due_at)
     SELECT 'msg_' || substr($2, 4) || '_' || c.id, $2, c.app_id, a.name, c.subject, 'pending', $17::timestamptz
     FROM connections c JOIN connected_apps a ON a.id = c.app_id
   ), confirmation AS (
     INSERT INTO notices (id, user_id, kind, withdrawal_id, sealed, created_at, due_at, expires_at)
     SELECT $18::text, $1, 'account_withdrawal_started', $2, $19::bytea, $3, $3, $20::timestamptz WHERE $18::text IS NOT NULL
   ), event AS (
     INSERT INTO outbox_events (id, name, data, created_at, due_at)
     VALUES ($21, 'account/withdrawal.started', jsonb_build_object('withdrawal_id', $2::text), $3, $3)
   ), legal AS (
     INSERT INTO legal_records (id, user_id, kind, details, at) VALUES ($22, $1, 'withdrawal_requested', $2, $3)
   )
   INSERT INTO audit_events (id, user_id, action, actor, subject_id, ip, at)
   VALUES ($23, $1, 'account.withdrawn', $24, $2, $25, $3)`,
)

interface Withdrawal {
  id: string
  userId: string
  startedAt: Date
  reason: string | null
  feedback: string | null
  keeps: LedgerEntry['keeps']
  /** Who asked, and from where; null where nobody is to be told. */
  caller: { actor: Actor; ip: string; noticeId: string } | null
}

/** The account is locked by `sql`'s transaction. */
async function start(ctx: SystemContext, sql: Sql, account: { name: string; email: string }, withdrawal: Withdrawal) {
  const { id, userId, startedAt, keeps, caller } = withdrawal
  const plan = planWithdrawal(startedAt, { timeScale: ctx.timeScale, retentionMs: ctx.limits.withdrawalRetentionMs })
  const statuses = plan.steps.map(({ step }) => FIRST_STATUS[step])
  const letter = { to: parseAddress(account.email)?.deliverable, name: account.name }
  await sql(startWithdrawal, [
    userId,
    id,
    startedAt,
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
    caller ? ctx.secrets.seal(JSON.stringify(letter)) : null,
    new Date(startedAt.getTime() + CONFIRMATION_LIFETIME_MS * ctx.timeScale),
    `evt_${id}`,
    ctx.secrets.randomId('lgl_'),
    ctx.secrets.randomId('aud_'),
    caller?.actor.kind ?? 'system',
    caller?.ip ?? null,
    caller?.actor.outsideToken?.hash ?? null,
    caller?.actor.scopes ?? [],
    caller?.actor.outsideToken?.expiresAt ?? null,
  ])
  return plan
}

export async function withdrawAccount(ctx: Context, input: Input<typeof contract>): Promise<Data<typeof contract>> {
  const { actor, ip } = ctx
  if (actor.withdrawal) throw new AppError('WITHDRAWAL_002')
  const { userId } = actor
  const startedAt = ctx.clock.now()
  const id = ctx.secrets.randomId('wd_')
  const noticeId = ctx.secrets.randomId('ntc_')
  const {
    analytics = false,
    audit_logs: auditLogs = false,
    transaction_history: transactionHistory = false,
  } = input.data_retention ?? {}

  const plan = await ctx.transaction(async (sql) => {
    const [account] = await sql<{ name: string; email: string }>(lockAccount, [userId])
    if (!account) throw new AppError('WITHDRAWAL_002')
    // Counted under the lock: a transaction is added only while the same row is locked against withdrawal.
    const [{ pending } = { pending: 0 }] = await sql<{ pending: number }>(countPending, [userId])
    if (pending > 0) throw new AppError('WITHDRAWAL_003', pendingDetails(pending))
    return start(ctx, sql, account, {
      id,
      userId,
      startedAt,
      reason: input.reason ?? null,
      feedback: input.feedback ?? null,
      keeps: { analytics, auditLogs, transactionHistory },
      caller: { actor, ip, noticeId },
    })
  })

  ctx.background(() => sendNotice(ctx, noticeId))
  ctx.background(() => sendOutboxEvents(ctx))
  ctx.background(() => writeErasureLedger(ctx))
  return {
    withdrawal_id: id,
    status: 'processing',
    scheduled_completion: plan.scheduledCompletion.toISOString(),
    data_retention_period: retentionDays(ctx.limits.withdrawalRetentionMs),
    deletion_steps: plan.steps.map((step) => describeFirst(step, startedAt)),
    status_token: createStatusToken(ctx, id),
  }
}

/** After a restored backup brought a person back: the same withdrawal once more, its steps overdue. False if they are gone already. */
export function withdrawAgain(ctx: SystemContext, userId: string, entry: LedgerEntry): Promise<boolean> {
  return ctx.transaction(async (sql) => {
    const [account] = await sql<{ name: string; email: string }>(lockAccount, [userId])
    if (!account) return false
    const { withdrawalId: id, keeps } = entry
    const startedAt = new Date(entry.startedAt)
    await start(ctx, sql, account, { id, userId, startedAt, reason: null, feedback: null, keeps, caller: null })
    return true
  })
}

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
