import type { SystemContext } from '../context'
import { statement } from '../sql'

const findEnded = statement<{ macs: Buffer[]; now: Date }, { user_id: string }>(
  'ended-external-id',
  (v) => `SELECT user_id FROM ended_external_ids
   WHERE external_id_mac = ANY(${v.macs}::bytea[]) AND expires_at > ${v.now} ORDER BY expires_at DESC`,
)

/** A withdrawal stores this MAC in place of the external id. */
export const macOfExternalId = (ctx: SystemContext, externalId: string): Buffer =>
  ctx.secrets.mac('external-id', externalId)

/** The withdrawn accounts that had this external id, newest first; none after the retention. */
export async function usersWithdrawnAs(
  ctx: SystemContext,
  externalId: string,
  sql: SystemContext['sql'] = ctx.sql,
): Promise<string[]> {
  const macs = ctx.secrets.macs('external-id', externalId)
  return (await sql(findEnded, { macs, now: ctx.clock.now() })).map(({ user_id }) => user_id)
}

const findEndedAmong = statement<{ macs: Buffer[]; now: Date }, { external_id_mac: Buffer }>(
  'ended-external-ids',
  (v) => `SELECT external_id_mac FROM ended_external_ids
   WHERE external_id_mac = ANY(${v.macs}::bytea[]) AND expires_at > ${v.now}`,
)

const findActiveAmong = statement<{ externalIds: string[] }, { external_id: string }>(
  'active-external-ids',
  (v) => `SELECT external_id FROM users WHERE external_id = ANY(${v.externalIds}::text[]) AND withdrawn_at IS NULL`,
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
  const ended = await ctx.sql(findEndedAmong, { macs, now: ctx.clock.now() })
  const withdrawn = new Set(
    ended.flatMap(({ external_id_mac: mac }) => byMac.get(Buffer.from(mac).toString('base64')) ?? []),
  )
  if (withdrawn.size === 0) return withdrawn
  for (const { external_id } of await ctx.sql(findActiveAmong, { externalIds: [...withdrawn] }))
    withdrawn.delete(external_id)
  return withdrawn
}
