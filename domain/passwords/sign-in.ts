import { parseAddress } from '@/contract/address'
import { AppError } from '@/contract/errors'
import type { SystemContext } from '../context'
import { givePlacesBack, type NotingContext, networkOf, pseudonymousBucket, takePlaces } from '../limits/buckets'
import { noteIncident } from '../security-incidents'
import { type Browser, noteRefusedSignIn, signInTo } from '../sessions/sign-ins'
import { integer, type RowOf, sql, statement, text } from '../sql'
import { renewHash, signInFloorMs, waitsAsForeign } from './foreign-hashes'

const byEmailKey = statement(
  'user-by-email',
  { emailKey: text },
  {
    id: text,
    name: text,
    email: text,
    password_hash: text.orNull,
    credential_version: integer,
  },
  (v) => sql`SELECT id, name, email, password_hash, credential_version FROM users
   WHERE email_key = ${v.emailKey} AND withdrawn_at IS NULL`,
)

/**
 * Checks e-mail and password and starts a session; null if they do not match. The attempt is counted before hashing and for the pair of
 * account and client, so that a stranger cannot lock an owner out. `replaces` is the session that this browser held. It ends, because
 * nobody could reach it any more.
 */
export async function signIn(
  ctx: SystemContext & NotingContext,
  { replaces, ...input }: { email: string; password: string; replaces?: string | undefined } & Browser,
): Promise<{ sessionId: string; userId: string; name: string; email: string } | null> {
  const key = parseAddress(input.email)?.key ?? ''
  const network = networkOf(input.ip)
  const places = await takePlaces(ctx, {
    take: [pseudonymousBucket(ctx, 'signIn', `${key}\n${network}`), pseudonymousBucket(ctx, 'signInAddress', network)],
  }).catch((error) => {
    if (error instanceof AppError && key) {
      noteRefusedSignIn(ctx, key, input)
      ctx.background(() => noteIncident(ctx, 'sign_in_locked', { emailKey: key }))
    }
    throw error
  })
  const user = await findProvenUser(ctx, { key, password: input.password }).catch(async (error) => {
    // The password was not checked, so the attempt does not count.
    await givePlacesBack(ctx, places).catch(() => {})
    throw error
  })
  if (!user) {
    if (key) noteRefusedSignIn(ctx, key, input)
    return null
  }
  await givePlacesBack(ctx, places)
  const { id: userId, name, email, credential_version: credentialVersion } = user
  const { userAgent, ip, device } = input
  // The setting asks for what only the identity provider can show, so the person confirms there what needs a fresh sign-in.
  const isWeak = ctx.freshSignIn.requiredAcr !== null
  const authenticatedAt = ctx.clock.now()
  const sessionId = await signInTo(ctx, {
    ...{ userId, credentialVersion, authenticatedAt, isWeak, replaces },
    ...{ way: 'password', browser: { userAgent, ip, device } },
  })
  if (!sessionId) return null
  renewHash(ctx, { userId, passwordHash: user.password_hash, password: input.password, fits: user.fits })
  return { sessionId, userId, name, email }
}

/** Null when no account has this address and password; an unknown address takes as long as a known one. */
async function findProvenUser(
  ctx: SystemContext,
  { key, password }: { key: string; password: string },
): Promise<(RowOf<typeof byEmailKey> & { fits: true | 'as_typed' }) | null> {
  const notBeforeMs = await signInFloorMs(ctx)
  const [user] = key ? await ctx.sql(byEmailKey, { emailKey: key }) : []
  const fits = await ctx.passwords.verify(user?.password_hash ?? undefined, password, {
    notBeforeMs,
    isForeign: waitsAsForeign(ctx, key),
    signal: ctx.clientGone?.(),
  })
  return fits && user ? { ...user, fits } : null
}
