import { AppError } from '@/contract/errors'
import type { AnyContext, Link, SystemContext } from '../context'
import { changedSince, heldSince, restoredSince } from '../limits/held-addresses'
import { type Described, integer, sql, statement, text, time } from '../sql'
import { isTokenOf, LINKS, type LinkKind, readLinkToken } from './links'

/** What a link and its letters need to know about the account. */
const ACCOUNT = {
  user_id: text,
  external_id: text.orNull,
  name: text,
  email: text,
  email_key: text,
  locale: text.orNull,
  password_hash: text.orNull,
  credential_version: integer,
  /** When the newest change of the address that can be undone was made. */
  changed_at: time.orNull,
  /** When the newest change of the address was undone, if that was lately. */
  restored_at: time.orNull,
}
export type LinkedAccount = Described<typeof ACCOUNT>

const accountById = statement(
  'linked-account',
  { userId: text, heldSince: time },
  ACCOUNT,
  (v) => sql`SELECT u.id AS user_id, u.external_id, u.name, u.email, u.email_key, u.locale, u.password_hash,
     u.credential_version, ${changedSince(v.userId, v.heldSince)} AS changed_at,
     ${restoredSince(v.userId, v.heldSince)} AS restored_at
   FROM users u WHERE u.id = ${v.userId} AND u.withdrawn_at IS NULL`,
)

/** Null if the account was withdrawn. */
export async function findLinkedAccount(ctx: AnyContext, userId: string): Promise<LinkedAccount | null> {
  const [account] = await ctx.sql(accountById, { userId, heldSince: heldSince(ctx, ctx.clock.now()) })
  return account ?? null
}

export const linkOf = (account: LinkedAccount, { noticeId, endsAt }: Pick<Link, 'noticeId' | 'endsAt'>): Link => ({
  noticeId,
  userId: account.user_id,
  emailKey: account.email_key,
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
  const account = found && (await findLinkedAccount(ctx, found.user_id))
  if (!read || !account) throw new AppError(LINKS[kind].refusal)
  const link = linkOf(account, { noticeId: read.noticeId, endsAt: found.ends_at })
  if (!isTokenOf(ctx, kind, read.mac, link) || !mayOpen(ctx, kind, account)) throw new AppError(LINKS[kind].refusal)
  return { link, account }
}

/** Whether the link still opens its account. A transaction holds the account's lock, so that whoever ends the link comes before this or waits. */
export async function isLinkLive(ctx: AnyContext, kind: LinkKind, link: Link): Promise<boolean> {
  const account = await findLinkedAccount(ctx, link.userId)
  const isSame = account?.email_key === link.emailKey && account.credential_version === link.credentialVersion
  return isSame && mayOpen(ctx, kind, account)
}

/**
 * A mailbox does nothing final while another one can still call for help, and it never replaces the sign-in that the adopter asks for.
 */
export const mayOpen = (
  { deletionByMail, freshSignIn }: Pick<AnyContext, 'deletionByMail' | 'freshSignIn'>,
  kind: LinkKind,
  account: Pick<LinkedAccount, 'external_id' | 'changed_at' | 'restored_at'>,
): boolean => {
  const isSettled = account.changed_at === null && account.restored_at === null
  const isProofEnough = freshSignIn.requiredAcr === null || account.external_id === null
  return !LINKS[kind].isFinal || (isSettled && deletionByMail && isProofEnough)
}
