import { isIPv6 } from 'node:net'
import { parseAddress } from '@/contract/address'
import { isStorable } from '@/contract/define'
import type { BucketState, SystemContext } from '../context'
import { givePlacesBack, pseudonymousBucket, takePlaces } from '../limits/buckets'
import { MAX_AHEAD_MS } from '../limits/durations'
import { renewForeignHash, signInFloorMs, waitsAsForeign } from '../passwords/foreign-hashes'
import { boolean, integer, type RowOf, sql, statement, text } from '../sql'
import { signOut, startSession } from './sessions'

type UserRow = RowOf<typeof byEmailKey>

const byEmailKey = statement(
  'user-by-email',
  { emailKey: text },
  {
    id: text,
    name: text,
    email: text,
    password_hash: text.orNull,
    credential_version: integer,
    has_external_id: boolean,
  },
  (
    v,
  ) => sql`SELECT id, name, email, password_hash, credential_version, external_id IS NOT NULL AS has_external_id FROM users
   WHERE email_key = ${v.emailKey} AND withdrawn_at IS NULL`,
)

/**
 * Checks e-mail and password and starts a session; null if they do not match. The attempt is counted before hashing and for the pair of account and client, so that a stranger cannot lock an owner
 * out. `replaces` is the session that this browser held. It ends, because nobody could reach it any more.
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
    // The password was not checked, so the attempt does not count.
    await givePlacesBack(ctx, places).catch(() => {})
    throw error
  })
  if (!user) return null
  await givePlacesBack(ctx, places)
  const { id: userId, name, email, credential_version: credentialVersion } = user
  const { userAgent, ip } = input
  // The setting asks for what only the identity provider can show, so the person confirms there what needs a fresh sign-in.
  const isWeak = ctx.freshSignIn.requiredAcr !== null && user.has_external_id
  const authenticatedAt = isWeak ? null : ctx.clock.now()
  const sessionId = await startSession(ctx, { userId, credentialVersion, authenticatedAt, userAgent, ip })
  if (!sessionId) return null
  renewForeignHash(ctx, { userId, passwordHash: user.password_hash, password: input.password })
  if (input.replaces) await signOut(ctx, input.replaces)
  return { sessionId, userId, name, email }
}

interface ByProvider {
  /** The provider's `sub`. It is compared with the external id; the address is not used. */
  subject: string
  /** The claim `auth_time` of the ID token; null if it is missing. */
  authenticatedAt: Date | null
  acr: string | null
  userAgent: string
  ip: string
  replaces?: string
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
  { subject, authenticatedAt, acr, userAgent, ip, replaces }: ByProvider,
): Promise<{ sessionId: string; userId: string } | null> {
  const [user] = isStorable(subject) ? await ctx.sql(byExternalId, { externalId: subject }) : []
  if (!user) return null
  const { requiredAcr } = ctx.freshSignIn
  const isAhead = authenticatedAt !== null && authenticatedAt.getTime() > ctx.clock.now().getTime() + MAX_AHEAD_MS
  const isStrong = requiredAcr === null || acr === requiredAcr
  const sessionId = await startSession(ctx, {
    userId: user.id,
    credentialVersion: user.credential_version,
    // Without it the session never counts as fresh, so the person must sign in again where that is needed.
    authenticatedAt: isAhead || !isStrong ? null : authenticatedAt,
    userAgent,
    ip,
  })
  if (!sessionId) return null
  if (replaces) await signOut(ctx, replaces)
  return { sessionId, userId: user.id }
}

/** Null when no account has this address and password; an unknown address takes as long as a known one. */
async function whoseIs(
  ctx: SystemContext,
  { key, password }: { key: string; password: string },
): Promise<UserRow | null> {
  const notBeforeMs = await signInFloorMs(ctx)
  const [user] = key ? await ctx.sql(byEmailKey, { emailKey: key }) : []
  const fits = await ctx.passwords.verify(user?.password_hash ?? undefined, password, {
    notBeforeMs,
    isForeign: waitsAsForeign(ctx, key),
    signal: ctx.clientGone?.(),
  })
  return fits && user ? user : null
}

/** A client with one IPv6 address can use all 2⁶⁴ addresses of its network. */
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
