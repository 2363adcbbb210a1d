import { isIPv6 } from 'node:net'
import type { Contract } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { AnyContext, BucketState, SystemContext, Transaction } from '../context'
import {
  boolean,
  type Described,
  fenced,
  integer,
  type Part,
  type Placeholders,
  type Shape,
  sql,
  statement,
  text,
  time,
  UNWAITED,
} from '../sql'
import { type BucketName, LIMIT_ROWS, type Limit } from './limits'

/** Only a request notes the buckets that it has read. */
export type NotingContext = AnyContext & { buckets?: BucketState[] }

export interface Bucket extends Limit {
  name: BucketName
  key: string
  userId: string | null
}

export const userBucket = (ctx: AnyContext, name: BucketName, userId: string): Bucket => ({
  ...ctx.limits[name],
  name,
  key: `${name}:${userId}`,
  userId,
})

type OperationBucket = NonNullable<Contract['limit']>['bucket']

/** The bucket that an operation's contract names. A contract whose place the wrapper takes does not compile. */
export const bucketOf = (
  contract: { limit: { bucket: Exclude<OperationBucket, 'read' | 'service'>; countedBy: 'verb' } },
  ctx: SystemContext,
  userId: string,
): Bucket => userBucket(ctx, contract.limit.bucket, userId)

/** For an address or a client: the key holds only a keyed hash of it. */
export const pseudonymousBucket = (ctx: AnyContext, name: BucketName, text: string): Bucket => ({
  ...ctx.limits[name],
  name,
  key: `${name}:${ctx.secrets.mac('pseudonym', text).toString('base64url')}`,
  userId: null,
})

function refusalOf({ name }: Bucket, freeAt: Date, now: Date): AppError {
  const { code, refusal } = LIMIT_ROWS[name]
  return new AppError(code, typeof refusal === 'string' ? refusal : undefined, secondsUntil(freeAt, now))
}

const isShown = ({ name }: Bucket) => LIMIT_ROWS[name].shown === 'always'

/** Places that one call took. Return them with `givePlacesBack` if the call turns out not to count. */
export interface TakenPlaces {
  buckets: Bucket[]
  at: Date
}

const liveHits = (v: { now: Part }, windowMs: Part) =>
  sql`(${fenced(sql`SELECT ARRAY(
     SELECT h FROM unnest(r.hits) AS h WHERE h > ${v.now}::timestamptz - ${windowMs} * interval '1 millisecond' ORDER BY h
   ) AS live`)}) AS l`

/** The buckets that a call takes a place in. */
export const TAKE_VALUES = {
  now: time,
  takeKeys: text.list,
  takeUsers: text.orNull.list,
  takePlaces: integer.list,
  takeWindows: integer.list,
}
type TakeValues = Described<typeof TAKE_VALUES>

/** The buckets that a call only looks at. */
const LOOK_VALUES = {
  now: time,
  lookKeys: text.list,
  lookPlaces: integer.list,
  lookWindows: integer.list,
}
type LookValues = Described<typeof LOOK_VALUES>

/**
 * Takes a place in each bucket of `source`, which is `b (key, user_id, places, window_ms)`. One row per bucket and one upsert make
 * the count exact, because parallel calls queue on the row and each sees the result of the one before.
 */
export const takePlacesOf = (v: { now: Part }, source: Part) =>
  sql`INSERT INTO rate_limits AS r (key, user_id, hits, places, window_ms, granted, expires_at)
   SELECT b.key, b.user_id, ARRAY[${v.now}::timestamptz], b.places, b.window_ms, b.places > 0,
          ${v.now}::timestamptz + b.window_ms * interval '1 millisecond'
   FROM ${source}
   ORDER BY b.key
   ON CONFLICT (key) DO UPDATE SET
     (hits, granted) = (
       SELECT CASE WHEN cardinality(live) < excluded.places THEN live || excluded.hits ELSE live END, cardinality(live) < excluded.places
       FROM ${liveHits(v, sql`excluded.window_ms`)}
     ),
     places = excluded.places, window_ms = excluded.window_ms, expires_at = excluded.expires_at
   RETURNING key, hits, granted`

