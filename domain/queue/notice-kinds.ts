import { maskAddress, parseAddress } from '@/contract/address'
import type { SystemContext } from '../context'
import type { Message } from '../ports'
import { statement } from '../sql'
import { retentionDays } from '../withdrawal/schedule'
import { createStatusToken } from '../withdrawal/status-token'

/** What a letter about an email change tells. */
interface ChangeFacts {
  userName: string
  oldEmail: string
  newEmail: string
  /** Time and address of the request, or of its verification. */
  at: Date
  ipAddress: string
}

interface WithdrawalFacts {
  withdrawalId: string
  scheduledCompletion: Date
  /** Stands encrypted in the row, because the account is being erased. */
  recipient: { to: string; name: string }
}

/** Of each kind: what its letter tells, and whom a copy goes to. `sealed` is null in the row's `recipient`. */
interface Kinds {
  email_change_requested: { facts: ChangeFacts; recipient: 'old' }
  email_changed: { facts: ChangeFacts; recipient: 'old' | 'new' }
  account_withdrawal_started: { facts: WithdrawalFacts; recipient: 'sealed' }
}

export type NoticeKind = keyof Kinds
export type FactsOf<Kind extends NoticeKind> = Kinds[Kind]['facts']
export type RecipientOf<Kind extends NoticeKind> = Kinds[Kind]['recipient']

export interface Letter {
  to: string
  message: Message
}

/** A notice as a sender has claimed it. */
export interface NoticeRow {
  user_id: string
  kind: NoticeKind
  recipient: string | null
  change_request_id: string | null
  withdrawal_id: string | null
  sealed: Buffer | null
  attempts: number
}

interface KindOfNotice<Facts, Recipient extends string> {
  /** The column of `notices` that refers to what the letter is about. */
  foreignKey: 'change_request_id' | 'withdrawal_id'
  /** The address that each copy goes to. */
  recipients: Record<Recipient, (facts: Facts) => string>
  message(ctx: SystemContext, facts: Facts): Message
  /** Reads the facts for a later attempt; null where the letter cannot be made any more. */
  read(ctx: SystemContext, notice: NoticeRow): Promise<Facts | null>
}

/** Every kind of notice, one row each. The first attempt and all later ones make the letter from it. */
export const NOTICE_KINDS: { readonly [Kind in NoticeKind]: KindOfNotice<FactsOf<Kind>, RecipientOf<Kind>> } = {
  email_change_requested: {
    foreignKey: 'change_request_id',
    recipients: { old: ({ oldEmail }) => toDeliverable(oldEmail) },
    message: (_ctx, { userName, newEmail, at, ipAddress }) => ({
      template: 'email-change-requested',
      userName,
      newEmailMasked: maskAddress(newEmail),
      requestedAt: at,
      ipAddress,
    }),
    read: (ctx, notice) => readChange(ctx, notice, ({ requested_at, request_ip }) => [requested_at, request_ip]),
  },
  email_changed: {
    foreignKey: 'change_request_id',
    recipients: {
      old: ({ oldEmail }) => toDeliverable(oldEmail),
      new: ({ newEmail }) => toDeliverable(newEmail),
    },
    message: (_ctx, { userName, oldEmail, newEmail, at, ipAddress }) => ({
      template: 'email-changed',
      userName,
      oldEmail,
      newEmail,
      changedAt: at,
      ipAddress,
    }),
    read: (ctx, notice) =>
      readChange(ctx, notice, ({ requested_at, closed_at, closed_ip }) => [closed_at ?? requested_at, closed_ip ?? '']),
  },
  account_withdrawal_started: {
    foreignKey: 'withdrawal_id',
    recipients: { sealed: ({ recipient }) => recipient.to },
    message: (ctx, { withdrawalId, scheduledCompletion, recipient }) => ({
      template: 'account-withdrawal-started',
      userName: recipient.name,
      progressUrl: `${ctx.appUrl}/withdrawal/${withdrawalId}#token=${createStatusToken(ctx, withdrawalId)}`,
      scheduledCompletion,
      retentionDays: retentionDays(ctx.limits.withdrawalRetentionMs),
    }),
    read: readWithdrawal,
  },
}

