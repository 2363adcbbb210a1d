import { maskAddress, parseAddress } from '@/contract/address'
import { type Message, type SystemContext, statement } from './context'
import { retentionDays } from './withdrawal/schedule'
import { createStatusToken } from './withdrawal/status-token'

const minute = 60_000
/** The wait after each try; the last one repeats until the tries are used. */
const BACKOFF_MS = [minute, 5 * minute, 15 * minute, 60 * minute, 6 * 60 * minute, 24 * 60 * minute]
/** Two months of daily tries: an address that never works does not stay in the queue for ever. */
const MOST_TRIES = 65
/** Longer than a mail server may take. */
const LEASE_MS = 20_000

// Moving `due_at` on is the claim: a second sender finds nothing due, and a sender that dies leaves the next try behind.
const claim = statement(
  'claim-notice',
  `UPDATE notices SET attempts = attempts + 1, due_at = $3
   WHERE id = $1 AND due_at <= $2 AND (expires_at IS NULL OR expires_at > $2)
   RETURNING user_id, kind, recipient, change_request_id, withdrawal_id, sealed, attempts`,
)
const tryAgain = statement('try-notice-again', 'UPDATE notices SET due_at = $2 WHERE id = $1 AND due_at IS NOT NULL')
const changeOfNotice = statement(
  'change-of-notice',
  `SELECT u.name, r.old_email, r.new_email, r.requested_at, r.request_ip, r.closed_at, r.closed_ip
   FROM email_change_requests r JOIN users u ON u.id = r.user_id WHERE r.id = $1`,
)
const withdrawalOfNotice = statement(
  'withdrawal-of-notice',
  'SELECT scheduled_completion FROM withdrawals WHERE id = $1',
)
const markSent = statement(
  'mark-notice-sent',
  'UPDATE notices SET sent_at = $2, due_at = NULL, sealed = NULL WHERE id = $1',
)
const giveUp = statement(
  'give-notice-up',
  'UPDATE notices SET failed_at = $2, due_at = NULL, sealed = NULL WHERE id = $1',
)
const expire = statement(
  'expire-notices',
  'UPDATE notices SET failed_at = $1, due_at = NULL, sealed = NULL WHERE due_at IS NOT NULL AND expires_at <= $1',
)
const dueNotices = statement(
  'due-notices',
  'SELECT id FROM notices WHERE due_at IS NOT NULL AND due_at <= $1 ORDER BY due_at LIMIT $2',
)

interface NoticeRow {
  user_id: string
  kind: 'email_change_requested' | 'email_changed' | 'account_withdrawal_started'
  recipient: 'old' | 'new' | null
  change_request_id: string | null
  withdrawal_id: string | null
  sealed: Buffer | null
  attempts: number
}

interface ChangeRow {
  name: string
  old_email: string
  new_email: string
  requested_at: Date
  request_ip: string
  closed_at: Date | null
  closed_ip: string | null
}

/** One try for one notice; true when the mail server took it over. A notice that is not due, or taken, is left alone. */
export async function sendNotice(ctx: SystemContext, id: string): Promise<boolean> {
  const now = ctx.clock.now()
  const [notice] = await ctx.sql<NoticeRow>(claim, [id, now, leaseUntil(now)])
  if (!notice) return false
  const letter = notice.sealed ? await toWithdrawalLetter(ctx, notice) : await toChangeLetter(ctx, notice)
  return deliverNotice(ctx, { id, userId: notice.user_id, attempts: notice.attempts }, letter)
}

/** Until then a claimed notice is its sender's. */
export const leaseUntil = (now: Date): Date => new Date(now.getTime() + LEASE_MS)

/** The try itself, for whoever holds the claim. Without a letter there is nothing that could ever be sent. */
export async function deliverNotice(
  ctx: SystemContext,
  { id, userId, attempts }: { id: string; userId: string; attempts: number },
  letter: Letter | null,
): Promise<boolean> {
  const accepted = letter !== null && (await ctx.mail.send({ ...letter, id, userId }))
  const now = ctx.clock.now()
  if (accepted) await ctx.sql(markSent, [id, now])
  else if (!letter || attempts >= MOST_TRIES) await ctx.sql(giveUp, [id, now])
  else await ctx.sql(tryAgain, [id, new Date(now.getTime() + waitMs(ctx, attempts))])
  return accepted
}

const waitMs = (ctx: SystemContext, attempts: number) =>
  (BACKOFF_MS[Math.min(attempts, BACKOFF_MS.length) - 1] ?? minute) * ctx.timeScale

/** Tries what is due, oldest first; returns how many were sent. */
export async function sendDueNotices(ctx: SystemContext, batch = 50): Promise<number> {
  for (let sent = 0; ; ) {
    const due = await ctx.sql<{ id: string }>(dueNotices, [ctx.clock.now(), batch])
    const results = await Promise.all(due.map(({ id }) => sendNotice(ctx, id)))
    sent += results.filter(Boolean).length
    // While the mail server takes nothing there is no point in going on.
    if (due.length < batch || !results.some(Boolean)) return sent
  }
}

/** What was sealed for a time is destroyed when the time is over, sent or not. */
export async function expireNotices(ctx: SystemContext): Promise<void> {
  await ctx.sql(expire, [ctx.clock.now()])
}

interface Letter {
  to: string
  message: Message
}

async function toChangeLetter(ctx: SystemContext, notice: NoticeRow): Promise<Letter | null> {
  const [change] = await ctx.sql<ChangeRow>(changeOfNotice, [notice.change_request_id])
  const to = change && parseAddress(notice.recipient === 'old' ? change.old_email : change.new_email)
  if (!to) return null
  const message: Message =
    notice.kind === 'email_change_requested'
      ? {
          template: 'email-change-requested',
          userName: change.name,
          newEmailMasked: maskAddress(change.new_email),
          requestedAt: change.requested_at,
          ipAddress: change.request_ip,
        }
      : {
          template: 'email-changed',
          userName: change.name,
          oldEmail: change.old_email,
          newEmail: change.new_email,
          changedAt: change.closed_at ?? change.requested_at,
          ipAddress: change.closed_ip ?? '',
        }
  return { to: to.deliverable, message }
}

async function toWithdrawalLetter(ctx: SystemContext, notice: NoticeRow): Promise<Letter | null> {
  const withdrawalId = notice.withdrawal_id ?? ''
  const opened = notice.sealed && ctx.secrets.open(notice.sealed)
  const [withdrawal] = await ctx.sql<{ scheduled_completion: Date }>(withdrawalOfNotice, [withdrawalId])
  if (!opened || !withdrawal) return null
  const { to, name } = JSON.parse(opened.toString()) as { to: string; name: string }
  return {
    to,
    message: {
      template: 'account-withdrawal-started',
      userName: name,
      progressUrl: `${ctx.appUrl}/withdrawal/${withdrawalId}#token=${createStatusToken(ctx, withdrawalId)}`,
      scheduledCompletion: withdrawal.scheduled_completion,
      retentionDays: retentionDays(ctx.limits.withdrawalRetentionMs),
    },
  }
}
