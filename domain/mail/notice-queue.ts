import type { SystemContext, Transaction } from '../context'
import { NOTICE_BACK_OFF_MS, NOTICE_LEASE_MS } from '../limits/durations'
import type { MailOutcome } from '../ports'
import { seal } from '../sealed'
import { bytes, integer, isOneOf, type Part, sql, statement, text, time, UNWAITED } from '../sql'
import { coalesced } from '../work/coalesce'
import { claimFor, eachBatch, isDue, leaseEnd, moveDueAt, nextTryAt, throwAll } from '../work/queue'
import { ENDED, NOTICE_ROW, type Notice, type NoticeRow, type StoredNotice } from './define-notice'
import { isLostMailbox } from './lost-mailbox'
import { recordMails, type SentMail } from './mail-deliveries'

/** Two months of daily attempts, so that an address that never works leaves the queue. */
const MAX_ATTEMPTS = 65

const isInTime = (v: { now: Part }) => sql`(expires_at IS NULL OR expires_at > ${v.now})`

const claim = statement(
  'claim-notice',
  { id: text, now: time, leaseUntil: time },
  NOTICE_ROW,
  (v) => sql`UPDATE notices SET ${moveDueAt(v)}
   WHERE id = ${v.id} AND due_at <= ${v.now} AND ${isInTime(v)}
   RETURNING id, user_id, kind, locale, recipient, change_request_id, withdrawal_id, sealed, created_at, expires_at, attempts`,
)
const tryAgain = statement(
  'try-notice-again',
  { id: text, nextTryAt: time },
  {},
  (v) => sql`UPDATE notices SET due_at = ${v.nextTryAt} WHERE id = ${v.id} AND sent_at IS NULL AND failed_at IS NULL`,
)

const setSent = (v: { now: Part }) => sql`UPDATE notices SET sent_at = ${v.now}, due_at = NULL, sealed = NULL`
// Skips locked rows, because waiting for one row while it holds others would deadlock with a withdrawal or an erasure.
const markSent = statement(
  'mark-notices-sent',
  { ids: text.list, now: time },
  { id: text },
  (v) => sql`${setSent(v)}
   WHERE ${isOneOf(sql`id`, sql`SELECT id FROM notices WHERE id = ANY(${v.ids}::text[]) FOR UPDATE SKIP LOCKED`)}
   RETURNING id, ${UNWAITED}`,
)
const markOneSent = statement(
  'mark-notice-sent',
  { id: text, now: time },
  {},
  (v) => sql`${setSent(v)} WHERE id = ${v.id} RETURNING ${UNWAITED}`,
)

const setFailed = (v: { now: Part }) => sql`UPDATE notices SET failed_at = ${v.now}, due_at = NULL, sealed = NULL`
const giveUp = statement(
  'give-notice-up',
  { id: text, now: time },
  {},
  (v) => sql`${setFailed(v)} WHERE id = ${v.id} AND sent_at IS NULL`,
)
const expire = statement(
  'expire-notices',
  { now: time },
  {},
  (v) => sql`${setFailed(v)} WHERE due_at IS NOT NULL AND expires_at <= ${v.now}`,
)

const dueNotices = statement(
  'due-notices',
  { now: time, maxRows: integer },
  { id: text },
  (v) => sql`SELECT id FROM notices WHERE ${isDue(v)} AND ${isInTime(v)} ORDER BY due_at LIMIT ${v.maxRows}`,
)

/** The outcome of an attempt; it failed if it threw, and then the notice is tried again like one that was deferred. */
type Attempt = MailOutcome | 'failed'

/** The kinds of notices by their names. */
export type NoticeKinds = Readonly<Record<string, StoredNotice>>

