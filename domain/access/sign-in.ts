import { isIPv6 } from 'node:net'
import { parseAddress } from '@/contract/address'
import type { BucketState, SystemContext } from '../context'
import { givePlacesBack, pseudonymousBucket, takePlaces } from '../limits/buckets'
import { statement } from '../sql'
import { renewForeignHash, signInFloorMs } from './foreign-hashes'
import { signOut, startSession } from './sessions'

interface UserRow {
  id: string
  name: string
  email: string
  password_hash: string | null
  credential_version: number
}

const byEmailKey = statement<{ emailKey: string }, UserRow>(
  'user-by-email',
  (v) => `SELECT id, name, email, password_hash, credential_version FROM users
   WHERE email_key = ${v.emailKey} AND withdrawn_at IS NULL`,
)

/**
 * Checks e-mail and password and starts a session; null when they do not match.
 * Counted before hashing and for the pair of account and client, so that no stranger locks an owner out.
 * `replaces` is the session that the same browser held: nobody could reach it any more, so it ends.
 */
export async function signIn(
  ctx: SystemContext & { buckets?: BucketState[] },
  input: { email: string; password: string; userAgent: string; ip: string; replaces?: string },
): Promise<{ sessionId: string; userId: string; name: string; email: string } | null> {
  const key = parseAddress(input.email)?.key ?? ''
  const network = networkOf(input.ip)
  const places = await takePlaces(ctx, {
    take: [pseudonymousBucket(ctx, 'signIn', `${key}\n${network}`), pseudonymousBucket(ctx, 'signInAddress', network)],
    code: 'RATE_001',
  })
  const user = await whoseIs(ctx, { key, password: input.password }).catch(async (error) => {
    // Not looked at, and so not wrong.
    await givePlacesBack(ctx, places).catch(() => {})
    throw error
  })
  if (!user) return null
  await givePlacesBack(ctx, places)
  const { id: userId, name, email, credential_version: credentialVersion } = user
  const { userAgent, ip } = input
  const authenticatedAt = ctx.clock.now()
  const sessionId = await startSession(ctx, { userId, credentialVersion, authenticatedAt, userAgent, ip })
  if (!sessionId) return null
  renewForeignHash(ctx, { userId, passwordHash: user.password_hash, password: input.password })
  if (input.replaces) await signOut(ctx, input.replaces)
  return { sessionId, userId, name, email }
}

/** Null when nobody has both; what nobody has takes as long. */
async function whoseIs(
  ctx: SystemContext,
  { key, password }: { key: string; password: string },
): Promise<UserRow | null> {
  const notBeforeMs = await signInFloorMs(ctx)
  const [user] = key ? await ctx.sql(byEmailKey, { emailKey: key }) : []
  const fits = await ctx.passwords.verify(user?.password_hash ?? undefined, password, notBeforeMs)
  return fits && user ? user : null
}

/** Who has one IPv6 address has the other 2⁶⁴ of its network as well. */
export function networkOf(ip: string): string {
  if (!isIPv6(ip)) return ip
  const [head = '', tail] = ip.split('::')
  const groups = head.split(':').filter(Boolean)
  const rest = tail?.split(':') ?? []
  const zeros = tail === undefined ? 0 : 8 - groups.length - rest.length
  return [...groups, ...Array<string>(zeros).fill('0'), ...rest]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}
