import { parseAddress } from '@/contract/address'
import { type SystemContext, statement } from '../context'
import { givePlacesBack, pseudonymousBucket, takePlaces } from '../rate-limit'
import { startSession } from './sessions'

const byEmailKey = statement(
  'user-by-email',
  'SELECT id, name, email, password_hash FROM users WHERE email_key = $1 AND withdrawn_at IS NULL',
)

/**
 * Checks e-mail and password and starts a session; null when they do not match.
 * Counted before hashing and for the pair of account and client, so that no stranger locks an owner out.
 */
export async function signIn(
  ctx: SystemContext,
  input: { email: string; password: string; userAgent: string; ip: string },
): Promise<{ sessionId: string; userId: string; name: string; email: string } | null> {
  const key = parseAddress(input.email)?.key ?? ''
  const places = await takePlaces(ctx, {
    take: [
      pseudonymousBucket(ctx, 'signIn', `${key}\n${input.ip}`),
      pseudonymousBucket(ctx, 'signInAddress', input.ip),
    ],
    code: 'RATE_001',
  })
  const [user] = key
    ? await ctx.sql<{ id: string; name: string; email: string; password_hash: string }>(byEmailKey, [key])
    : []
  const correct = await ctx.passwords.verify(user?.password_hash, input.password)
  if (!user || !correct) return null
  await givePlacesBack(ctx, places)
  const sessionId = await startSession(ctx, { userId: user.id, userAgent: input.userAgent, ip: input.ip })
  return sessionId ? { sessionId, userId: user.id, name: user.name, email: user.email } : null
}
