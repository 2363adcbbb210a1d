import { maskAddress, parseAddress } from '@/contract/address'
import type { Link, SystemContext } from '../context'
import { notMeUrl } from '../email/not-me-token'
import { STOP_CHANGE_MS } from '../limits/durations'
import type { Asker, Message, NotMeLink, UndoOutcome } from '../ports'
import {
  bytes,
  type Described,
  identifier,
  integer,
  literal,
  NULL,
  type Part,
  type RowOf,
  type Shape,
  sql,
  statement,
  text,
  time,
} from '../sql'
import { retentionDays } from '../withdrawal/schedule'
import { createStatusToken } from '../withdrawal/status-token'
import { addressOfLink, findLinkedAccount, type LinkedAccount, linkOf, mayWithdrawByMail } from './linked-account'
import { type LinkKind, linkUrl } from './links'

/** The content of a letter about an email change. */
interface ChangeFacts {
  changeId: string
  userName: string
  oldEmail: string
  newEmail: string
  /** Time and address of the request, or of its verification. */
  at: Date
  ipAddress: string
}

interface UndoFacts {
  userName: string
  oldEmail: string
  newEmail: string
  at: Date
  outcome: UndoOutcome
}

interface WithdrawalFacts {
  withdrawalId: string
  scheduledCompletion: Date
  askedBy: Asker
  /** Encrypted in the row with `askedBy`, because the account is being erased. */
  recipient: { to: string; name: string }
}

interface PasswordFacts {
  /** The account's address at that time, encrypted in the row, because whoever took the account over may change it. */
  to: string
  userName: string
  at: Date
  ipAddress: string
}

/** The content of a letter with a link that works once. */
interface LinkFacts extends Link {
  /** Where the link goes, and the account's present address. */
  sentTo: string
  present: string
  userName: string
  hasPassword: boolean
  /** Whether the link may do what it is for. */
  mayOpen: boolean
  ipAddress: string
}

interface ExportFacts {
  /** Encrypted in the row, with the rest of the letter. */
  to: string
  userName: string
  /** ISO 8601 */
  at: string
  ipAddress: string
}

/** For each kind: the content of its letter, and who gets a copy. The row's `recipient` is null for `sealed`. */
interface Kinds {
  email_change_requested: { facts: ChangeFacts; recipient: 'old' }
  /** `lost`: somebody else reads the mailbox of the old address. It gets no link, and the new address masked. */
  email_changed: { facts: ChangeFacts; recipient: 'old' | 'lost' | 'new' }
  email_reverted: { facts: UndoFacts; recipient: 'old' | 'new' }
  account_withdrawal_started: { facts: WithdrawalFacts; recipient: 'sealed' }
  password_changed: { facts: PasswordFacts; recipient: 'sealed' }
  password_reset: { facts: LinkFacts; recipient: 'sealed' }
  /** `present`: the account's present address, where the link went to an older one. */
  withdrawal_requested: { facts: LinkFacts; recipient: 'sealed' | 'present' }
  data_exported: { facts: ExportFacts; recipient: 'sealed' }
  /** To an address that a recent change replaced. */
  account_withdrawal_told: { facts: WithdrawalFacts; recipient: 'sealed' }
}

export type NoticeKind = keyof Kinds
export type FactsOf<Kind extends NoticeKind> = Kinds[Kind]['facts']
export type RecipientOf<Kind extends NoticeKind> = Kinds[Kind]['recipient']

export interface Letter {
  to: string
  message: Message
}

/** A notice that a sender has claimed. */
export const NOTICE_ROW = {
  id: text,
  user_id: text,
  kind: text.of<NoticeKind>(),
  /** The account's locale when the notice was written. */
  locale: text.orNull,
  recipient: text.orNull,
  change_request_id: text.orNull,
  withdrawal_id: text.orNull,
  sealed: bytes.orNull,
  created_at: time,
  expires_at: time.orNull,
  attempts: integer,
} satisfies Shape
export type NoticeRow = Described<typeof NOTICE_ROW>

