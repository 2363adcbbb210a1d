import { addEndEvent } from '../applications/events'
import type { SystemContext, Transaction } from '../context'
import { RAISE } from '../deletion-counts'
import { ERASURE_TIMEOUT_MS } from '../limits/durations'
import { boolean, bytes, identifier, integer, isOneOf, joined, literal, sql, statement, text, time } from '../sql'
import { AFTER, type After, eachDue, isAfter } from '../work/queue'
import { DELETION_MAP } from './deletion-map'
import { erase, inBatches, TIME_TO_ERASE } from './erase'
import { writeReceipts } from './receipts/receipts'
import { STEPS_AFTER_TASKS } from './steps/deletion-steps'

const duePurges = statement(
  'purges-due',
  { ...AFTER, now: time },
  { id: text, due_at: time },
  (v) => sql`SELECT id, purge_due_at AS due_at FROM withdrawals
   WHERE purged_at IS NULL AND purge_due_at <= ${v.now} AND ${isAfter(v, sql`purge_due_at`)}
   ORDER BY purge_due_at, id LIMIT ${v.maxRows}`,
)

const lock = statement(
  'lock-purge',
  { withdrawalId: text },
  { user_id: text.whenJoined, is_purged: boolean, sealed_subjects: bytes.orNull },
  (v) => sql`SELECT user_id, purged_at IS NOT NULL AS is_purged, sealed_subjects, ${TIME_TO_ERASE}
   FROM withdrawals WHERE id = ${v.withdrawalId} FOR UPDATE SKIP LOCKED`,
)
/** The table that a retained record comes from, and its category. */
const CATEGORY_OF_SOURCE = joined(
  DELETION_MAP.filter(({ kept }) => kept).map(
    ({ table, category }) => sql`('${identifier(table)}', ${literal(category)})`,
  ),
)

const deleteRetained = statement(
  'purge-retained-records',
  { withdrawalId: text, maxRows: integer },
  { is_over: boolean },
  (v) => sql`WITH deleted AS (
     DELETE FROM retained_records
     WHERE ${isOneOf(sql`id`, sql`SELECT id FROM retained_records WHERE withdrawal_id = ${v.withdrawalId} LIMIT ${v.maxRows}`)}
     RETURNING source
   ), counts AS (
     INSERT INTO deletion_counts AS c (withdrawal_id, step, category, outcome, records)
     SELECT ${v.withdrawalId}, 'purge', category, 'erased', count(*)
     FROM deleted JOIN (VALUES ${CATEGORY_OF_SOURCE}) AS kept (source, category) USING (source)
     GROUP BY category
     ${RAISE}
   )
   SELECT count(*) < ${v.maxRows} AS is_over FROM deleted`,
  { timeoutMs: ERASURE_TIMEOUT_MS },
)
const markPurged = statement(
  'purge-withdrawal',
  { withdrawalId: text, now: time },
  {},
  (v) =>
    sql`UPDATE withdrawals SET feedback = NULL, sealed_subjects = NULL, purged_at = ${v.now}, receipt_due_at = ${v.now}
     WHERE id = ${v.withdrawalId}`,
)
const deleteCompletedTasks = statement(
  'purge-tasks',
  { withdrawalId: text },
  {},
  (v) => sql`DELETE FROM deletion_tasks WHERE withdrawal_id = ${v.withdrawalId} AND status = 'completed'`,
)
// The external id does not outlive the purge. An application that has its own id of the person can still be told: its task keeps
// that id, and the account's.
const clearSubjects = statement(
  'purge-subjects',
  { withdrawalId: text, sealedAccount: bytes },
  {},
  (v) => sql`UPDATE deletion_tasks
   SET sealed_subject = NULL, sealed_account = CASE WHEN subject IS NOT NULL THEN ${v.sealedAccount}::bytea END
   WHERE withdrawal_id = ${v.withdrawalId} AND status <> 'completed'`,
)
// Their deliveries, which hold the applications' ids of the person, are deleted with them.
const deleteEvents = statement(
  'purge-events',
  { withdrawalId: text },
  {},
  (v) => sql`DELETE FROM events WHERE withdrawal_id = ${v.withdrawalId}`,
)
// What an operator did to other accounts stays in their audit, without who it was.
const clearOperator = statement(
  'purge-operator',
  { userId: text, maxRows: integer },
  { is_over: boolean },
  (v) => sql`WITH cleared AS (
     UPDATE audit_events SET actor_id = NULL
     WHERE ${isOneOf(sql`id`, sql`SELECT id FROM audit_events WHERE actor_id = ${v.userId} AND actor = 'operator' LIMIT ${v.maxRows}`)}
     RETURNING 1
   )
   SELECT count(*) < ${v.maxRows} AS is_over FROM cleared`,
  { timeoutMs: ERASURE_TIMEOUT_MS },
)
// Open erasures find the person by the user id; the calls to applications do not need it.
const clearUserId = statement(
  'purge-user-id',
  { withdrawalId: text },
  {},
  (v) => sql`UPDATE withdrawals SET user_id = NULL
   WHERE id = ${v.withdrawalId} AND NOT EXISTS (
     SELECT FROM deletion_steps
     WHERE withdrawal_id = ${v.withdrawalId} AND step NOT IN (${STEPS_AFTER_TASKS}) AND status <> 'completed'
       AND erased_at IS NULL)`,
)

/** Deletes what withdrawals retained, once their retention has ended, whether they are completed or not. Returns how many it purged. */
export async function purgeRetainedData(ctx: SystemContext, maxRows = 50): Promise<number> {
  if (ctx.clock.isOff?.()) return 0
  let purged = 0
  const read = (after: After) => ctx.sql(duePurges, { ...after, now: ctx.clock.now() })
  await eachDue({ rows: 'purges', maxRows }, read, async ({ id }) => {
    // In batches, each in a transaction, so that a run after a crash continues. False if another instance holds it, or has purged it.
    if (await inBatches((rows) => ctx.transaction((tx) => purgeBatch(tx, id, rows)))) purged++
  })
  return purged
}

/** Null if more is left. */
async function purgeBatch(tx: Transaction, withdrawalId: string, rows: number) {
  const [row] = await tx.sql(lock, { withdrawalId })
  if (!row || row.is_purged) return false
  const erased = { withdrawalId, userId: row.user_id, pseudonym: '', keeps: new Set<never>() }
  // An application that has its own id of the person is told later: its task holds all that the call needs.
  const areErased = [
    await erase(tx, 'third_party_integrations', erased, rows),
    await erase(tx, 'purge', erased, rows),
    (await tx.sql(deleteRetained, { withdrawalId, maxRows: rows }))[0]?.is_over,
    (await tx.sql(clearOperator, { userId: erased.userId, maxRows: rows }))[0]?.is_over,
  ]
  if (!areErased.every(Boolean)) return null
  await tx.sql(deleteEvents, { withdrawalId })
  await tx.sql(clearSubjects, { withdrawalId, sealedAccount: tx.secrets.seal(erased.userId) })
  await addEndEvent(tx, 'account.purged', erased, row.sealed_subjects)
  await tx.sql(markPurged, { withdrawalId, now: tx.clock.now() })
  // Written before `clearPurged` deletes which applications were told.
  await writeReceipts(tx, withdrawalId)
  await clearPurged(tx, withdrawalId)
  return true
}

/** Clears what a purged withdrawal kept for its open steps. Runs again as each of them ends. */
export async function clearPurged(tx: Transaction, withdrawalId: string): Promise<void> {
  await tx.sql(deleteCompletedTasks, { withdrawalId })
  await tx.sql(clearUserId, { withdrawalId })
}
