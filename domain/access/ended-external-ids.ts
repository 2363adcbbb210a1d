import type { SystemContext } from '../context'
import { statement } from '../sql'

const findEnded = statement<{ macs: Buffer[]; now: Date }, { user_id: string }>(
  'ended-external-id',
  (v) => `SELECT user_id FROM ended_external_ids
   WHERE external_id_mac = ANY(${v.macs}::bytea[]) AND expires_at > ${v.now} ORDER BY expires_at DESC`,
)

/** What a withdrawal remembers an external id by. */
export const macOfExternalId = (ctx: SystemContext, externalId: string): Buffer =>
  ctx.secrets.mac('external-id', externalId)

/** The accounts that had this external id and were withdrawn, the newest first; none once the retention has ended. */
export async function usersWithdrawnAs(
  ctx: SystemContext,
  externalId: string,
  sql: SystemContext['sql'] = ctx.sql,
): Promise<string[]> {
  const macs = ctx.secrets.macs('external-id', externalId)
  return (await sql(findEnded, { macs, now: ctx.clock.now() })).map(({ user_id }) => user_id)
}