export const takePlacesPart = (v: Placeholders<TakeValues>) =>
  takePlacesOf(
    v,
    sql`unnest(${v.takeKeys}::text[], ${v.takeUsers}::text[], ${v.takePlaces}::int[], ${v.takeWindows}::bigint[])
       AS b (key, user_id, places, window_ms)`,
  )

export const PLACE_ROW = { key: text, hits: time.list, granted: boolean }
export type PlaceRow = Described<typeof PLACE_ROW>
const movePlaces = statement('take-places', TAKE_VALUES, PLACE_ROW, (v) => sql`${takePlacesPart(v)}, ${UNWAITED}`)
const movePlacesInside = statement('take-places-inside', TAKE_VALUES, PLACE_ROW, takePlacesPart)

/** Whether each bucket of `source`, which is `b (key, places, window_ms)`, has room. Takes no place. */
export const lookAtPlacesOf = (v: { now: Part }, source: Part) =>
  sql`SELECT b.key, l.live AS hits, cardinality(l.live) < b.places AS granted
   FROM ${source}
   LEFT JOIN rate_limits r ON r.key = b.key
   CROSS JOIN LATERAL ${liveHits(v, sql`b.window_ms`)}`

const lookAtPlacesPart = (v: Placeholders<LookValues>) =>
  lookAtPlacesOf(
    v,
    sql`unnest(${v.lookKeys}::text[], ${v.lookPlaces}::int[], ${v.lookWindows}::bigint[]) AS b (key, places, window_ms)`,
  )

/** Gives places back in the order of their keys, because two calls that lock the same rows in different orders would deadlock. */
export const returnPlacesPart = (v: { keys: Part; takenAt: Part }) =>
  sql`UPDATE rate_limits r
   SET hits = hits[:array_position(hits, ${v.takenAt}::timestamptz) - 1] || hits[array_position(hits, ${v.takenAt}::timestamptz) + 1:]
   FROM (
     SELECT key FROM rate_limits WHERE key = ANY(${v.keys}::text[]) AND ${v.takenAt}::timestamptz = ANY(hits)
     ORDER BY key FOR UPDATE
   ) AS locked
   WHERE r.key = locked.key AND ${v.takenAt}::timestamptz = ANY(hits)
   RETURNING r.key, r.hits`

const removeHits = statement(
  'give-places-back',
  { keys: text.list, takenAt: time },
  { key: text, hits: time.list },
  (v) => sql`${returnPlacesPart(v)}, ${UNWAITED}`,
)

/** Takes a place in each bucket of `take` and looks at those of `look`: all or none, otherwise a refusal. */
export interface WantedPlaces {
  take: Bucket[]
  look?: Bucket[]
}

export const takeValues = ({ take }: WantedPlaces, now: Date): TakeValues => ({
  now,
  takeKeys: take.map(({ key }) => key),
  takeUsers: take.map(({ userId }) => userId),
  takePlaces: take.map(({ places }) => places),
  takeWindows: take.map(({ windowMs }) => windowMs),
})

const lookValues = ({ look = [] }: WantedPlaces, now: Date): LookValues => ({
  now,
  lookKeys: look.map(({ key }) => key),
  lookPlaces: look.map(({ places }) => places),
  lookWindows: look.map(({ windowMs }) => windowMs),
})

/** Checks what the statement returned. A refusal carries the time after which all buckets have room. */
export async function judgePlaces(
  ctx: NotingContext,
  { take, look = [] }: WantedPlaces,
  rows: PlaceRow[],
  now: Date,
): Promise<TakenPlaces> {
  const judged = [...take, ...look].map((bucket) => {
    const row = rows.find(({ key }) => key === bucket.key)
    if (!row) throw new Error(`bucket ${bucket.name} was not returned`)
    return { bucket, isFull: !row.granted, state: bucketState(bucket, row.hits, now) }
  })
  for (const { bucket, isFull, state } of judged) if (isFull || isShown(bucket)) noteBucket(ctx, state)
  const full = judged.filter(({ isFull }) => isFull)
  const places = { buckets: take.filter((bucket) => !full.some((one) => one.bucket === bucket)), at: now }
  const [last] = full.toSorted((a, b) => Number(b.state.resetsAt) - Number(a.state.resetsAt))
  if (!last) return places
  await givePlacesBack(ctx, places)
  throw refusalOf(last.bucket, last.state.resetsAt, now)
}

