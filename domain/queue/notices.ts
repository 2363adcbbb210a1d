import { maskAddress, parseAddress } from '@/contract/address'
import { type SystemContext, statement } from '../context'
import type { MailOutcome, Message } from '../ports'
import { UNWAITED } from '../sql'
import { retentionDays } from '../withdrawal/schedule'
import { createStatusToken } from '../withdrawal/status-token'
import { batched } from './coalesce'

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
const tryAgain = statement(
  'try-notice-again',
  'UPDATE notices SET due_at = $2 WHERE id = $1 AND sent_at IS NULL AND failed_at IS NULL',
)
const changeOfNotice = statement(
  'change-of-notice',
  `SELECT u.name, r.old_email, r.new_email, r.requested_at, r.request_ip, r.closed_at, r.closed_ip
   FROM email_change_requests r JOIN users u ON u.id = r.user_id WHERE r.id = $1`,
)
const withdrawalOfNotice = statement(
  'withdrawal-of-notice',
  'SELECT scheduled_completion FROM withdrawals WHERE id = $1',
)
const SENT = 'sent_at = $2, due_at = NULL, sealed = NULL'
// It waits for no row while it holds others: a withdrawal or an erasure that locks the same rows in another order would deadlock.
const markSent = statement(
  'mark-notices-sent',
  `UPDATE notices SET ${SENT}
   WHERE id = ANY(ARRAY(SELECT id FROM notices WHERE id = ANY($1::text[]) FOR UPDATE SKIP LOCKED))
   RETURNING id, ${UNWAITED}`,
)
const markOneSent = statement('mark-notice-sent', `UPDATE notices SET ${SENT} WHERE id = $1 RETURNING ${UNWAITED}`)
const giveUp = statement(
  'give-notice-up',
  'UPDATE notices SET failed_at = $2, due_at = NULL, sealed = NULL WHERE id = $1 AND sent_at IS NULL',
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
  kind: ChangeNotice['kind'] | 'account_withdrawal_started'
  recipient: ChangeNotice['recipient'] | null
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

/** One try for one notice. Null where the notice is not due, or another sender has claimed it. */
async function sendNotice(ctx: SystemContext, id: string): Promise<MailOutcome | null> {
  const now = ctx.clock.now()
  const [notice] = await ctx.sql<NoticeRow>(claim, [id, now, leaseUntil(now)])
  if (!notice) return null
  const letter = notice.sealed ? await openWithdrawalLetter(ctx, notice) : await loadChangeLetter(ctx, notice)
  // Without a letter there is nothing that could ever be sent, unless the key that it is sealed with comes back.
  const unsendable = notice.sealed ? 'deferred' : 'refused'
  const outcome = letter ? await ctx.mail.send({ ...letter, id, userId: notice.user_id }) : unsendable
  await noteTry(ctx, { id, attempts: notice.attempts }, outcome)
  return outcome
}

/** Until then a claimed notice is its sender's. */
export const leaseUntil = (now: Date): Date => new Date(now.getTime() + LEASE_MS)

/**
 * The first try, by whoever wrote the notice as claimed: `attempts` is 1 and `due_at` the end of the lease. True when the mail
 * server took it over; the row is told after the answer, and has it sent later if nobody comes to that.
 */
export function sendFirst(
  ctx: SystemContext,
  notice: { id: string; userId: string },
  letter: Letter,
): Promise<boolean> {
  const sending = ctx.mail.send({ ...letter, ...notice })
  ctx.background(async () => noteTry(ctx, { id: notice.id, attempts: 1 }, await sending))
  return sending.then(
    (outcome) => outcome === 'accepted',
    () => false,
  )
}

const noteSent = batched<string>('note-sent', async (ctx, ids) => {
  const now = ctx.clock.now()
  const marked = await ctx.sql<{ id: string }>(markSent, [ids, now])
  const done = new Set(marked.map(({ id }) => id))
  for (const id of ids) if (!done.has(id)) await ctx.sql(markOneSent, [id, now])
})

async function noteTry(ctx: SystemContext, { id, attempts }: { id: string; attempts: number }, outcome: MailOutcome) {
  if (outcome === 'accepted') return noteSent(ctx, id)
  const now = ctx.clock.now()
  if (outcome === 'refused' || attempts >= MOST_TRIES) await ctx.sql(giveUp, [id, now])
  else await ctx.sql(tryAgain, [id, new Date(now.getTime() + waitMs(ctx, attempts))])
}

const waitMs = (ctx: SystemContext, attempts: number) =>
  (BACKOFF_MS[Math.min(attempts, BACKOFF_MS.length) - 1] ?? minute) * ctx.timeScale

/** Tries what is due, oldest first; returns how many were sent. */
export async function sendDueNotices(ctx: SystemContext, batch = 50): Promise<number> {
  for (let sent = 0; ; ) {
    const due = await ctx.sql<{ id: string }>(dueNotices, [ctx.clock.now(), batch])
    const results = await Promise.all(due.map(({ id }) => sendNotice(ctx, id)))
    sent += results.filter((outcome) => outcome === 'accepted').length
    // While the mail server defers everything there is no point in going on.
    if (due.length < batch || results.every((outcome) => outcome === null || outcome === 'deferred')) return sent
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

interface ChangeNotice {
  kind: 'email_change_requested' | 'email_changed'
  /** Which address of the change it goes to. */
  recipient: 'old' | 'new'
}

/** `at` and `ipAddress` are those of the request, or of its verification. */
export function toChangeLetter(
  { kind, recipient }: ChangeNotice,
  change: { userName: string; oldEmail: string; newEmail: string; at: Date; ipAddress: string },
): Letter {
  const { userName, oldEmail, newEmail, at, ipAddress } = change
  return {
    to: toDeliverable(recipient === 'old' ? oldEmail : newEmail),
    message:
      kind === 'email_change_requested'
        ? {
            template: 'email-change-requested',
            userName,
            newEmailMasked: maskAddress(newEmail),
            requestedAt: at,
            ipAddress,
          }
        : { template: 'email-changed', userName, oldEmail, newEmail, changedAt: at, ipAddress },
  }
}

export const toWithdrawalLetter = (
  ctx: SystemContext,
  recipient: { to: string; name: string },
  withdrawal: { id: string; scheduledCompletion: Date },
): Letter => ({
  to: recipient.to,
  message: {
    template: 'account-withdrawal-started',
    userName: recipient.name,
    progressUrl: `${ctx.appUrl}/withdrawal/${withdrawal.id}#token=${createStatusToken(ctx, withdrawal.id)}`,
    scheduledCompletion: withdrawal.scheduledCompletion,
    retentionDays: retentionDays(ctx.limits.withdrawalRetentionMs),
  },
})

/** As the mail server wants it, of an address that was accepted once. */
export const toDeliverable = (email: string): string => parseAddress(email)?.deliverable ?? email

async function loadChangeLetter(
  ctx: SystemContext,
  { kind, recipient, change_request_id: id }: NoticeRow,
): Promise<Letter | null> {
  const [change] = await ctx.sql<ChangeRow>(changeOfNotice, [id])
  if (!change || !recipient || kind === 'account_withdrawal_started') return null
  const [at, ipAddress] =
    kind === 'email_changed' ? [change.closed_at, change.closed_ip] : [change.requested_at, change.request_ip]
  return toChangeLetter(
    { kind, recipient },
    {
      userName: change.name,
      oldEmail: change.old_email,
      newEmail: change.new_email,
      at: at ?? change.requested_at,
      ipAddress: ipAddress ?? '',
    },
  )
}

async function openWithdrawalLetter(ctx: SystemContext, notice: NoticeRow): Promise<Letter | null> {
  const id = notice.withdrawal_id ?? ''
  const opened = notice.sealed && ctx.secrets.open(notice.sealed)
  const [withdrawal] = await ctx.sql<{ scheduled_completion: Date }>(withdrawalOfNotice, [id])
  if (!opened || !withdrawal) return null
  const recipient = JSON.parse(opened.toString()) as { to: string; name: string }
  return toWithdrawalLetter(ctx, recipient, { id, scheduledCompletion: withdrawal.scheduled_completion })
}
