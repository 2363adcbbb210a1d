import type { SystemContext } from '../context'
import { defineNotice, type NoticeRow } from '../mail/define-notice'
import type { RequestedBy } from '../ports'
import { openSealed } from '../sealed'
import { sql, statement, text, time } from '../sql'
import { retentionDays } from './schedule'
import { createStatusToken } from './status-token'

/** The recipient of a letter, sealed in its row. */
export interface Recipient {
  to: string
  name: string
}

interface WithdrawalFacts {
  withdrawalId: string
  scheduledCompletion: Date
  askedBy: RequestedBy
  /** Encrypted in the row with `askedBy`, because the account is being erased. */
  recipient: Recipient
  expiresAt: Date | null
}

const ABOUT_WITHDRAWAL = {
  keep: ({ withdrawalId, askedBy, recipient, expiresAt }: WithdrawalFacts) => ({
    withdrawalId,
    sealed: { ...recipient, askedBy },
    ...(expiresAt && { expiresAt }),
  }),
  recipients: { sealed: ({ recipient }: WithdrawalFacts) => recipient.to },
  read: readWithdrawal,
}

export const withdrawalStarted = defineNotice<WithdrawalFacts, 'sealed'>({
  name: 'account_withdrawal_started',
  ...ABOUT_WITHDRAWAL,
  message: (ctx, { withdrawalId, scheduledCompletion, askedBy, recipient }) => ({
    template: 'account-withdrawal-started',
    askedBy,
    userName: recipient.name,
    progressUrl: `${ctx.appUrl}/withdrawal/${withdrawalId}#token=${createStatusToken(ctx, withdrawalId)}`,
    scheduledCompletion,
    retentionDays: retentionDays(ctx.limits.withdrawalRetentionMs),
  }),
})

/** To an address that a recent change replaced. */
export const withdrawalTold = defineNotice<WithdrawalFacts, 'sealed'>({
  name: 'account_withdrawal_told',
  ...ABOUT_WITHDRAWAL,
  message: (ctx, { scheduledCompletion, askedBy, recipient }) => ({
    template: 'account-withdrawal-told',
    askedBy,
    userName: recipient.name,
    scheduledCompletion,
    retentionDays: retentionDays(ctx.limits.withdrawalRetentionMs),
  }),
})

const withdrawalOfNotice = statement(
  'withdrawal-of-notice',
  { withdrawalId: text },
  { scheduled_completion: time },
  (v) => sql`SELECT scheduled_completion FROM withdrawals WHERE id = ${v.withdrawalId}`,
)

async function readWithdrawal(
  ctx: SystemContext,
  { withdrawal_id: withdrawalId, sealed, expires_at: expiresAt }: NoticeRow,
): Promise<WithdrawalFacts | null> {
  const opened = openSealed<Recipient & { askedBy?: RequestedBy }>(ctx, sealed)
  const [withdrawal] = withdrawalId ? await ctx.sql(withdrawalOfNotice, { withdrawalId }) : []
  if (!withdrawalId || !opened || !withdrawal) return null
  // A row of the last release does not say who asked.
  const { askedBy = 'person', ...recipient } = opened
  return { withdrawalId, scheduledCompletion: withdrawal.scheduled_completion, askedBy, recipient, expiresAt }
}