interface KindOfNotice<Facts, Recipient extends string> {
  /** The column of `notices` that refers to the letter's subject; null if `sealed` holds all of it. */
  foreignKey: 'change_request_id' | 'withdrawal_id' | null
  /** The address of each copy. */
  recipients: Record<Recipient, (facts: Facts) => string>
  message(ctx: SystemContext, facts: Facts, recipient: Recipient): Message
  /** Reads the facts for a later attempt; null if the letter can no longer be made. */
  read(ctx: SystemContext, notice: NoticeRow): Promise<Facts | null>
}

const sentToOf = ({ sentTo }: LinkFacts) => toDeliverable(sentTo)

/** Every kind of notice, one row each. The first attempt and all later ones make the letter from this row. */
export const NOTICE_KINDS: { readonly [Kind in NoticeKind]: KindOfNotice<FactsOf<Kind>, RecipientOf<Kind>> } = {
  email_change_requested: {
    foreignKey: 'change_request_id',
    recipients: { old: ({ oldEmail }) => toDeliverable(oldEmail) },
    message: (ctx, { changeId, userName, oldEmail, newEmail, at, ipAddress }) => ({
      template: 'email-change-requested',
      userName,
      currentEmail: oldEmail,
      newEmailMasked: maskAddress(newEmail),
      requestedAt: at,
      ipAddress,
      notMe: { url: notMeUrl(ctx, changeId), until: new Date(at.getTime() + STOP_CHANGE_MS) },
    }),
    read: (ctx, notice) => readChange(ctx, notice, ({ requested_at, request_ip }) => [requested_at, request_ip]),
  },
  email_changed: {
    foreignKey: 'change_request_id',
    recipients: {
      old: ({ oldEmail }) => toDeliverable(oldEmail),
      lost: ({ oldEmail }) => toDeliverable(oldEmail),
      new: ({ newEmail }) => toDeliverable(newEmail),
    },
    message: (ctx, { changeId, userName, oldEmail, newEmail, at, ipAddress }, recipient) => ({
      template: 'email-changed',
      userName,
      oldEmail,
      newEmail: recipient === 'lost' ? maskAddress(newEmail) : newEmail,
      changedAt: at,
      ipAddress,
      notMe: recipient === 'old' ? undoLink(ctx, changeId, at) : null,
    }),
    read: (ctx, notice) =>
      readChange(ctx, notice, ({ requested_at, closed_at, closed_ip }) => [closed_at ?? requested_at, closed_ip ?? '']),
  },
  email_reverted: {
    foreignKey: 'change_request_id',
    recipients: {
      old: ({ oldEmail }) => toDeliverable(oldEmail),
      new: ({ newEmail }) => toDeliverable(newEmail),
    },
    message: (_ctx, { userName, oldEmail, newEmail, at, outcome }, recipient) => ({
      template: 'email-reverted',
      to: recipient,
      userName: recipient === 'old' ? userName : '',
      email: recipient === 'old' ? oldEmail : newEmail,
      newEmail: outcome === 'stopped' ? maskAddress(newEmail) : newEmail,
      revertedAt: at,
      outcome,
    }),
    read: readUndo,
  },
  account_withdrawal_started: {
    foreignKey: 'withdrawal_id',
    recipients: { sealed: ({ recipient }) => recipient.to },
    message: (ctx, { withdrawalId, scheduledCompletion, askedBy, recipient }) => ({
      template: 'account-withdrawal-started',
      askedBy,
      userName: recipient.name,
      progressUrl: `${ctx.appUrl}/withdrawal/${withdrawalId}#token=${createStatusToken(ctx, withdrawalId)}`,
      scheduledCompletion,
      retentionDays: retentionDays(ctx.limits.withdrawalRetentionMs),
    }),
    read: readWithdrawal,
  },
  password_changed: {
    foreignKey: null,
    recipients: { sealed: ({ to }) => toDeliverable(to) },
    message: (_ctx, { userName, at, ipAddress }) => ({
      template: 'password-changed',
      userName,
      changedAt: at,
      ipAddress,
    }),
    async read(ctx, { sealed, created_at: at }) {
      const opened = sealed && ctx.secrets.open(sealed)
      return opened ? { ...(JSON.parse(opened.toString()) as Omit<PasswordFacts, 'at'>), at } : null
    },
  },
  password_reset: {
    foreignKey: null,
    recipients: { sealed: sentToOf },
    message: (ctx, { userName, hasPassword, ipAddress, ...link }) =>
      hasPassword
        ? {
            template: 'password-reset',
            userName,
            link: linkUrl(ctx, 'password_reset', link),
            endsAt: link.endsAt,
            ipAddress,
          }
        : { template: 'no-password-to-reset', userName, provider: ctx.identityProvider?.name ?? null, ipAddress },
    read: readLink('password_reset'),
  },
  withdrawal_requested: {
    foreignKey: null,
    recipients: { sealed: sentToOf, present: ({ present }) => toDeliverable(present) },
    message: (ctx, { userName, mayOpen, ipAddress, ...link }, recipient) =>
      mayOpen && recipient === 'sealed'
        ? {
            template: 'withdrawal-requested',
            userName,
            link: linkUrl(ctx, 'withdrawal_requested', link),
            endsAt: link.endsAt,
            ipAddress,
          }
        : { template: 'withdrawal-by-sign-in', userName, settingsUrl: `${ctx.appUrl}/settings/withdraw`, ipAddress },
    read: readLink('withdrawal_requested'),
  },
  data_exported: {
    foreignKey: null,
    recipients: { sealed: ({ to }) => to },
    message: (ctx, { userName, at, ipAddress }) => ({
      template: 'data-exported',
      userName,
      exportedAt: new Date(at),
      ipAddress,
      settingsUrl: `${ctx.appUrl}/settings/sessions`,
    }),
    read: async (ctx, { sealed }) => {
      const opened = sealed && ctx.secrets.open(sealed)
      return opened ? (JSON.parse(opened.toString()) as ExportFacts) : null
    },
  },
  account_withdrawal_told: {
    foreignKey: 'withdrawal_id',
    recipients: { sealed: ({ recipient }) => recipient.to },
    message: (ctx, { scheduledCompletion, askedBy, recipient }) => ({
      template: 'account-withdrawal-told',
      askedBy,
      userName: recipient.name,
      scheduledCompletion,
      retentionDays: retentionDays(ctx.limits.withdrawalRetentionMs),
    }),
    read: readWithdrawal,
  },
}