export async function takePlaces(ctx: NotingContext, wanted: WantedPlaces): Promise<TakenPlaces> {
  const now = ctx.clock.now()
  const rows = await ctx.sql(movePlaces, takeValues(wanted, now))
  return judgePlaces(ctx, wanted, rows, now)
}

const lookOnly = statement('look-at-places', LOOK_VALUES, PLACE_ROW, lookAtPlacesPart)

/** Refuses a call that would find no place. Takes none. */
export async function requireRoom(ctx: NotingContext, look: Bucket[]): Promise<void> {
  const now = ctx.clock.now()
  const wanted = { take: [], look }
  await judgePlaces(ctx, wanted, await ctx.sql(lookOnly, lookValues(wanted, now)), now)
}

/**
 * Makes a call whose one statement takes and looks at places, and reads one row of what they guard. The columns of `row` are null where
 * `read` finds nothing.
 */
export function takePlacesBeside<const Values extends Shape, const Row extends Shape>(
  name: string,
  values: Values,
  row: Row,
  read: (v: Placeholders<Values>) => Part,
) {
  const beside = statement(
    name,
    { ...TAKE_VALUES, ...LOOK_VALUES, ...values },
    { ...PLACE_ROW, ...row },
    (v) => sql`WITH taken AS (${takePlacesPart(v)}), looked AS (${lookAtPlacesPart(v)})
   SELECT places.*, beside.*, ${UNWAITED} FROM (TABLE taken UNION ALL TABLE looked) AS places LEFT JOIN (${read(v)}) AS beside ON true`,
  )
  return async (ctx: NotingContext, wanted: WantedPlaces, given: Described<Values>) => {
    const now = ctx.clock.now()
    const rows = await ctx.sql(beside, { ...given, ...takeValues(wanted, now), ...lookValues(wanted, now) })
    const places = await judgePlaces(ctx, wanted, rows, now)
    return { places, row: rows[0] as (typeof rows)[number] }
  }
}

/** Takes the places in a transaction, so that a rollback gives them back. */
export async function takePlacesInside(tx: Transaction & NotingContext, wanted: WantedPlaces): Promise<TakenPlaces> {
  const now = tx.clock.now()
  const rows = await tx.sql(movePlacesInside, takeValues(wanted, now))
  return judgePlaces(tx, wanted, rows, now)
}

export async function givePlacesBack(ctx: NotingContext, places: TakenPlaces): Promise<void> {
  if (places.buckets.length === 0) return
  const keys = places.buckets.map(({ key }) => key)
  const rows = await ctx.sql(removeHits, { keys, takenAt: places.at })
  for (const bucket of places.buckets) {
    const row = rows.find(({ key }) => key === bucket.key)
    if (row && isShown(bucket)) noteBucket(ctx, bucketState(bucket, row.hits, ctx.clock.now()))
  }
}

/** Gives the places back if `work` fails, unless its failure is what they count. */
export async function withPlaces<T>(
  ctx: NotingContext,
  places: TakenPlaces,
  work: () => Promise<T>,
  counts: (error: unknown) => boolean = () => false,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!counts(error)) await givePlacesBack(ctx, places)
    throw error
  }
}

/** Whole seconds, at least one. After exactly that wait the next call passes. */
export const secondsUntil = (time: Date | number, now: Date): number =>
  Math.max(1, Math.ceil((Number(time) - now.getTime()) / 1000))

export function bucketState(bucket: Bucket, hits: Date[], now: Date): BucketState {
  const { name, places, windowMs } = bucket
  // A full bucket frees its oldest place first.
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
