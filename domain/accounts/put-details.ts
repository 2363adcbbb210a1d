import { type putUser as contract, MAX_PREFERENCES } from '@/contract/admin'
import type { Input } from '@/contract/define'
import { AppError } from '@/contract/errors'
import type { Transaction } from '../context'
import { identifier, integer, joined, sql, statement, text } from '../sql'

const MEMBERS = ['phone', 'birth_date', 'address', 'bio'].map(identifier)

/** A member that is not given stays. The row is written only if it changes. */
const putProfile = statement(
  'put-profile',
  { userId: text, given: text },
  { user_id: text },
  (v) => sql`INSERT INTO profiles AS p (user_id, ${joined(MEMBERS)})
   SELECT ${v.userId}, ${joined(MEMBERS.map((member) => sql`given->>'${member}'`))} FROM (SELECT ${v.given}::jsonb AS given) AS body
   WHERE jsonb_strip_nulls(given) <> '{}' OR EXISTS (SELECT FROM profiles WHERE user_id = ${v.userId})
   ON CONFLICT (user_id) DO UPDATE
   SET ${joined(MEMBERS.map((member) => sql`${member} = CASE WHEN ${v.given}::jsonb ? '${member}' THEN excluded.${member} ELSE p.${member} END`))}
   WHERE ${joined(
     MEMBERS.map(
       (member) => sql`(${v.given}::jsonb ? '${member}' AND p.${member} IS DISTINCT FROM excluded.${member})`,
     ),
     sql` OR `,
   )}
   RETURNING user_id`,
)

const putPreferences = statement(
  'put-preferences',
  { userId: text, given: text },
  { key: text },
  (v) => sql`WITH given AS (
     SELECT key, value FROM jsonb_each_text(${v.given}::jsonb)
   ), gone AS (
     DELETE FROM preferences p USING given g WHERE p.user_id = ${v.userId} AND p.key = g.key AND g.value IS NULL RETURNING p.key
   ), put AS (
     INSERT INTO preferences AS p (user_id, key, value)
     SELECT ${v.userId}, key, value FROM given WHERE value IS NOT NULL
     ON CONFLICT (user_id, key) DO UPDATE SET value = excluded.value WHERE p.value <> excluded.value
     RETURNING p.key
   )
   SELECT key FROM gone UNION ALL SELECT key FROM put`,
)
const countPreferences = statement(
  'count-preferences',
  { userId: text },
  { count: integer },
  (v) => sql`SELECT count(*)::int AS count FROM preferences WHERE user_id = ${v.userId}`,
)

type Details = Pick<Input<typeof contract>, 'profile' | 'preferences'>

/** Writes what is given for the account, which must be locked. True if something has changed. */
export async function putDetails(tx: Transaction, userId: string, { profile, preferences }: Details): Promise<boolean> {
  const rows = [
    ...(profile ? await tx.sql(putProfile, { userId, given: JSON.stringify(profile) }) : []),
    ...(preferences ? await tx.sql(putPreferences, { userId, given: JSON.stringify(preferences) }) : []),
  ]
  const [row] = preferences && rows.length > 0 ? await tx.sql(countPreferences, { userId }) : []
  if (row && row.count > MAX_PREFERENCES) {
    throw new AppError('REQUEST_001', `preferences: the account would have more than ${MAX_PREFERENCES} of them.`)
  }
  return rows.length > 0
}
