import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'
import { promisify } from 'node:util'
import { AppError } from '@/contract/errors'
import type { AnyContext, SystemContext, Transaction } from '../../context'
import { withIsoTimes } from '../../iso-times'
import { KEY_PUBLISHED_BEFORE_MS, SIGNING_KEYS_KEPT_MS } from '../../limits/durations'
import type { SigningKey } from '../../process'
import { bytes, integer, type RowOf, sql, statement, text, time } from '../../sql'

type KeyRow = RowOf<typeof readKeys>

const readKeys = statement(
  'signing-keys',
  {},
  { number: integer, kid: text, public_key: text, sealed_private: bytes.orNull, created_at: time, signs_from: time },
  () => sql`SELECT number, kid, public_key, sealed_private, created_at, signs_from FROM signing_keys ORDER BY number`,
)

// If two instances create the key of one number, the first wins.
const insertKey = statement(
  'insert-signing-key',
  { number: integer, kid: text, publicKey: text, sealedPrivate: bytes, now: time, signsFrom: time },
  { number: integer },
  (v) => sql`INSERT INTO signing_keys (number, kid, public_key, sealed_private, created_at, signs_from)
   VALUES (${v.number}, ${v.kid}, ${v.publicKey}, ${v.sealedPrivate}, ${v.now}, ${v.signsFrom})
   ON CONFLICT (number) DO NOTHING RETURNING number`,
)
const deleteEarlier = statement(
  'delete-earlier-private-keys',
  { number: integer },
  {},
  (v) => sql`UPDATE signing_keys SET sealed_private = NULL WHERE number < ${v.number} AND sealed_private IS NOT NULL`,
)

// A restored backup does not know the keys that were made after it. Their private parts are lost, but their signatures must stay
// verifiable.
const insertPublic = statement(
  'insert-public-keys',
  { keys: text },
  {},
  (v) => sql`INSERT INTO signing_keys (number, kid, public_key, created_at, signs_from)
   SELECT coalesce((SELECT max(number) FROM signing_keys), 0) + row_number() OVER (ORDER BY key.signs_from), key.*
   FROM jsonb_to_recordset(${v.keys}::jsonb) AS key (kid text, public_key text, created_at timestamptz, signs_from timestamptz)
   WHERE NOT EXISTS (SELECT FROM signing_keys known WHERE known.kid = key.kid)`,
)

export interface PublicKey {
  kid: string
  public_key: string
  created_at: string
  signs_from: string
}

/** The public parts of all keys. */
export async function readSigningKeys(ctx: SystemContext): Promise<PublicKey[]> {
  const rows = await ctx.sql(readKeys, {})
  return rows.map(({ number: _, sealed_private: __, ...key }) => withIsoTimes(key))
}

export const restorePublicKeys = ({ sql }: AnyContext, keys: PublicKey[]): Promise<unknown> =>
  sql(insertPublic, { keys: JSON.stringify(keys) })

/** The claims of a JWS of this type that one of the keys signed; otherwise what is wrong with it. */
export function verifyJws(
  keys: PublicKey[],
  typ: string,
  jws: string,
): { claims: Record<string, unknown> } | { wrong: 'unknown_key' | 'invalid' } {
  const [header = '', payload = '', signature = ''] = jws.split('.')
  try {
    const { alg, typ: given, kid } = JSON.parse(Buffer.from(header, 'base64url').toString())
    const key = keys.find((key) => key.kid === kid)
    if (!key) return { wrong: 'unknown_key' }
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key.public_key }, format: 'jwk' })
    const isSigned = verify(null, Buffer.from(`${header}.${payload}`), publicKey, Buffer.from(signature, 'base64url'))
    if (!isSigned || alg !== 'Ed25519' || given !== typ) return { wrong: 'invalid' }
    return { claims: JSON.parse(Buffer.from(payload, 'base64url').toString()) }
  } catch {
    return { wrong: 'invalid' }
  }
}

/** The key set that receipts are verified with. A key that signed once stays in it. */
export async function publishedKeys(ctx: SystemContext) {
  const rows = await ctx.sql(readKeys, {})
  return {
    keys: rows.map(({ kid, public_key: x }) => ({ kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: 'Ed25519' })),
  }
}

/** Signs in another thread, so that other calls do not wait for it. */
const signBeside = promisify<null, Buffer, KeyObject, Buffer>(sign)