/** Makes one attempt. Null if the notice is not due, or another sender has claimed it. */
async function sendNotice(
  ctx: SystemContext,
  kinds: NoticeKinds,
  id: string,
  failures: unknown[],
): Promise<Attempt | null> {
  const [notice] = await ctx.sql(claim, { id, ...claimFor(ctx, NOTICE_LEASE_MS) })
  if (!notice) return null
  const { to, outcome } = await trySending(ctx, kinds, notice).catch((error): Tried => {
    failures.push(error)
    return { to: '', outcome: 'failed' }
  })
  const { user_id: userId, kind, recipient, change_request_id: changeId, attempts } = notice
  await noteAttempt(ctx, { messageId: id, userId, kind, recipient, changeId, to, attempts }, outcome)
  return outcome
}

interface Tried {
  to: string
  outcome: Attempt
}

async function trySending(ctx: SystemContext, kinds: NoticeKinds, notice: NoticeRow): Promise<Tried> {
  const { id, user_id: userId, locale, sealed } = notice
  const kind = kinds[notice.kind]
  // In a rolling upgrade an older instance may claim a kind of notice that only newer ones know.
  if (!kind) return { to: '', outcome: 'deferred' }
  const letter = await kind.readLetter(ctx, notice)
  // Retry a sealed notice, because its key may be restored; give up any other whose subject was deleted.
  if (!letter) return { to: '', outcome: sealed ? 'deferred' : 'refused' }
  if (letter === ENDED) return { to: '', outcome: 'refused' }
  const { to } = letter
  const mayReach =
    kind.reachesLost.includes(notice.recipient ?? '') || !(await isLostMailbox(ctx, { userId, address: to }))
  if (!mayReach) return { to, outcome: 'refused' }
  return { to, outcome: await ctx.mail.send({ ...letter, id, userId, locale }) }
}

const insertNotices = statement(
  'add-notices',
  {
    ids: text.list,
    recipients: text.orNull.list,
    userId: text,
    kind: text,
    locale: text.orNull,
    changeId: text.orNull,
    withdrawalId: text.orNull,
    sealed: bytes.orNull,
    at: time,
    dueAt: time,
    expiresAt: time.orNull,
    attempts: integer,
  },
  {},
  (v) => sql`INSERT INTO notices (id, recipient, user_id, kind, locale, change_request_id, withdrawal_id, sealed,
                        created_at, due_at, expires_at, attempts)
   SELECT id, recipient, ${v.userId}, ${v.kind}, ${v.locale}, ${v.changeId}, ${v.withdrawalId}, ${v.sealed}::bytea, ${v.at}::timestamptz,
          ${v.dueAt}::timestamptz, ${v.expiresAt}::timestamptz, ${v.attempts}::int
   FROM unnest(${v.ids}::text[], ${v.recipients}::text[]) AS n (id, recipient)`,
)

interface NewNotice<Recipient> {
  userId: string
  /** The account's, because the row outlives the account. */
  locale: string | null
  /** Each gets a letter of its own. */
  recipients: readonly Recipient[]
  at: Date
  /** True if this process sends no mail, and leaves the first try to the sweep of another. */
  isSentBySweep?: boolean
  /** Where the letter itself needs its id. */
  id?: string
  /** The first try is the sweep's, from then on. Until then other rows may add to the letter. */
  dueAt?: Date
}

/** Resolves once the first try is over: true if the mail server accepted every letter. Never, if the transaction does not commit. */
export interface FirstTry {
  isAccepted: Promise<boolean>
}

/**
 * Queues a notice, whose letters are sent after the commit. If the process dies before it has marked a row, the sweep sends its letter
 * again.
 */
