import type { AnyContext, Transaction } from '../context'
import { derivedToken } from '../derived-token'
import { SIGN_IN_LINK_MS } from '../limits/durations'
import type { NotMeLink } from '../ports'
import { sql, statement, text } from '../sql'

const token = derivedToken('nme_', 'sign-in')

interface LinkedSignIn {
  userId: string
  /** The link works only while the account has this address. */
  emailKey: string
  sessionId: string
}

const textOf = ({ userId, emailKey, sessionId }: LinkedSignIn) => [sessionId, userId, emailKey].join('\n')

/** Whether the token is that of this sign-in, sent to this address. */
export const isSignInToken = (ctx: AnyContext, given: string, of: LinkedSignIn): boolean =>
  token.isOf(ctx, given, textOf(of))

/** The token is in the fragment, which no browser sends to a server. */
export const signInLink = (ctx: AnyContext, { at, ...of }: LinkedSignIn & { at: Date }): NotMeLink => ({
  url: `${ctx.appUrl}/not-me#session=${of.sessionId}&token=${token.create(ctx, textOf(of))}`,
  until: new Date(at.getTime() + SIGN_IN_LINK_MS),
})

const endLinks = statement(
  'end-sign-in-links',
  { userId: text },
  {},
  (v) => sql`UPDATE sign_ins SET link_until = NULL WHERE user_id = ${v.userId} AND link_until IS NOT NULL`,
)

/** A password that was set by mail ends the links of all sign-ins before it. One that was set in the settings may be a thief's. */
export async function endSignInLinks(tx: Transaction, userId: string): Promise<void> {
  await tx.sql(endLinks, { userId })
}
