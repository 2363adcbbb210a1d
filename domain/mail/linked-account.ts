import { parseAddress } from '@/contract/address'
import { AppError } from '@/contract/errors'
import type { AnyContext, Link, SystemContext } from '../context'
import { HAS_REPLACED, heldSince } from '../limits/held-addresses'
import { type Described, integer, type Part, type Shape, sql, statement, text, time } from '../sql'
import { isTokenOf, LINKS, type LinkKind, readLinkToken } from './links'

/** What a link and its letters need to know about the account. */
const ACCOUNT = {
  user_id: text,
  external_id: text.orNull,
  name: text,
  email: text,
  email_key: text,
  /** The oldest address that a change of the undo window replaced; null for none. */
  replaced: text.orNull,
  locale: text.orNull,
  password_hash: text.orNull,
  credential_version: integer,
} satisfies Shape
export type LinkedAccount = Described<typeof ACCOUNT>

const columns = (since: Part) =>
  sql`u.id AS user_id, u.external_id, u.name, u.email, u.email_key, u.locale, u.password_hash, u.credential_version,
     (SELECT r.old_email FROM email_change_requests r
      WHERE r.user_id = u.id AND ${HAS_REPLACED} AND r.closed_at > ${since}
      ORDER BY r.closed_at, r.account_version LIMIT 1) AS replaced`

const accountById = statement(
  'linked-account',
  { userId: text, heldSince: time },
  ACCOUNT,
  (v) => sql`SELECT ${columns(v.heldSince)} FROM users u WHERE u.id = ${v.userId} AND u.withdrawn_at IS NULL`,
)

/** The addresses that could be given back when the link was asked for: a link that was sent to one works as long as the others do. */
const heldAtRequest = (ctx: AnyContext, kind: LinkKind, endsAt: Date): Date =>
  heldSince(ctx, new Date(endsAt.getTime() - LINKS[kind].lifetimeMs))

/** The account of a link with this end; null if it was withdrawn. */
export async function findLinkedAccount(
  ctx: AnyContext,
  { kind, userId, endsAt }: { kind: LinkKind; userId: string; endsAt: Date },
): Promise<LinkedAccount | null> {
  const [account] = await ctx.sql(accountById, { userId, heldSince: heldAtRequest(ctx, kind, endsAt) })
  return account ?? null
}

/** Where the link goes: somebody else may have taken the account over and read its present address. */
export const addressOfLink = (kind: LinkKind, { email, replaced }: LinkedAccount): string =>
  (LINKS[kind].goesTo === 'oldest held address' && replaced) || email

export const linkOf = (
  kind: LinkKind,
  account: LinkedAccount,
  { noticeId, endsAt }: Pick<Link, 'noticeId' | 'endsAt'>,
): Link => ({
  noticeId,
  userId: account.user_id,
  emailKey: account.email_key,
  sentToKey: parseAddress(addressOfLink(kind, account))?.key ?? '',
  credentialVersion: account.credential_version,
  endsAt,
})

const endOfLink = statement(
  'end-of-link',
  { noticeId: text, kind: text.of<LinkKind>(), now: time },
  { user_id: text, ends_at: time },
  (v) => sql`SELECT user_id, expires_at AS ends_at FROM notices
   WHERE id = ${v.noticeId} AND kind = ${v.kind} AND expires_at > ${v.now}`,
)

/** What a token opens. Refuses one that was used, is too old, or is not that of the account as it is now. */
export async function openLink(
  ctx: SystemContext,
  kind: LinkKind,
  token: string,
): Promise<{ link: Link; account: LinkedAccount }> {
  const read = readLinkToken(kind, token)
  const [found] = read ? await ctx.sql(endOfLink, { noticeId: read.noticeId, kind, now: ctx.clock.now() }) : []
  const account = found && (await findLinkedAccount(ctx, { kind, userId: found.user_id, endsAt: found.ends_at }))
  if (!read || !account) throw new AppError(LINKS[kind].refusal)
  const link = linkOf(kind, account, { noticeId: read.noticeId, endsAt: found.ends_at })
  if (!isTokenOf(ctx, kind, read.mac, link)) throw new AppError(LINKS[kind].refusal)
  return { link, account }
}

/** Whether the link still opens its account. A transaction holds the account's lock, so that whoever ends the link comes before this or waits. */
export async function isLinkLive(ctx: AnyContext, kind: LinkKind, link: Link): Promise<boolean> {
  const account = await findLinkedAccount(ctx, { kind, userId: link.userId, endsAt: link.endsAt })
  const now = account && linkOf(kind, account, link)
  return now !== null && isSame(now, link)
}

const isSame = (one: Link, other: Link) =>
  one.emailKey === other.emailKey &&
  one.sentToKey === other.sentToKey &&
  one.credentialVersion === other.credentialVersion

/** A mailbox is never more than the adopter's own proof, so it does not replace the sign-in that the adopter asks for. */
export const mayWithdrawByMail = (
  { deletionByMail, freshSignIn }: Pick<SystemContext, 'deletionByMail' | 'freshSignIn'>,
  { external_id: externalId }: Pick<LinkedAccount, 'external_id'>,
): boolean => deletionByMail && (freshSignIn.requiredAcr === null || externalId === null)
