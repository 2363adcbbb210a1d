import type * as contract from '@/contract/access'
import type { Data, Input } from '@/contract/define'
import { addEvent } from '../applications/events'
import { addAudit } from '../audit'
import type { LinkContext } from '../context'
import { pseudonymousBucket, takePlaces, withPlaces } from '../limits/buckets'
import { takeReadPlaceOf } from '../limits/reads'
import { lockAccountOfId } from '../lock-account'
import { wrongLink } from '../mail/not-me-links'
import { noteIncident } from '../security-incidents'
import { endSignInLinks } from '../sessions/sign-in-link'
import { hashRequired, refuseLostPassword, replaceAndNotify, replacePassword } from './replace-password'
import { findSignInOfLink, requireSignInOfLink } from './sign-in-of-link'

/** What the link's page shows before its button is pressed. */
export async function getSignIn(
  ctx: LinkContext,
  { sessionId }: Input<typeof contract.getSignIn>,
): Promise<Data<typeof contract.getSignIn>> {
  const signIn = await requireSignInOfLink(ctx, sessionId)
  // After the check, so that a link that no longer works is answered like a wrong one, without limit headers.
  takeReadPlaceOf(ctx, sessionId)
  return {
    session_id: sessionId,
    signed_in_at: signIn.at.toISOString(),
    user_agent: signIn.user_agent,
    ip_address: signIn.ip,
    email: signIn.email,
    has_password: signIn.password_hash !== null,
    works_until: signIn.link_until.toISOString(),
  }
}

/** Called by whoever reads the mailbox of the account: ends all access, and sets a new password where there is one. */
export async function disownSignIn(
  ctx: LinkContext,
  { sessionId, new_password: password }: Input<typeof contract.disownSignIn>,
): Promise<Data<typeof contract.disownSignIn>> {
  const { user_id: userId, password_hash: current, ...person } = await requireSignInOfLink(ctx, sessionId)
  const places = await takePlaces(ctx, { take: [pseudonymousBucket(ctx, 'notMe', sessionId)] })
  // A rejected new password does not count toward the limit.
  const passwordHash = await withPlaces(ctx, places, () => hashRequired(ctx, { current, password, person }))
  return ctx.transaction(async (tx) => {
    const account = await lockAccountOfId(tx, userId)
    // Another press, a new password by mail or another address may have ended the link meanwhile.
    if (!account || !(await findSignInOfLink(tx, sessionId))) throw wrongLink()
    refuseLostPassword(account, passwordHash)
    const by = { actor: 'mailed_link', ip: tx.ip, userAgent: tx.userAgent }
    const at = tx.clock.now()
    await Promise.all([
      passwordHash !== null && account.has_password
        ? replaceAndNotify(tx, account, { action: 'password.reset', by, passwordHash })
        : Promise.all([
            replacePassword(tx, { userId, passwordHash: null, at }),
            addEvent(tx, 'account.sessions_ended', { userId, at }),
          ]),
      endSignInLinks(tx, userId),
      addAudit(tx, 'sign_in.disowned', { userId, ...by, subject: sessionId, at }),
      noteIncident(tx, 'sign_in_disowned', { userId }),
    ])
    return { session_id: sessionId, ended: true }
  })
}
