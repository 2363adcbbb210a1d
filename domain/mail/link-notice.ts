import type { AnyContext, Link, SystemContext, Transaction } from '../context'
import { undoWindowEnd } from '../limits/held-addresses'
import type { Message, Origin } from '../ports'
import { openSealed } from '../sealed'
import { defineNotice, ENDED, type Notice, type NoticeRow } from './define-notice'
import { findLinkedAccount, type LinkedAccount, linkOf, mayOpen } from './linked-account'
import { LINKS, type LinkKind } from './links'

/** The content of a letter with a link that works once. */
interface LinkFacts extends Link, Origin {
  /** The account's address. */
  to: string
  userName: string
  hasPassword: boolean
  /** Whether the link may do what it is for. */
  mayOpen: boolean
  /** Until when an undone change of the address holds a deletion back. */
  heldUntil: Date | null
  /** From when a link may do it, where nothing but a change of the address that can be undone holds it back. */
  linkFrom: Date | null
  requestedAt: Date
}

/** Who asked for a link, and when. */
export interface LinkOrigin extends Origin {
  at: Date
}

export interface LinkNotice extends Notice<LinkFacts, 'sealed'> {
  name: LinkKind
  /** Writes to other addresses that have to know of the request, in its transaction. */
  notifyOthers?: (tx: Transaction, account: LinkedAccount, origin: LinkOrigin) => Promise<unknown>
}

/** The notice that carries a link of this kind. */
export const defineLinkNotice = (
  kind: LinkKind,
  message: (ctx: SystemContext, facts: LinkFacts) => Message,
  more: Pick<LinkNotice, 'notifyOthers'> = {},
): LinkNotice => ({
  ...defineNotice<LinkFacts, 'sealed'>({
    name: kind,
    keep: ({ endsAt: expiresAt, emailKey, credentialVersion, ipAddress, userAgent }) => ({
      sealed: { emailKey, credentialVersion, ipAddress, userAgent } satisfies SealedLink,
      expiresAt,
    }),
    recipients: { sealed: ({ to }) => to },
    message,
    read: (ctx, notice) => readLink(ctx, kind, notice),
  }),
  ...more,
  name: kind,
})

/** The encrypted content of the row of a letter with a link. */
interface SealedLink {
  emailKey: string
  ipAddress: string
  /** Missing in a row of the last release. */
  userAgent?: string
  credentialVersion?: number
}

export const linkFactsOf = (
  ctx: AnyContext,
  kind: LinkKind,
  account: LinkedAccount,
  { noticeId, endsAt, ipAddress, userAgent }: Pick<LinkFacts, 'noticeId' | 'endsAt' | 'ipAddress' | 'userAgent'>,
): LinkFacts => ({
  ...linkOf(account, { noticeId, endsAt }),
  to: account.email,
  userName: account.name,
  hasPassword: account.password_hash !== null,
  mayOpen: mayOpen(ctx, kind, account),
  heldUntil: account.restored_at && undoWindowEnd(ctx, account.restored_at),
  linkFrom:
    account.changed_at && mayOpen(ctx, kind, { ...account, changed_at: null })
      ? undoWindowEnd(ctx, account.changed_at)
      : null,
  requestedAt: new Date(endsAt.getTime() - LINKS[kind].lifetimeMs),
  ipAddress,
  userAgent,
})

/** Ended if the link would be bound to another address or password than at the first attempt, which may have been delivered. */
async function readLink(
  ctx: SystemContext,
  kind: LinkKind,
  notice: NoticeRow,
): Promise<LinkFacts | null | typeof ENDED> {
  const { id: noticeId, user_id: userId, expires_at: endsAt } = notice
  const opened = openSealed<SealedLink>(ctx, notice.sealed)
  if (!opened || !endsAt) return null
  const { emailKey, credentialVersion, ipAddress, userAgent = '' } = opened
  const account = await findLinkedAccount(ctx, userId)
  if (account?.email_key !== emailKey) return ENDED
  if (account.credential_version !== (credentialVersion ?? account.credential_version)) return ENDED
  return linkFactsOf(ctx, kind, account, { noticeId, endsAt, ipAddress, userAgent })
}