/** Null if verified changes cannot be undone. */
const undoLink = (ctx: SystemContext, changeId: string, changedAt: Date): NotMeLink | null =>
  ctx.limits.undoWindowMs > 0
    ? { url: notMeUrl(ctx, changeId), until: new Date(changedAt.getTime() + ctx.limits.undoWindowMs) }
    : null

export const letterOf = <Kind extends NoticeKind>(
  ctx: SystemContext,
  kind: Kind,
  recipient: RecipientOf<Kind>,
  facts: FactsOf<Kind>,
): Letter => {
  const { recipients, message } = NOTICE_KINDS[kind]
  return { to: recipients[recipient](facts), message: message(ctx, facts, recipient) }
}

/** The letter of a claimed notice, the same as at the first attempt; null if it can no longer be made. */
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
 * Queues a notice. Its first attempt belongs to the request, which holds the lease until `leaseUntil`. Every member is a value, or
 * a column of the part `from`. `about` is the value of the kind's foreign key.
 */
export const queueNotice = (
  kind: NoticeKind,
  of: {
    from: Part
    id: Part
    user: Part
    /** The account's locale, because the row outlives the account. */
    locale: Part
    recipient?: Part
    /** Only if the kind has a foreign key. */
    about?: Part
    sealed?: Part
    at: Part
    leaseUntil: Part
    expiresAt?: Part
  },
) =>
  sql`INSERT INTO notices (id, user_id, kind, locale, recipient, ${identifier(NOTICE_KINDS[kind].foreignKey ?? 'change_request_id')}, sealed, created_at, due_at, expires_at, attempts)
   SELECT ${of.id}, ${of.user}, ${literal(kind)}, ${of.locale}::text, ${of.recipient ?? NULL}, ${of.about ?? NULL}, ${of.sealed ?? NULL}::bytea,
          ${of.at}::timestamptz, ${of.leaseUntil}::timestamptz, ${of.expiresAt ?? NULL}::timestamptz, 1
   FROM ${of.from}`

