import { AppError } from '@/contract/errors'
import { isPresent } from '../applications/task-states'
import type { AnyContext, SystemContext, Transaction } from '../context'
import { secondsUntil } from '../limits/buckets'
import { bytes, fenced, integer, type RowOf, sql, statement, text, time } from '../sql'
import { claimableAt } from '../work/queue'

const findEnded = statement(
  'ended-external-id',
  { macs: bytes.list },
  { user_id: text },
  (v) => sql`SELECT user_id FROM ended_external_ids
   WHERE external_id_mac = ANY(${v.macs}::bytea[]) ORDER BY expires_at DESC`,
)

/** A withdrawal stores this MAC in place of the external id. */
export const macOfExternalId = (ctx: AnyContext, externalId: string): Buffer =>
  ctx.secrets.mac('external-id', externalId)

/** The withdrawn accounts that had this external id, newest first; none after the purge, which deletes the rows. */
export async function usersWithdrawnAs(ctx: SystemContext, externalId: string): Promise<string[]> {
  const macs = ctx.secrets.macs('external-id', externalId)
  return (await ctx.sql(findEnded, { macs })).map(({ user_id }) => user_id)
}

const findFormer = statement(
  'next-version-of-external-id',
  { macs: bytes.list },
  { next_version: integer.orNull },
  (v) => sql`SELECT max(next_version) AS next_version FROM ended_external_ids
   WHERE external_id_mac = ANY(${v.macs}::bytea[])`,
)

// A task keeps a sealed subject only of an application that knows the person by our ids, and only until it is over. A waived task
// also ends the wait for what its application has not been told.
const findStillOpen = statement(
  'open-of-external-id',
  { macs: bytes.list },
  {
    applications: integer,
    withdrawal_id: text.orNull,
    /** Null where nobody knows it: an application is disabled, polls or has to report, or the operator has to decide. */
    next_try_at: time.orNull,
  },
  (v) => sql`WITH former AS (
     SELECT withdrawal_id, user_id FROM ended_external_ids WHERE external_id_mac = ANY(${v.macs}::bytea[])
   ), event AS (
     SELECT f.withdrawal_id, e.id FROM former f JOIN events e ON e.withdrawal_id = f.withdrawal_id
     UNION ALL SELECT f.withdrawal_id, e.id
     FROM former f CROSS JOIN LATERAL (${fenced(sql`SELECT id FROM events WHERE user_id = f.user_id`)}) e
   ), still_open AS (
     SELECT n.app_id, n.withdrawal_id, CASE WHEN (n.accepted_at IS NULL OR n.completed_at IS NOT NULL) AND NOT ${isPresent(sql`n`)}
            THEN ${claimableAt(sql`n`)} END AS try_at
     FROM former f JOIN deletion_tasks n ON n.withdrawal_id = f.withdrawal_id
     WHERE n.status <> 'completed' AND n.sealed_subject IS NOT NULL
     UNION ALL
     SELECT d.app_id, e.withdrawal_id, ${claimableAt(sql`d`)}
     FROM event e JOIN event_deliveries d ON d.event_id = e.id JOIN connected_apps a ON a.id = d.app_id
     WHERE d.status = 'pending' AND a.audience = 'everyone' AND NOT EXISTS (
       SELECT FROM deletion_tasks n WHERE n.withdrawal_id = e.withdrawal_id AND n.app_id = d.app_id AND n.waived_at IS NOT NULL)
   )
   SELECT count(DISTINCT o.app_id)::int AS applications, max(o.withdrawal_id) AS withdrawal_id,
     CASE WHEN bool_and(o.try_at IS NOT NULL AND a.endpoint IS NOT NULL AND a.disabled_at IS NULL) THEN max(o.try_at) END AS next_try_at
   FROM still_open o JOIN connected_apps a ON a.id = o.app_id`,
)

/**
 * The first version of an account that is to have this external id: above all that applications may still hear of a withdrawn account
 * that had it. Refuses unless somebody asks for such an id again, and while an application that knows the person by it has still to
 * be told or to delete: it would delete the new account's data. The caller holds the lock of the external id.
 */
export async function firstVersionOf(
  tx: Transaction,
  { externalId, recreate }: { externalId: string; recreate: boolean },
): Promise<number> {
  const macs = tx.secrets.macs('external-id', externalId)
  const [former] = await tx.sql(findFormer, { macs })
  if (former?.next_version == null) return 0
  if (!recreate) throw new AppError('USER_002')
  const [open] = await tx.sql(findStillOpen, { macs })
  if (open && open.applications > 0) throw stillOpen(open, tx.clock.now())
  return former.next_version
}

function stillOpen({ applications, withdrawal_id, next_try_at }: RowOf<typeof findStillOpen>, now: Date): AppError {
  const who = applications === 1 ? 'One application has' : `${applications} applications have`
  return new AppError(
    'USER_002',
    `${who} still to be told of the deletion of the former account, or to report it: ${withdrawal_id}. ` +
      'Try again when that is over. An operator can waive the deletion task of an application that nobody waits for.',
    next_try_at ? secondsUntil(next_try_at, now) : undefined,
  )
}

const findEndedAmong = statement(
  'ended-external-ids',
  { macs: bytes.list },
  { external_id_mac: bytes },
  (v) => sql`SELECT external_id_mac FROM ended_external_ids
   WHERE external_id_mac = ANY(${v.macs}::bytea[])`,
)

const findActiveAmong = statement(
  'active-external-ids',
  { externalIds: text.list },
  { external_id: text },
  (v) => sql`SELECT external_id FROM users WHERE external_id = ANY(${v.externalIds}::text[]) AND withdrawn_at IS NULL`,
)

/**
 * Those of these external ids whose account was withdrawn and that no service has used again. An import creates no account for them
 * until the retention ends.
 */
export async function withdrawnExternalIds(ctx: SystemContext, externalIds: string[]): Promise<Set<string>> {
  const byMac = new Map(
    externalIds.flatMap((id) =>
      ctx.secrets.macs('external-id', id).map((mac) => [mac.toString('base64'), id] as const),
    ),
  )
  if (byMac.size === 0) return new Set()
  const macs = [...byMac.keys()].map((mac) => Buffer.from(mac, 'base64'))
  const ended = await ctx.sql(findEndedAmong, { macs })
  const withdrawn = new Set(
    ended.flatMap(({ external_id_mac: mac }) => byMac.get(Buffer.from(mac).toString('base64')) ?? []),
  )
  if (withdrawn.size === 0) return withdrawn
  for (const { external_id } of await ctx.sql(findActiveAmong, { externalIds: [...withdrawn] }))
    withdrawn.delete(external_id)
  return withdrawn
}
