import { AppError, type ErrorCode } from '@/contract/errors'
import { type BucketState, type SystemContext, statement, UNWAITED } from './context'
import type { BucketName, Limit } from './limits'

export interface Bucket extends Limit {
  name: BucketName
  key: string
  userId: string | null
}

export const userBucket = (ctx: SystemContext, name: BucketName, userId: string): Bucket => ({
  ...ctx.limits[name],
  name,
  key: `${name}:${userId}`,
  userId,
})

/** For an address or a client: the key holds only a keyed hash of it. */
export const pseudonymousBucket = (ctx: SystemContext, name: BucketName, text: string): Bucket => ({
  ...ctx.limits[name],
  name,
  key: `${name}:${ctx.secrets.mac('pseudonym', text).toString('base64url')}`,
  userId: null,
})

/** Told in the headers of every answer; the others only where they refuse. */
const SHOWN = new Set<BucketName>(['change', 'verify', 'withdraw', 'signIn'])

/** Which limit it was, where saying so tells nothing of an address. */
const REFUSALS: Partial<Record<BucketName, string>> = {
  change: 'This account has asked for too many changes in a short time. Nothing was changed.',
  password: 'Too many wrong passwords. Nothing was changed.',
  passwordDay: 'Too many wrong passwords within a day. Nothing was changed.',
  verify: 'Too many codes were tried in a short time. Nothing was changed.',
  withdraw: 'The withdrawal was asked for too often in a short time. Nothing was changed.',
}

/** Places taken by one call; hand them to `givePlacesBack` when the call turns out not to count. */
export interface TakenPlaces {
  buckets: Bucket[]
  at: Date
}

// OFFSET 0 keeps the planner from working it out again wherever `live` is used.
const liveHits = (windowMs: string) => `(SELECT ARRAY(
     SELECT h FROM unnest(r.hits) AS h WHERE h > $1::timestamptz - ${windowMs} * interval '1 millisecond' ORDER BY h
   ) AS live OFFSET 0) AS l`

// One row a bucket and one upsert make the count exact without a lock of our own: parallel calls queue on the row,
// and each sees the times that the one before it left.
// Also a part of statements that do more: the time is $1, its columns are those of PlaceRow.
/** `source` names the buckets as `b (key, user_id, places, window_ms)`. */
export const takePlacesOf = (
  source: string,
) => `INSERT INTO rate_limits AS r (key, user_id, hits, places, window_ms, granted, expires_at)
   SELECT b.key, b.user_id, ARRAY[$1::timestamptz], b.places, b.window_ms, b.places > 0,
          $1::timestamptz + b.window_ms * interval '1 millisecond'
   FROM ${source}
   ORDER BY b.key
   ON CONFLICT (key) DO UPDATE SET
     (hits, granted) = (
       SELECT CASE WHEN cardinality(live) < excluded.places THEN live || excluded.hits ELSE live END, cardinality(live) < excluded.places
       FROM ${liveHits('excluded.window_ms')}
     ),
     places = excluded.places, window_ms = excluded.window_ms, expires_at = excluded.expires_at
   RETURNING key, hits, granted`
const ASKED = 'unnest($2::text[], $3::text[], $4::int[], $5::bigint[]) AS b (key, user_id, places, window_ms)'
/** Its values are $1 to $5. */
export const TAKE_PLACES = takePlacesOf(ASKED)
/** The same, where a statement that finds its caller lets it in. */
export const TAKE_PLACES_IF_ADMITTED = takePlacesOf(`admitted, ${ASKED}`)
const movePlaces = statement('take-places', `${TAKE_PLACES}, ${UNWAITED}`)

/** Whether there is room, for a first answer: who acts on it takes the places. `source` names the buckets as above. */
export const lookAtPlacesOf = (
  source: string,
) => `SELECT b.key, l.live AS hits, cardinality(l.live) < b.places AS granted
   FROM ${source}
   LEFT JOIN rate_limits r ON r.key = b.key
   CROSS JOIN LATERAL ${liveHits('b.window_ms')}`
/** Its values begin at $6. */
export const LOOK_AT_PLACES = lookAtPlacesOf(
  'unnest($6::text[], $7::int[], $8::bigint[]) AS b (key, places, window_ms)',
)

// In key order, as places are taken: two calls that lock the same rows in different orders would wait for each other.
/** Gives the places back; `keys` and `at` stand for values of the statement that this is a part of. */
export const returnPlaces = (keys: string, at: string) =>
  `UPDATE rate_limits r
   SET hits = hits[:array_position(hits, ${at}::timestamptz) - 1] || hits[array_position(hits, ${at}::timestamptz) + 1:]
   FROM (SELECT key FROM rate_limits WHERE key = ANY(${keys}::text[]) AND ${at}::timestamptz = ANY(hits) ORDER BY key FOR UPDATE) AS locked
   WHERE r.key = locked.key AND ${at}::timestamptz = ANY(hits)
   RETURNING r.key, r.hits`
const removeHits = statement('give-places-back', `${returnPlaces('$1', '$2')}, ${UNWAITED}`)

export interface PlaceRow {
  key: string
  hits: Date[]
  granted: boolean
}

/** A place in each bucket of `take`, and a look at those of `look`: all or none, else a refusal with `code`. */
export interface AskedPlaces {
  take: Bucket[]
  look?: Bucket[]
  code: ErrorCode
}