/** The form for the mail server of an address that was accepted once. */
export const toDeliverable = (email: string): string => parseAddress(email)?.deliverable ?? email

type ChangeRow = RowOf<typeof changeOfNotice>

const changeOfNotice = statement(
  'change-of-notice',
  { changeId: text },
  {
    name: text,
    status: text,
    old_email: text,
    new_email: text,
    requested_at: time,
    request_ip: text,
    closed_at: time.orNull,
    closed_ip: text.orNull,
    reverted_at: time.orNull,
  },
  (v) => sql`SELECT u.name, r.status, r.old_email, r.new_email, r.requested_at, r.request_ip, r.closed_at, r.closed_ip,
     r.reverted_at
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
  const { name: userName, old_email: oldEmail, new_email: newEmail } = change
  return { changeId: changeId as string, userName, oldEmail, newEmail, at, ipAddress }
}

async function readUndo(ctx: SystemContext, { change_request_id: changeId }: NoticeRow): Promise<UndoFacts | null> {
  const [change] = changeId ? await ctx.sql(changeOfNotice, { changeId }) : []
  if (!change) return null
  const { name: userName, old_email: oldEmail, new_email: newEmail } = change
  const at = change.reverted_at ?? change.closed_at ?? change.requested_at
  return { userName, oldEmail, newEmail, at, outcome: outcomeOf(change.status) }
}

export const outcomeOf = (status: string): UndoOutcome => (status === 'reverted' ? 'restored' : 'stopped')

const withdrawalOfNotice = statement(
  'withdrawal-of-notice',
  { withdrawalId: text },
  { scheduled_completion: time },
  (v) => sql`SELECT scheduled_completion FROM withdrawals WHERE id = ${v.withdrawalId}`,
)

/** The encrypted content of the row. */
type SealedRecipient = WithdrawalFacts['recipient'] & { askedBy?: Asker }

async function readWithdrawal(
  ctx: SystemContext,
  { withdrawal_id: withdrawalId, sealed }: NoticeRow,
): Promise<WithdrawalFacts | null> {
  const opened = sealed && ctx.secrets.open(sealed)
  const [withdrawal] = withdrawalId ? await ctx.sql(withdrawalOfNotice, { withdrawalId }) : []
  if (!withdrawalId || !opened || !withdrawal) return null
  // A row of the last release does not say who asked.
  const { askedBy = 'person', ...recipient } = JSON.parse(opened.toString()) as SealedRecipient
  return { withdrawalId, scheduledCompletion: withdrawal.scheduled_completion, askedBy, recipient }
}

/** The encrypted content of the row of a letter with a link. */
export interface SealedLink {
  emailKey: string
  ipAddress: string
  /** Missing in a row of the last release. */
  credentialVersion?: number
}

export const linkFactsOf = (
  ctx: SystemContext,
  kind: LinkKind,
  account: LinkedAccount,
  { noticeId, endsAt, ipAddress }: Pick<LinkFacts, 'noticeId' | 'endsAt' | 'ipAddress'>,
): LinkFacts => ({
  ...linkOf(kind, account, { noticeId, endsAt }),
  sentTo: addressOfLink(kind, account),
  present: account.email,
  userName: account.name,
  hasPassword: account.password_hash !== null,
  mayOpen: mayWithdrawByMail(ctx, account),
  ipAddress,
})

/** Null if the link would be bound to another address or password than at the first attempt, which may have been delivered. */
function readLink(kind: LinkKind) {
  return async (ctx: SystemContext, notice: NoticeRow): Promise<LinkFacts | null> => {
    const { id: noticeId, user_id: userId, expires_at: endsAt, sealed } = notice
    const opened = sealed && ctx.secrets.open(sealed)
    if (!opened || !endsAt) return null
    const { emailKey, credentialVersion, ipAddress } = JSON.parse(opened.toString()) as SealedLink
    const account = await findLinkedAccount(ctx, ctx.sql, { kind, userId, endsAt })
    if (account?.email_key !== emailKey) return null
    if (account.credential_version !== (credentialVersion ?? account.credential_version)) return null
    return linkFactsOf(ctx, kind, account, { noticeId, endsAt, ipAddress })
  }
}