export const letterOf = <Kind extends NoticeKind>(
  ctx: SystemContext,
  kind: Kind,
  recipient: RecipientOf<Kind>,
  facts: FactsOf<Kind>,
): Letter => {
  const { recipients, message } = NOTICE_KINDS[kind]
  return { to: recipients[recipient](facts), message: message(ctx, facts) }
}

/** The letter of a claimed notice, made as at the first attempt; null where it cannot be made any more. */
export async function readLetter<Kind extends NoticeKind>(
  ctx: SystemContext,
  notice: NoticeRow & { kind: Kind },
): Promise<Letter | null> {
  const { recipients, read } = NOTICE_KINDS[notice.kind]
  const recipient = (notice.recipient ?? 'sealed') as RecipientOf<Kind>
  if (!Object.hasOwn(recipients, recipient)) return null
  const facts = await read(ctx, notice)
  return facts && letterOf(ctx, notice.kind, recipient, facts)
}

/** In a rolling upgrade an older instance may claim a kind of notice that only newer ones know. */
export const isKnownKind = (kind: string): kind is NoticeKind => Object.hasOwn(NOTICE_KINDS, kind)

/**
 * Queues a notice whose first attempt is the request's own, which holds the lease until `leaseUntil`. Every member is a value, or a
 * column of the part `from`. `about` is what the foreign key of the kind refers to.
 */
export const queueNotice = (
  kind: NoticeKind,
  of: {
    from: string
    id: string
    user: string
    recipient?: string
    about: string
    sealed?: string
    at: string
    leaseUntil: string
    expiresAt?: string
  },
) =>
  `INSERT INTO notices (id, user_id, kind, recipient, ${NOTICE_KINDS[kind].foreignKey}, sealed, created_at, due_at, expires_at, attempts)
   SELECT ${of.id}, ${of.user}, '${kind}', ${of.recipient ?? 'NULL'}, ${of.about}, ${of.sealed ?? 'NULL'}::bytea,
          ${of.at}::timestamptz, ${of.leaseUntil}::timestamptz, ${of.expiresAt ?? 'NULL'}::timestamptz, 1
   FROM ${of.from}`

/** As the mail server wants it, of an address that was accepted once. */
export const toDeliverable = (email: string): string => parseAddress(email)?.deliverable ?? email

interface ChangeRow {
  name: string
  old_email: string
  new_email: string
  requested_at: Date
  request_ip: string
  closed_at: Date | null
  closed_ip: string | null
}

const changeOfNotice = statement<{ changeId: string }, ChangeRow>(
  'change-of-notice',
  (v) => `SELECT u.name, r.old_email, r.new_email, r.requested_at, r.request_ip, r.closed_at, r.closed_ip
   FROM email_change_requests r JOIN users u ON u.id = r.user_id WHERE r.id = ${v.changeId}`,
)

async function readChange(
  ctx: SystemContext,
  { change_request_id: changeId }: NoticeRow,
  placeOf: (change: ChangeRow) => [at: Date, ipAddress: string],
): Promise<ChangeFacts | null> {
  const [change] = changeId ? await ctx.sql(changeOfNotice, { changeId }) : []
  if (!change) return null
  const [at, ipAddress] = placeOf(change)
  return { userName: change.name, oldEmail: change.old_email, newEmail: change.new_email, at, ipAddress }
}

const withdrawalOfNotice = statement<{ withdrawalId: string }, { scheduled_completion: Date }>(
  'withdrawal-of-notice',
  (v) => `SELECT scheduled_completion FROM withdrawals WHERE id = ${v.withdrawalId}`,
)

async function readWithdrawal(
  ctx: SystemContext,
  { withdrawal_id: withdrawalId, sealed }: NoticeRow,
): Promise<WithdrawalFacts | null> {
  const opened = sealed && ctx.secrets.open(sealed)
  const [withdrawal] = withdrawalId ? await ctx.sql(withdrawalOfNotice, { withdrawalId }) : []
  if (!withdrawalId || !opened || !withdrawal) return null
  const recipient = JSON.parse(opened.toString()) as WithdrawalFacts['recipient']
  return { withdrawalId, scheduledCompletion: withdrawal.scheduled_completion, recipient }
}
