import { type Actor, NO_ACCOUNT, type SystemContext } from '../context'
import { openLink } from '../mail/linked-account'
import { sha256 } from '../sessions/authenticate'
import { bytes, sql, statement, text, time } from '../sql'

const usedLink = statement(
  'used-link',
  { hash: bytes, now: time },
  { withdrawal_id: text, user_id: text },
  (v) => sql`SELECT withdrawal_id, user_id FROM ended_credentials
   WHERE credential_hash = ${v.hash} AND made_the_call AND expires_at > ${v.now}`,
)

/** The caller that a mailed deletion link stands for. Refuses every link that does not work with one answer. */
export async function authenticateLink(ctx: SystemContext, token: string, isRepeatable: boolean): Promise<Actor> {
  const hash = sha256(token)
  const [used] = isRepeatable ? await ctx.sql(usedLink, { hash, now: ctx.clock.now() }) : []
  if (used) return toActor(used.user_id, { withdrawal: { id: used.withdrawal_id, madeTheCall: true } })
  const { link, account } = await openLink(ctx, 'withdrawal_requested', token)
  const credential = { hash, expiresAt: link.endsAt, issuedAt: null, authenticatedAt: null, acr: null }
  const user = { ...NO_ACCOUNT.user, email: account.email }
  return toActor(link.userId, { id: link.noticeId, user, link, rowless: credential })
}

const toActor = (userId: string, more: Partial<Actor>): Actor => ({
  ...NO_ACCOUNT,
  kind: 'mailed_link',
  id: '',
  userId,
  scopes: ['account:manage'],
  ...more,
})
