import { AppError } from '@/contract/errors'
import type { LinkContext, SystemContext } from '../context'
import { type Described, integer, type Shape, type Sql, sql, statement, text, time } from '../sql'
import { isTokenOf, LINKS, type LinkKind, readLinkToken } from './links'

/** What a link and its letter need to know about the account. */
const ACCOUNT = {
  user_id: text,
  name: text,
  email: text,
  email_key: text,
  locale: text.orNull,
  password_hash: text.orNull,
  credential_version: integer,
} satisfies Shape
export type LinkedAccount = Described<typeof ACCOUNT>

const COLUMNS = sql`u.id AS user_id, u.name, u.email, u.email_key, u.locale, u.password_hash, u.credential_version`

const accountById = statement(
  'linked-account',
  { userId: text },
  ACCOUNT,
  (v) => sql`SELECT ${COLUMNS} FROM users u WHERE u.id = ${v.userId} AND u.withdrawn_at IS NULL`,
)

/** Null for an account that was withdrawn. */
export async function findLinkedAccount(sql: Sql, userId: string): Promise<LinkedAccount | null> {
  const [account] = await sql(accountById, { userId })
  return account ?? null
}

const accountOfLink = statement(
  'account-of-link',
  { noticeId: text, kind: text.of<LinkKind>(), now: time },
  { ...ACCOUNT, ends_at: time },
  (v) => sql`SELECT ${COLUMNS}, n.expires_at AS ends_at FROM notices n JOIN users u ON u.id = n.user_id
   WHERE n.id = ${v.noticeId} AND n.kind = ${v.kind} AND n.expires_at > ${v.now} AND u.withdrawn_at IS NULL`,
)

export const linkOf = (
  { user_id: userId, email_key: emailKey, credential_version: credentialVersion }: LinkedAccount,
  { noticeId, endsAt }: { noticeId: string; endsAt: Date },
) => ({ noticeId, userId, emailKey, credentialVersion, endsAt })

/** What the link of this call opens. Refuses one that was used, is too old, or is not that of the account as it is now. */
export async function openLink(
  ctx: SystemContext & Pick<LinkContext, 'linkToken'>,
  kind: LinkKind,
): Promise<{ noticeId: string; endsAt: Date; account: LinkedAccount }> {
  const token = readLinkToken(kind, ctx.linkToken)
  const [found] = token ? await ctx.sql(accountOfLink, { noticeId: token.noticeId, kind, now: ctx.clock.now() }) : []
  if (!token || !found) throw new AppError(LINKS[kind].refusal)
  const { ends_at: endsAt, ...account } = found
  const { noticeId, mac } = token
  if (!isTokenOf(ctx, kind, mac, linkOf(account, { noticeId, endsAt }))) throw new AppError(LINKS[kind].refusal)
  return { noticeId, endsAt, account }
}
