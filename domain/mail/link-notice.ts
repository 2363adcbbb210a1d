import type { AnyContext, Link, SystemContext } from '../context'
import type { Message } from '../ports'
import { openSealed } from '../sealed'
import { defineNotice, type Notice, type NoticeRow } from './define-notice'
import { addressOfLink, findLinkedAccount, type LinkedAccount, linkOf, mayWithdrawByMail } from './linked-account'
import { LINKS, type LinkKind } from './links'

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

/** `present`: the account's present address, where the link went to an older one. */
export type LinkRecipient = 'sealed' | 'present'

export interface LinkNotice extends Notice<LinkFacts, LinkRecipient> {
  name: LinkKind
}

/** The notice that carries a link of this kind. */
export const defineLinkNotice = (
  kind: LinkKind,
  message: (ctx: SystemContext, facts: LinkFacts, recipient: LinkRecipient) => Message,
): LinkNotice => ({
  ...defineNotice<LinkFacts, LinkRecipient>({
    name: kind,
    keep: ({ endsAt: expiresAt, emailKey, credentialVersion, ipAddress }) => ({
      sealed: { emailKey, credentialVersion, ipAddress } satisfies SealedLink,
      expiresAt,
    }),
    recipients: {
      sealed: ({ sentTo }) => sentTo,
      ...(LINKS[kind].goesTo === 'oldest held address' && { present: ({ present }) => present }),
    } as Record<LinkRecipient, (facts: LinkFacts) => string>,
    message,
    read: (ctx, notice) => readLink(ctx, kind, notice),
  }),
  name: kind,
})

/** The encrypted content of the row of a letter with a link. */
interface SealedLink {
  emailKey: string
  ipAddress: string
  /** Missing in a row of the last release. */
  credentialVersion?: number
}

export const linkFactsOf = (
  ctx: AnyContext,
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
async function readLink(ctx: SystemContext, kind: LinkKind, notice: NoticeRow): Promise<LinkFacts | null> {
  const { id: noticeId, user_id: userId, expires_at: endsAt } = notice
  const opened = openSealed<SealedLink>(ctx, notice.sealed)
  if (!opened || !endsAt) return null
  const { emailKey, credentialVersion, ipAddress } = opened
  const account = await findLinkedAccount(ctx, { kind, userId, endsAt })
  if (account?.email_key !== emailKey) return null
  if (account.credential_version !== (credentialVersion ?? account.credential_version)) return null
  return linkFactsOf(ctx, kind, account, { noticeId, endsAt, ipAddress })
}
