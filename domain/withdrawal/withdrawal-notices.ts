import type { SystemContext } from '../context'
import { defineNotice, type NoticeRow } from '../mail/define-notice'
import type { KeptData, LedgerEntry, WithdrawalWay } from '../ports'
import { openSealed } from '../sealed'
import { boolean, sql, statement, text, time } from '../sql'
import { acceptanceForMail } from './ledger/ledger-before-answer'
import { retentionDays } from './schedule'
import { createStatusToken } from './status-token'

/** So many tries wait for the acceptance, about twenty minutes; the next one goes without the file. */
const MAX_TRIES_WITH_RECEIPT = 3

/** The recipient of a letter, sealed in its row. */
export interface Recipient {
  to: string
  name: string
}

interface WithdrawalFacts {
  withdrawalId: string
  startedAt: Date
  scheduledCompletion: Date
  keeps: LedgerEntry['keeps']
  purgeDueAt: Date
  way: WithdrawalWay
  /** Encrypted in the row with `way`, because the account is being erased. */
  recipient: Recipient
  expiresAt: Date | null
  receipt?: string
}

const ABOUT_WITHDRAWAL = {
  keep: ({ withdrawalId, way, recipient, expiresAt }: WithdrawalFacts) => ({
    withdrawalId,
    // An instance of the last release knows `askedBy` alone, and fewer of its values.
    sealed: {
      ...recipient,
      way,
      askedBy: way === 'service' || way === 'support' ? way : 'person',
    },
    ...(expiresAt && { expiresAt }),
  }),
  recipients: { sealed: ({ recipient }: WithdrawalFacts) => recipient.to },
  read: readWithdrawal,
}

/** What both letters say. */
const factsOfBoth = (
  { limits }: Pick<SystemContext, 'limits'>,
  { way, recipient, startedAt, scheduledCompletion, keeps, purgeDueAt }: WithdrawalFacts,
) => ({
  way,
  userName: recipient.name,
  requestedAt: startedAt,
  scheduledCompletion,
  kept: {
    chosen: [
      ...(keeps.analytics ? (['analytics'] as const) : []),
      ...(keeps.auditLogs ? (['audit_logs'] as const) : []),
      ...(keeps.transactionHistory ? (['transaction_history'] as const) : []),
    ],
    days: retentionDays(limits.withdrawalRetentionMs),
    until: purgeDueAt,
  } satisfies KeptData,
})

export const withdrawalStarted = defineNotice<WithdrawalFacts, 'sealed'>({
  name: 'account_withdrawal_started',
  ...ABOUT_WITHDRAWAL,
  async complete(ctx, facts, attempts) {
    const receipt = await acceptanceForMail(ctx, facts.withdrawalId, attempts)
    if (receipt) return { ...facts, receipt }
    return attempts > MAX_TRIES_WITH_RECEIPT ? facts : null
  },
  message: (ctx, facts) => ({
    template: 'account-withdrawal-started',
    ...factsOfBoth(ctx, facts),
    progressUrl: `${ctx.appUrl}/withdrawal/${facts.withdrawalId}#token=${createStatusToken(ctx, facts.withdrawalId)}`,
    receipt: facts.receipt ?? null,
  }),
})

/** To an address that a recent change replaced. */
export const replacedAddressNotice = defineNotice<WithdrawalFacts, 'sealed'>({
  name: 'account_withdrawal_told',
  ...ABOUT_WITHDRAWAL,
  message: (ctx, facts) => ({ template: 'account-withdrawal-told', ...factsOfBoth(ctx, facts) }),
})

const withdrawalOfNotice = statement(
  'withdrawal-of-notice',
  { withdrawalId: text },
  {
    started_at: time,
    scheduled_completion: time,
    purge_due_at: time,
    keep_analytics: boolean,
    keep_audit_logs: boolean,
    keep_transaction_history: boolean,
  },
  (v) => sql`SELECT started_at, scheduled_completion, purge_due_at, keep_analytics, keep_audit_logs,
     keep_transaction_history
   FROM withdrawals WHERE id = ${v.withdrawalId}`,
)

async function readWithdrawal(
  ctx: SystemContext,
  { withdrawal_id: withdrawalId, sealed, expires_at: expiresAt }: NoticeRow,
): Promise<WithdrawalFacts | null> {
  const opened = openSealed<Recipient & { askedBy?: WithdrawalWay; way?: WithdrawalWay }>(ctx, sealed)
  const [withdrawal] = withdrawalId ? await ctx.sql(withdrawalOfNotice, { withdrawalId }) : []
  if (!withdrawalId || !opened || !withdrawal) return null
  const { askedBy = 'person', way = askedBy, ...recipient } = opened
  return {
    withdrawalId,
    startedAt: withdrawal.started_at,
    scheduledCompletion: withdrawal.scheduled_completion,
    keeps: {
      analytics: withdrawal.keep_analytics,
      auditLogs: withdrawal.keep_audit_logs,
      transactionHistory: withdrawal.keep_transaction_history,
    },
    purgeDueAt: withdrawal.purge_due_at,
    way,
    recipient,
    expiresAt,
  }
}
