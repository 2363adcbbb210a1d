import { maskAddress } from '@/contract/address'
import type { Data, Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import { CATEGORIES, type Category, CHOICES, type KeptFor, MAX_PREVIEWED } from '@/contract/vocabulary'
import type { previewWithdrawal as contract, Step } from '@/contract/withdrawal'
import type { previewRequestedWithdrawal as requestedContract } from '@/contract/withdrawal-request'
import { askApplications } from '../applications/ask'
import type { Context } from '../context'
import {
  identifier,
  integer,
  joined,
  json,
  NOTHING,
  type Part,
  type Placeholders,
  type RowOf,
  sql,
  statement,
  text,
  time,
} from '../sql'
import { findBlockers } from './blockers'
import { DELETION_MAP } from './deletion-map'
import { kindOf } from './run-deletion-step'
import { planWithdrawal, retentionDays } from './schedule'
import { type Erasure, isOfUser } from './steps/deletion-step'

type Preview = Data<typeof contract>

/** What the steps erase. What only the purge erases is written by the withdrawal itself or lives for a day. */
const PREVIEWED = DELETION_MAP.flatMap((erasure) =>
  erasure.when === 'purge' ? [] : [{ ...erasure, step: erasure.when }],
)

/** Counts by the same entries as the erasure. Stops at one row above the cap, so that an index answers at once. */
function countRows({ userId }: Placeholders<{ userId: string }>, { table, where, written }: Erasure): Part {
  const ofUser = sql`FROM ${identifier(table)} WHERE ${isOfUser(table, userId)}`
  const { rows = 0, unless, only } = written ?? {}
  const counted = sql`(SELECT count(*) FROM (SELECT ${ofUser} ${where ? sql`AND ${where}` : NOTHING} LIMIT ${MAX_PREVIEWED + 1}) AS counted)`
  const added = unless ? sql`CASE WHEN EXISTS (SELECT ${ofUser} AND ${unless}) THEN 0 ELSE ${rows} END` : rows
  return sql`(${only ? 0 : counted} + ${added})::int`
}

const countAll = statement(
  'preview-withdrawal',
  { userId: text },
  {
    /** In the order of `PREVIEWED`. */
    records: integer.list,
    applications: json.of<Preview['applications']>().orNull,
    address_changed_at: time.orNull,
  },
  (v) => sql`SELECT ARRAY[${joined(PREVIEWED.map((erasure) => countRows(v, erasure)))}] AS records,
     (SELECT json_agg(json_build_object('name', a.name, 'acknowledges', a.acknowledges) ORDER BY a.name, a.id)
      FROM connected_apps a WHERE a.audience = 'everyone'
        OR EXISTS (SELECT FROM app_connections c WHERE c.app_id = a.id AND c.user_id = ${v.userId})) AS applications,
     (SELECT max(r.closed_at) FROM email_change_requests r
      WHERE r.user_id = ${v.userId} AND r.status = 'verified' AND r.old_email <> r.new_email) AS address_changed_at`,
)

type CountRow = RowOf<typeof countAll>

/** What a withdrawal with these choices would do now. Changes nothing. */
export async function previewWithdrawal(ctx: Context, input: Input<typeof contract>): Promise<Preview> {
  const { userId } = ctx.actor
  const now = ctx.clock.now()
  const plan = planWithdrawal(ctx, now)
  const keeps = new Set<KeptFor>(['law', ...CHOICES.filter((choice) => input[choice] === 'true')])
  const [blockers, { records, applications, address_changed_at: changedAt }] = await Promise.all([
    listBlockers(ctx, userId, input.ask === 'true'),
    count(ctx, userId),
  ])
  const until = plan.purgeDueAt.toISOString()
  const counts: Count[] = PREVIEWED.map(({ step, category, kept }, index) => ({
    step,
    category,
    reason: kept && keeps.has(kept.for) ? kept.for : null,
    records: records[index] as number,
  }))
  const listed = summed(counts)
  return {
    address: ctx.actor.user.email,
    allowed: blockers.length === 0,
    blockers,
    deletion_steps: plan.steps.map(({ step, dueAt, estimatedCompletion }) => ({
      step,
      begins_at: dueAt.toISOString(),
      estimated_completion: estimatedCompletion.toISOString(),
    })),
    erased: listed.flatMap(({ reason, ...entry }) => (reason ? [] : [entry])),
    retained: listed.flatMap(({ reason, step: _, ...entry }) => (reason ? [{ ...entry, reason, until }] : [])),
    data_retention_period: retentionDays(ctx.limits.withdrawalRetentionMs),
    applications: applications ?? [],
    ...(ctx.authority && { authority: ctx.authority }),
    address_changed_at: changedAt?.toISOString() ?? null,
    counted_at: now.toISOString(),
  }
}

/** With the token of a mailed link. Applications are asked at the confirmation alone. */
export const previewRequestedWithdrawal = async (
  ctx: Context,
  input: Input<typeof requestedContract>,
): Promise<Data<typeof requestedContract>> => ({
  ...(await previewWithdrawal(ctx, { ...input, userId: ctx.actor.userId })),
  address: maskAddress(ctx.actor.user.email),
})

/** Refuses if the count fails for any reason, because a missing number would look like nothing. */
async function count(ctx: Context, userId: string): Promise<CountRow> {
  const [row] = await ctx.sql(countAll, { userId }).catch((error) => {
    ctx.warn('preview_failed', { problem: kindOf(error) })
    throw new AppError('SERVER_002', 'What a withdrawal would delete could not be counted. Try again shortly.', 5)
  })
  return row as CountRow
}

/** The blockers that this database knows; with `asks` also those of applications. */
async function listBlockers(ctx: Context, userId: string, asks: boolean): Promise<Preview['blockers']> {
  const found = await findBlockers(ctx, userId)
  return asks && found.asks ? [...found.blockers, ...(await askApplications(ctx, userId))] : found.blockers
}

interface Count {
  step: Step
  category: Category
  /** Why the records are kept; null if they are erased. */
  reason: KeptFor | null
  records: number
  more?: true
}

/** One entry for each category of a step, without empty ones, in the order of `CATEGORIES`. */
function summed(counts: readonly Count[]): Count[] {
  const groups = Map.groupBy(counts, ({ step, category, reason }) => `${step} ${category} ${reason}`)
  return [...groups.values()]
    .map(([first, ...others]) => ({
      ...(first as Count),
      records: others.reduce((sum, { records }) => sum + records, (first as Count).records),
    }))
    .filter(({ records }) => records > 0)
    .map((entry) => (entry.records > MAX_PREVIEWED ? { ...entry, records: MAX_PREVIEWED, more: true as const } : entry))
    .sort((a, b) => CATEGORIES.indexOf(a.category) - CATEGORIES.indexOf(b.category))
}
