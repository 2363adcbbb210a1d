import { AppError } from '@/contract/errors'
import { normalisedPassword } from '@/contract/guessable-password'
import { addAudit } from '../audit'
import type { SystemContext } from '../context'
import { cappedCount, type Figure, readFigures } from '../figures'
import { MAX_FLOOR_AGE_MS } from '../limits/durations'
import { literal, NOTHING, type Part, real, sql, statement, text } from '../sql'
import { costliestSamples, OWN_PASSWORD_PREFIX } from './password-formats'

const BCRYPT_BYTES = 72
const MEASUREMENTS = 3
/** On an idle machine a check rarely takes that much longer than the slowest measurement. */
const FLOOR_FACTOR = 1.5

// Written as in the index users_foreign_hashes.
const IS_FOREIGN = sql`password_hash NOT LIKE ${literal(`${OWN_PASSWORD_PREFIX}%`)}`
const KIND = sql`CASE WHEN password_hash LIKE '$2%' THEN left(password_hash, 6) ELSE regexp_replace(password_hash, '[$][^$]*[$][^$]*$', '') END`

const firstKind = (after?: Part) =>
  sql`SELECT ${KIND} AS kind FROM users WHERE ${IS_FOREIGN} ${after ? sql`AND ${KIND} > ${after}` : NOTHING} ORDER BY ${KIND} LIMIT 1`

// Jumps from kind to kind by the index, so it reads one hash of each, however many there are.
export const listForeignKinds = statement(
  'list-foreign-kinds',
  {},
  { kind: text },
  () => sql`WITH RECURSIVE kinds AS (
     (${firstKind()})
     UNION ALL
     SELECT (${firstKind(sql`kinds.kind`)}) FROM kinds WHERE kinds.kind IS NOT NULL
   )
   SELECT kind FROM kinds WHERE kind IS NOT NULL LIMIT 10000`,
)

const FOREIGN_HASHES = {
  foreignHashes: cappedCount('count-foreign-hashes', {}, () => sql`FROM users WHERE ${IS_FOREIGN}`),
}

// The planner's estimates, which cost nothing to read. A half where no table was analysed yet.
const readForeignShare = statement(
  'read-foreign-share',
  {},
  { share: real },
  () => sql`SELECT coalesce(least(max(reltuples) FILTER (WHERE relkind = 'i' AND reltuples >= 0)
                 / max(reltuples) FILTER (WHERE relkind = 'r' AND reltuples > 0), 1), 0.5)::float8 AS share
   FROM pg_class WHERE oid IN ('users'::regclass, 'users_foreign_hashes'::regclass)`,
)

/** Accounts whose password hash is still in the form in which it was imported. */
export const countForeignHashes = async (ctx: SystemContext): Promise<Figure> =>
  (await readFigures(ctx, FOREIGN_HASHES, {})).foreignHashes

/**
 * The minimum time of a password check at the sign-in, in milliseconds, so that the time does not reveal an account: the slowest
 * scheme among the stored hashes takes that long on this machine. 0 if all hashes are our own. See decision 0010.
 */
export async function signInFloorMs(ctx: SystemContext): Promise<number> {
  const { signInFloor } = ctx.process
  if (ctx.clock.now().getTime() - signInFloor.readAt >= MAX_FLOOR_AGE_MS) {
    signInFloor.reading ??= readFloor(ctx).finally(() => {
      signInFloor.reading = undefined
    })
    await signInFloor.reading
  }
  return signInFloor.ms
}

/**
 * Whether a sign-in with this address waits in the line of imported hashes although no hash is known for it: addresses without an
 * account wait there as often as addresses with one, and each always in the same line, so that a long line reveals nothing.
 */
export const waitsAsForeign = ({ process, secrets }: SystemContext, emailKey: string): boolean =>
  secrets.mac('sign-in-line', emailKey).readUInt32BE() / 2 ** 32 < process.signInFloor.foreignShare

async function readFloor(ctx: SystemContext): Promise<void> {
  const { signInFloor } = ctx.process
  const samples = costliestSamples((await ctx.sql(listForeignKinds, {})).map(({ kind }) => kind))
  const [estimate] = samples.length > 0 ? await ctx.sql(readForeignShare, {}) : []
  signInFloor.foreignShare = estimate?.share ?? 0
  const measured = samples.join()
  if (measured !== signInFloor.measured) {
    let slowestMs = 0
    for (const sample of samples) {
      for (let time = 0; time < MEASUREMENTS; time++) slowestMs = Math.max(slowestMs, await timeOf(ctx, sample))
    }
    Object.assign(signInFloor, { measured, ms: Math.ceil(slowestMs * FLOOR_FACTOR) })
  }
  signInFloor.readAt = ctx.clock.now().getTime()
}

async function timeOf(ctx: SystemContext, sample: string): Promise<number> {
  try {
    return await ctx.passwords.timeOf(sample)
  } catch (error) {
    if (error instanceof AppError) throw error
    // The scheme is unknown. Nobody can sign in with such a hash, but everybody else still can.
    return 0
  }
}

const replaceHash = statement(
  'renew-hash',
  { userId: text, from: text, to: text },
  { id: text },
  (v) => sql`UPDATE users SET password_hash = ${v.to}
   WHERE id = ${v.userId} AND password_hash = ${v.from} AND withdrawn_at IS NULL RETURNING id`,
)

interface Proven {
  userId: string
  passwordHash: string | null
  password: string
  /** `as_typed`: our own hash is of another form of the password than we hash today. */
  fits?: boolean | 'as_typed'
}

/**
 * Runs after a correct password and stores it in our own form, in the background. The password stays the same, so no session ends
 * and no change is cancelled. If it was changed meanwhile, nothing happens.
 */
export function renewHash(ctx: SystemContext, { userId, passwordHash, password, fits }: Proven): void {
  if (passwordHash === null || (passwordHash.startsWith(OWN_PASSWORD_PREFIX) && fits !== 'as_typed')) return
  const forms = [password, normalisedPassword(password)]
  // Bcrypt ignores what follows, so that a typing error there would become the password.
  if (passwordHash.startsWith('$2') && forms.some((form) => Buffer.byteLength(form) > BCRYPT_BYTES)) return
  ctx.background(async () => {
    try {
      const to = await ctx.passwords.hash(password)
      await ctx.transaction(async (tx) => {
        const [renewed] = await tx.sql(replaceHash, { userId, from: passwordHash, to })
        const by = { actor: 'system', ip: null, at: tx.clock.now() }
        if (renewed) await addAudit(tx, 'password.renewed', { ...by, userId })
      })
    } catch (error) {
      // The queue of passwords to hash is full; the next sign-in renews the hash.
      if (!(error instanceof AppError)) throw error
    }
  })
}