/** The values of TAKE_PLACES. */
export const placeValues = ({ take }: AskedPlaces, now: Date): unknown[] => [
  now,
  take.map(({ key }) => key),
  take.map(({ userId }) => userId),
  take.map(({ places }) => places),
  take.map(({ windowMs }) => windowMs),
]

/** The values of LOOK_AT_PLACES. */
export const lookValues = ({ look = [] }: AskedPlaces): unknown[] => [
  look.map(({ key }) => key),
  look.map(({ places }) => places),
  look.map(({ windowMs }) => windowMs),
]

/** What the statement has answered; refuses with the time after which all buckets have room. */
export async function judgePlaces(
  ctx: SystemContext & { buckets?: BucketState[] },
  { take, look = [], code }: AskedPlaces,
  rows: PlaceRow[],
  now: Date,
): Promise<TakenPlaces> {
  let freeAt = 0
  let refusal: string | undefined
  const taken: Bucket[] = []
  for (const bucket of [...take, ...look]) {
    const row = rows.find(({ key }) => key === bucket.key)
    if (!row) throw new Error(`bucket ${bucket.name} was not returned`)
    const state = bucketState(bucket, row.hits, now)
    if (row.granted && take.includes(bucket)) taken.push(bucket)
    if (!row.granted && state.resetsAt.getTime() > freeAt) {
      freeAt = state.resetsAt.getTime()
      refusal = REFUSALS[bucket.name]
    }
    if (!row.granted || SHOWN.has(bucket.name)) noteBucket(ctx, state)
  }
  const places = { buckets: taken, at: now }
  if (freeAt === 0) return places
  await givePlacesBack(ctx, places)
  throw new AppError(code, refusal, secondsUntil(freeAt, now))
}

export async function takePlaces(
  ctx: SystemContext & { buckets?: BucketState[] },
  asked: AskedPlaces,
): Promise<TakenPlaces> {
  const now = ctx.clock.now()
  const rows = await ctx.sql<PlaceRow>(movePlaces, placeValues(asked, now))
  return judgePlaces(ctx, asked, rows, now)
}

export async function givePlacesBack(
  ctx: SystemContext & { buckets?: BucketState[] },
  places: TakenPlaces,
): Promise<void> {
  if (places.buckets.length === 0) return
  const keys = places.buckets.map(({ key }) => key)
  const rows = await ctx.sql<{ key: string; hits: Date[] }>(removeHits, [keys, places.at])
  for (const bucket of places.buckets) {
    const row = rows.find(({ key }) => key === bucket.key)
    if (row && SHOWN.has(bucket.name)) noteBucket(ctx, bucketState(bucket, row.hits, ctx.clock.now()))
  }
}

/** Whole seconds, never fewer than one: waiting exactly that long makes the next call pass. */
export const secondsUntil = (time: Date | number, now: Date): number =>
  Math.max(1, Math.ceil((Number(time) - now.getTime()) / 1000))

export function bucketState(bucket: Bucket, hits: Date[], now: Date): BucketState {
  const { name, places, windowMs } = bucket
  // With a full bucket the place that comes free first is the oldest that still counts.
  const oldest = hits[Math.max(0, hits.length - places)]
  return {
    name,
    places,
    windowMs,
    remaining: Math.max(0, places - hits.length),
    resetsAt: oldest ? new Date(oldest.getTime() + windowMs) : now,
  }
}

export function noteBucket(ctx: { buckets?: BucketState[] }, state: BucketState) {
  if (!ctx.buckets) return
  const index = ctx.buckets.findIndex(({ name }) => name === state.name)
  if (index >= 0) ctx.buckets[index] = state
  else ctx.buckets.push(state)
}

const readHits = new Map<string, number[]>()
const FORGET_ABOVE = 10_000
let forgetAt = FORGET_ABOVE

/** Reads are counted in this process alone, so that a read never costs a write. */
export function takeReadPlace(ctx: SystemContext & { userId: string; buckets: BucketState[] }): void {
  const { places, windowMs } = ctx.limits.read
  const now = ctx.clock.now().getTime()
  let hits = readHits.get(ctx.userId) ?? []
  // In the order of time: what has left the window stands in front.
  const live = hits.findIndex((hit) => hit > now - windowMs)
  hits.splice(0, live < 0 ? hits.length : live)
  const granted = hits.length < places
  // A list that `push` begins has room for seventeen times; most readers come once.
  if (granted && hits.length > 0) hits.push(now)
  else if (granted) hits = [now]
  if (readHits.size >= forgetAt) forgetIdle(now - windowMs)
  readHits.set(ctx.userId, hits)
  const resetsAt = new Date((hits[0] ?? now) + windowMs)
  noteBucket(ctx, { name: 'read', places, windowMs, remaining: places - hits.length, resetsAt })
  if (!granted) throw new AppError('RATE_001', undefined, secondsUntil(resetsAt, new Date(now)))
}

function forgetIdle(before: number) {
  for (const [userId, hits] of readHits) if ((hits.at(-1) ?? 0) <= before) readHits.delete(userId)
  // Looking through all of them is due again when they have doubled, and not on the next read.
  forgetAt = Math.max(FORGET_ABOVE, 2 * readHits.size)
}