/** Signs the claims as a JWS in compact form. */
export async function signJws({ kid, privateKey }: SigningKey, typ: string, claims: object): Promise<string> {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part({ alg: 'Ed25519', typ, kid })}.${part(claims)}`
  const signature = await signBeside(null, Buffer.from(signed), privateKey)
  return `${signed}.${signature.toString('base64url')}`
}

/** Creates the first key at the first start, and a new one if no configured secret opens the key that should sign. */
export async function signingKey(ctx: SystemContext): Promise<SigningKey> {
  const now = ctx.clock.now()
  const { signing } = ctx.process
  const isFresh = performance.now() - signing.readAt <= SIGNING_KEYS_KEPT_MS
  const known = isFresh ? newestOf(signing.keys, now) : undefined
  if (known) return known
  const read = await readSigners(ctx, now)
  Object.assign(signing, { keys: read.keys, readAt: performance.now() })
  return read.newest
}

/** Reads the keys anew and keeps none, because a key that the transaction made may be rolled back. */
export const signingKeyInside = async (tx: Transaction): Promise<SigningKey> =>
  (await readSigners(tx, tx.clock.now())).newest

/** The newest key that still has a private part, and whether a configured secret opens it. */
export async function readNewestKey(ctx: SystemContext): Promise<{ kid: string; isOpened: boolean } | null> {
  for (const { kid, sealed_private: sealed } of (await ctx.sql(readKeys, {})).toReversed()) {
    if (sealed) return { kid, isOpened: ctx.secrets.open(sealed) !== null }
  }
  return null
}

/** The keys that a configured secret opens, and the one of them that signs. If there is none, it is made. */
async function readSigners(
  ctx: AnyContext,
  now: Date,
  hasMade = false,
): Promise<{ keys: SigningKey[]; newest: SigningKey }> {
  const rows = await ctx.sql(readKeys, {})
  const keys = openKeys(ctx, rows)
  const newest = newestOf(keys, now)
  if (newest) return { keys, newest }
  if (hasMade) throw new Error('no key can sign')
  // The number follows from the rows that were read, so that two instances without a key create the same one.
  await insert(ctx, { number: (rows.at(-1)?.number ?? 0) + 1, signsFrom: now })
  return readSigners(ctx, now, true)
}

const newestOf = <Key extends { signsFrom: Date }>(keys: readonly Key[], now: Date): Key | undefined =>
  keys.findLast(({ signsFrom }) => signsFrom <= now)

/** A key that was made to sign at once does so even if the clock of another instance is behind. */
const beginOf = ({ created_at, signs_from }: KeyRow): Date => (signs_from > created_at ? signs_from : new Date(0))

const openKeys = (ctx: AnyContext, rows: KeyRow[]): SigningKey[] =>
  rows.flatMap((row) => {
    const pkcs8 = row.sealed_private && ctx.secrets.open(row.sealed_private)
    const { kid } = row
    return pkcs8
      ? { kid, signsFrom: beginOf(row), privateKey: createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' }) }
      : []
  })

/** False if another instance created the key of this number. */
async function insert(ctx: AnyContext, { number, signsFrom }: { number: number; signsFrom: Date }): Promise<boolean> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const { x = '' } = publicKey.export({ format: 'jwk' })
  const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' })
  const made = await ctx.sql(insertKey, {
    number,
    kid: thumbprintOf(x),
    publicKey: x,
    sealedPrivate: ctx.secrets.seal(pkcs8),
    now: ctx.clock.now(),
    signsFrom,
  })
  return made.length > 0
}

/** RFC 7638: the hash of the required members in the order of their names. */
const thumbprintOf = (x: string) => hashOf(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }))

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url')

export const KEY_STATES = ['waiting', 'signing', 'retired'] as const

export async function listSigningKeys(ctx: SystemContext) {
  await signingKey(ctx)
  const now = ctx.clock.now()
  const rows = await ctx.sql(readKeys, {})
  const signing = rows.findLast((row) => beginOf(row) <= now && row.sealed_private)
  const stateOf = (row: KeyRow): (typeof KEY_STATES)[number] => {
    if (row === signing) return 'signing'
    return beginOf(row) > now && row.sealed_private ? 'waiting' : 'retired'
  }
  return rows.map((row) => ({
    kid: row.kid,
    state: stateOf(row),
    created_at: row.created_at.toISOString(),
    signs_from: row.signs_from.toISOString(),
  }))
}

/**
 * Publishes a new key. It signs a day later, when every reader of the key set has it. After a leak it signs at once: then the keys
 * before it are deleted, one that still waits included, and every instance signs with it within `SIGNING_KEYS_KEPT_MS`.
 */
export async function rotateSigningKey(ctx: SystemContext, { isNow = false } = {}) {
  await signingKey(ctx)
  const now = ctx.clock.now()
  const last = (await ctx.sql(readKeys, {})).at(-1) as KeyRow
  const waits = (at: Date) =>
    new AppError('REQUEST_001', `A new key is published already. It signs from ${at.toISOString()}.`)
  // A key that a failover has lost never signs, though its public part is published again.
  if (!isNow && last.sealed_private && last.signs_from > now) throw waits(last.signs_from)
  const signsFrom = isNow ? now : new Date(now.getTime() + KEY_PUBLISHED_BEFORE_MS)
  const number = last.number + 1
  if (!(await insert(ctx, { number, signsFrom }))) throw waits(signsFrom)
  if (isNow) await ctx.sql(deleteEarlier, { number })
  ctx.process.signing.readAt = Number.NEGATIVE_INFINITY
  return listSigningKeys(ctx)
}