export async function addNotice<Facts, Recipient extends string>(
  tx: Transaction,
  notice: Notice<Facts, Recipient>,
  { userId, locale, recipients, at, isSentBySweep = false, id: givenId, dueAt }: NewNotice<Recipient>,
  facts: Facts,
): Promise<FirstTry> {
  const { changeId = null, withdrawalId = null, sealed, expiresAt = null } = notice.keep(facts)
  const kind = notice.name
  const letters = recipients.map((recipient) => ({
    id: givenId ?? tx.secrets.randomId('ntc_'),
    recipient,
    storedRecipient: recipient === 'sealed' ? null : recipient,
  }))
  await tx.sql(insertNotices, {
    ids: letters.map(({ id }) => id),
    recipients: letters.map(({ storedRecipient }) => storedRecipient),
    userId,
    kind,
    locale,
    changeId,
    withdrawalId,
    sealed: sealed ? seal(tx, sealed) : null,
    at,
    dueAt: dueAt ?? (isSentBySweep ? at : leaseEnd(at, NOTICE_LEASE_MS)),
    expiresAt,
    attempts: dueAt || isSentBySweep ? 0 : 1,
  })
  const { promise: isAccepted, resolve } = Promise.withResolvers<boolean>()
  const send = async (ctx: SystemContext) => {
    const tries = letters.map(async ({ id, recipient, storedRecipient }) => {
      const letter = await notice.letter(ctx, facts, recipient, 1)
      const outcome: MailOutcome = letter ? await ctx.mail.send({ ...letter, id, userId, locale }) : 'deferred'
      const mail = { messageId: id, userId, kind, recipient: storedRecipient, changeId, to: letter?.to ?? '' }
      return { mail: { ...mail, attempts: 1 }, outcome }
    })
    resolve(areAllAccepted(tries.map(async (one) => (await one).outcome)))
    await Promise.all(tries.map((one) => one.then(({ mail, outcome }) => noteAttempt(ctx, mail, outcome))))
  }
  if (!isSentBySweep && !dueAt) tx.afterCommit(send)
  return { isAccepted }
}

const areAllAccepted = (sending: Promise<MailOutcome>[]): Promise<boolean> =>
  Promise.all(sending).then(
    (outcomes) => outcomes.every((outcome) => outcome === 'accepted'),
    () => false,
  )

/** Notes messages that the mail server took. Those that are sent at about the same time share two statements. */
export const noteSent = coalesced<SentMail>('note-sent', async (ctx, mails) => {
  const notices = mails.filter(({ kind }) => kind !== 'verification').map(({ messageId }) => messageId)
  // Neither waits for the other, because one may fail.
  await Promise.all([markAllSent(ctx, notices), recordMails(ctx, mails)])
})

async function markAllSent(ctx: SystemContext, ids: string[]) {
  if (ids.length === 0) return
  const now = ctx.clock.now()
  const marked = new Set((await ctx.sql(markSent, { ids, now })).map(({ id }) => id))
  for (const id of ids) if (!marked.has(id)) await ctx.sql(markOneSent, { id, now })
}

async function noteAttempt(
  ctx: SystemContext,
  { attempts, ...mail }: Omit<SentMail, 'sentAt'> & { attempts: number },
  outcome: Attempt,
) {
  const now = ctx.clock.now()
  if (outcome === 'accepted') return noteSent(ctx, { ...mail, sentAt: now })
  const id = mail.messageId
  if (outcome === 'refused' || attempts >= MAX_ATTEMPTS) await ctx.sql(giveUp, { id, now })
  else await ctx.sql(tryAgain, { id, nextTryAt: nextTryAt(ctx, attempts, NOTICE_BACK_OFF_MS) })
}

/** Sends the due notices, oldest first; returns how many the mail server accepted. */
export async function sendDueNotices(ctx: SystemContext, kinds: NoticeKinds, maxRows = 50): Promise<number> {
  const failures: unknown[] = []
  let sent = 0
  await eachBatch(maxRows, async () => {
    const due = await ctx.sql(dueNotices, { now: ctx.clock.now(), maxRows })
    const results = await Promise.all(due.map(({ id }) => sendNotice(ctx, kinds, id, failures)))
    sent += results.filter((outcome) => outcome === 'accepted').length
    // Stop if the whole batch was deferred, or another instance has claimed it.
    return results.every((outcome) => outcome === null || outcome === 'deferred') ? 0 : due.length
  })
  throwAll(failures, `${failures.length} notices failed`)
  return sent
}

/** Gives up expired notices, and deletes their encrypted content. */
export async function expireNotices(ctx: SystemContext): Promise<void> {
  if (!ctx.clock.isOff?.()) await ctx.sql(expire, { now: ctx.clock.now() })
}
