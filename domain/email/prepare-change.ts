import type { Address } from '@/contract/address'
import type { Input } from '@/contract/define'
import type { changeEmail as contract } from '@/contract/email'
import { AppError, RULES } from '@/contract/errors'
import type { Context } from '../context'
import { pseudonymousBucket, type TakenPlaces, takePlaces, takePlacesBeside, userBucket } from '../limits/buckets'
import { heldSince } from '../limits/held-addresses'
import { renewHash } from '../passwords/foreign-hashes'
import { countGuess, guessBuckets } from '../passwords/guesses'
import { requireFreshSignIn } from '../sessions/fresh-sign-in'
import { boolean, integer, type Part, sql, text, time } from '../sql'
import { isOwnAddress } from './set-address'

export const TARGET = { userId: text, newEmailKey: text, heldSince: time }

/** The user's own address can be verified: it never was, or messages to it come back. */
const NEEDS_PROOF = sql`(h.email_verified_at IS NULL OR h.email_undeliverable_at IS NOT NULL)`

/** An account has the address, or it is held for one. The user's own address counts only if it needs no proof. */
export const addressTakenPart = (v: { newEmailKey: Part; userId: Part; heldSince: Part }) =>
  sql`coalesce((SELECT h.id <> ${v.userId} OR NOT ${NEEDS_PROOF} FROM users h WHERE h.email_key = ${v.newEmailKey}),
     (SELECT address_is_held(${v.newEmailKey}, ${v.userId}, ${v.heldSince})))`

// Reads the limits and what they guard in one statement. The hash is compared only if all limits have room.
const takeAndReadAccount = takePlacesBeside(
  'begin-email-change',
  TARGET,
  {
    /** Null if the account ended meanwhile. */
    user_id: text.orNull,
    password_hash: text.orNull,
    credential_version: integer.whenJoined,
    is_address_taken: boolean.whenJoined,
  },
  (v) => sql`SELECT u.id AS user_id, u.password_hash, u.credential_version, ${addressTakenPart(v)} AS is_address_taken
   FROM users u WHERE u.id = ${v.userId} AND u.withdrawn_at IS NULL`,
)

export interface PreparedChange {
  /** The places of the change and of its message. */
  places: TakenPlaces
  /** The key of the limit of the messages to the address. */
  targetBucket: string
  /** The version of the password that was right. */
  credentialVersion: number
  hasPassword: boolean
}

/**
 * Requires the proof and a free address, and takes the places of a change. Counts a guess before it hashes the password, so that only
 * five of any number of concurrent guesses are hashed.
 */
export async function prepareChange(
  ctx: Context,
  address: Address,
  input: Input<typeof contract>,
): Promise<PreparedChange> {
  const { userId } = ctx.actor
  const messages = pseudonymousBucket(ctx, 'targetMail', address.key)
  const quota = [userBucket(ctx, 'change', userId), pseudonymousBucket(ctx, 'target', address.key), messages]
  const wanted = { take: guessBuckets(ctx, userId), look: [...quota, takenAddressBucket(ctx)] }
  const target = { userId, newEmailKey: address.key, heldSince: heldSince(ctx, ctx.clock.now()) }
  const { places: guess, row: account } = await takeAndReadAccount(ctx, wanted, target)
  if (!account.user_id) throw new AppError('AUTH_001')
  const { password_hash: passwordHash, credential_version: credentialVersion, is_address_taken } = account
  await countGuess(ctx, guess, () => requireProof(ctx, passwordHash, input))
  const { current_password: password } = input
  if (password !== undefined) renewHash(ctx, { userId, passwordHash, password })
  if (is_address_taken) throw await refusalOfTakenAddress(ctx, address)
  const places = await takePlaces(ctx, { take: quota })
  return { places, targetBucket: messages.key, credentialVersion, hasPassword: passwordHash !== null }
}

/** Of changes to addresses that somebody has. */
const takenAddressBucket = (ctx: Context) => userBucket(ctx, 'taken', ctx.actor.userId)

export async function refusalOfTakenAddress(ctx: Context, address: Address): Promise<AppError> {
  await takePlaces(ctx, { take: [takenAddressBucket(ctx)] })
  return new AppError('EMAIL_002', isOwnAddress(ctx, address) ? RULES.ownAddress : undefined)
}

/** Requires the password or, for an account without one, a fresh sign-in; throws REAUTH_001 if that is too old. */
async function requireProof(ctx: Context, hash: string | null, input: Input<typeof contract>): Promise<void> {
  const { current_password: password, reauthentication } = input
  const { verify } = ctx.passwords
  if (hash === null && password === undefined && reauthentication) return requireFreshSignIn(ctx, 'change')
  if (!reauthentication && (await verify(hash ?? undefined, password ?? '', { signal: ctx.clientGone?.() }))) return
  throw AppError.counted('EMAIL_007', refusedProof(hash, input))
}

function refusedProof(hash: string | null, { reauthentication }: Input<typeof contract>): string | undefined {
  if (hash === null) return 'This account has no password. Send reauthentication alone, after a fresh sign-in.'
  return reauthentication && 'This account has a password. Send current_password alone.'
}
