import { isStorable } from '@/contract/define'
import type { SystemContext } from '../context'
import { MAX_AHEAD_MS } from '../limits/durations'
import { integer, sql, statement, text } from '../sql'
import { type Browser, signInTo } from './sign-ins'

interface ByProvider extends Browser {
  /** The provider's `sub`. It is compared with the external id; the address is not used. */
  subject: string
  /** The claim `auth_time` of the ID token; null if it is missing. */
  authenticatedAt: Date | null
  acr: string | null
  /** The session that this browser held. */
  replaces?: string | undefined
}

const byExternalId = statement(
  'user-by-external-id',
  { externalId: text },
  { id: text, credential_version: integer },
  (v) => sql`SELECT id, credential_version FROM users WHERE external_id = ${v.externalId} AND withdrawn_at IS NULL`,
)

/** Starts a session for the account whose external id is this subject; null without one. */
export async function signInWithProvider(
  ctx: SystemContext,
  { subject, authenticatedAt, acr, replaces, ...browser }: ByProvider,
): Promise<{ sessionId: string; userId: string } | null> {
  const [user] = isStorable(subject) ? await ctx.sql(byExternalId, { externalId: subject }) : []
  if (!user) return null
  const { requiredAcr } = ctx.freshSignIn
  const isAhead = authenticatedAt !== null && authenticatedAt.getTime() > ctx.clock.now().getTime() + MAX_AHEAD_MS
  const isStrong = requiredAcr === null || acr === requiredAcr
  const sessionId = await signInTo(ctx, {
    way: 'oidc',
    userId: user.id,
    credentialVersion: user.credential_version,
    // Without it the session never counts as fresh, so the person must sign in again where that is needed.
    authenticatedAt: isAhead || !isStrong ? null : authenticatedAt,
    browser,
    replaces,
  })
  return sessionId ? { sessionId, userId: user.id } : null
}
