import type { AnyContext, LinkContext } from '../context'
import { refuseWrongLink } from '../mail/not-me-links'
import { isSignInToken } from '../sessions/sign-in-link'
import { fenced, type RowOf, sql, statement, text, time } from '../sql'

type SignInOfLink = RowOf<typeof findSignIn>

const findSignIn = statement(
  'sign-in-of-link',
  { sessionId: text, now: time },
  {
    user_id: text,
    name: text,
    email: text,
    email_key: text,
    password_hash: text.orNull,
    user_agent: text,
    ip: text,
    at: time,
    link_until: time,
  },
  (v) => sql`SELECT s.user_id, u.name, u.email, coalesce(u.email_key, '') AS email_key, u.password_hash,
     s.user_agent, s.ip, s.at, coalesce(s.link_until, s.at) AS link_until
   FROM (${fenced(sql`SELECT * FROM sign_ins WHERE session_id = ${v.sessionId}`)}) AS s JOIN users u ON u.id = s.user_id
   WHERE s.link_until > ${v.now} AND u.withdrawn_at IS NULL`,
)

/** Undefined if the link does not open this sign-in, or no longer does. */
export async function findSignInOfLink(
  ctx: AnyContext & Pick<LinkContext, 'linkToken'>,
  sessionId: string,
): Promise<SignInOfLink | undefined> {
  const [found] = await ctx.sql(findSignIn, { sessionId, now: ctx.clock.now() })
  const isOf = found && { userId: found.user_id, emailKey: found.email_key, sessionId }
  return isOf && isSignInToken(ctx, ctx.linkToken, isOf) ? found : undefined
}

export const requireSignInOfLink = async (ctx: LinkContext, sessionId: string): Promise<SignInOfLink> =>
  (await findSignInOfLink(ctx, sessionId)) ?? refuseWrongLink(ctx)
