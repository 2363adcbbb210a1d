import type { listUndeliverableUsers as contract } from '@/contract/admin'
import type { Data, Input } from '@/contract/define'
import { DEFAULT_LISTED } from '@/contract/fields'
import type { SystemContext } from '../context'
import { cappedCount, readFigures } from '../figures'
import { withIsoTimes } from '../iso-times'
import { integer, sql, statement, text, time } from '../sql'

const select = statement(
  'undeliverable-accounts',
  { after: text, maxRows: integer },
  { user_id: text, external_id: text.orNull, since: time },
  (v) => sql`SELECT id AS user_id, external_id, email_undeliverable_at AS since FROM users
   WHERE email_undeliverable_at IS NOT NULL AND withdrawn_at IS NULL AND id > ${v.after}
   ORDER BY id LIMIT ${v.maxRows}`,
)

const COUNTS = {
  undeliverable: cappedCount(
    'count-undeliverable-accounts',
    {},
    () => sql`FROM users WHERE email_undeliverable_at IS NOT NULL AND withdrawn_at IS NULL`,
  ),
}

export const countUndeliverable = (ctx: SystemContext) => readFigures(ctx, COUNTS, {})

/** It names nobody, so that no look at a person has to be noted. */
export async function listUndeliverableUsers(
  ctx: SystemContext,
  { after = '', limit = String(DEFAULT_LISTED) }: Input<typeof contract>,
): Promise<Data<typeof contract>> {
  const wanted = Number(limit)
  const rows = await ctx.sql(select, { after, maxRows: wanted + 1 })
  const users = rows.slice(0, wanted).map(withIsoTimes)
  return { users, next: rows.length > wanted ? (users.at(-1)?.user_id ?? null) : null }
}
