import { absenceAnswer } from '@/contract/tasks'
import type { Step } from '@/contract/withdrawal'
import type { SystemContext } from '../context'
import { CALL_BACK_OFF, CALL_LEASE_MS, MAX_CALL_MS } from '../limits/durations'
import type { AppAnswer } from '../ports'
import { boolean, integer, NULL, type Part, type RowOf, sql, statement, text, time } from '../sql'
import { claimFor, isClaimable, release, retryAfter, takeLease } from '../work/queue'
import { PERSON_OF_TASK, PERSON_ROW, personOf, problemOfPerson, TASKS_OF_STEP, type TasksOfStep } from './deliver'
import { isPresent, MAX_REPEATED_REQUESTS } from './task-states'
import { isCalled, nextCallAt, parsedBody, SIGNING_ROW, sendWebhook, signingOf } from './webhook'

type CheckRow = RowOf<typeof claimDue>

const claimDue = statement(
  'claim-absence-checks',
  { ...TASKS_OF_STEP, now: time, leaseUntil: time },
  { ...SIGNING_ROW, ...PERSON_ROW, id: text, phase: text.of<Step>(), attempts: integer },
  (v) => sql`UPDATE deletion_tasks n
   SET ${takeLease(v, sql`n`)}, checked_at = coalesce(n.checked_at, ${v.now})
   FROM connected_apps a, withdrawals w
   WHERE n.withdrawal_id = ${v.withdrawalId} AND n.phase = ${v.step} AND a.id = n.app_id AND ${isCalled(sql`a`)}
     AND w.id = n.withdrawal_id AND n.completed_at IS NOT NULL AND NOT ${isPresent(sql`n`)} AND ${isClaimable(v, sql`n`)}
   RETURNING n.id, ${PERSON_OF_TASK}, n.phase, n.attempts, ${signingOf(sql`a`)}`,
)

/** Claims the due absence checks of a step that no other instance holds; each has a lease of its own. */
export function claimChecks(ctx: SystemContext, { withdrawalId, step }: TasksOfStep): Promise<CheckRow[]> {
  return ctx.sql(claimDue, { withdrawalId, step, ...claimFor(ctx, CALL_LEASE_MS) })
}

const CHECK = { id: text, withdrawalId: text, attempts: integer }

/** Locks the withdrawal, as the end of a step and the purge do. */
const lockedWithdrawal = (v: { withdrawalId: Part }) =>
  sql`withdrawal AS (SELECT id FROM withdrawals WHERE id = ${v.withdrawalId} FOR UPDATE)`
// A later try, a waiver or a retry ends this check, so that its answer no longer counts.
const isThisCheck = (v: { id: Part; attempts: Part }) =>
  sql`n.id = ${v.id} AND n.withdrawal_id = w.id AND n.attempts = ${v.attempts} AND n.lease_until IS NOT NULL
     AND n.completed_at IS NOT NULL AND n.status <> 'completed'`

const confirm = statement(
  'confirm-absence',
  { ...CHECK, now: time },
  {},
  (v) => sql`WITH ${lockedWithdrawal(v)}
   UPDATE deletion_tasks n SET status = 'completed', absent_at = ${v.now}, ${release(NULL)}, last_error = NULL,
     checked_at = NULL, subject = NULL, sealed_subject = NULL, sealed_account = NULL
   FROM withdrawal w WHERE ${isThisCheck(v)}`,
)

const isLast = sql`n.times_present >= ${MAX_REPEATED_REQUESTS}`

// Opens the task again, so that it is told under its id, or leaves it to the operator.
const notePresent = statement(
  'note-present',
  { ...CHECK, now: time, lookAgainAt: time, problem: text },
  { is_last: boolean },
  (v) => sql`WITH ${lockedWithdrawal(v)}
   UPDATE deletion_tasks n SET times_present = n.times_present + 1, checked_at = NULL, accepted_at = NULL,
     last_error = ${v.problem}, ${release(sql`CASE WHEN ${isLast} THEN ${v.lookAgainAt}::timestamptz ELSE ${v.now} END`)},
     completed_at = CASE WHEN ${isLast} THEN n.completed_at END, first_tried_at = CASE WHEN ${isLast} THEN coalesce(n.first_tried_at, ${v.now}) END
   FROM withdrawal w WHERE ${isThisCheck(v)}
   RETURNING ${isPresent(sql`n`)} AS is_last`,
)
const markFailed = statement(
  'mark-absence-check-failed',
  { ...CHECK, nextTryAt: time, problem: text },
  {},
  (v) => sql`UPDATE deletion_tasks n SET ${release(v.nextTryAt)}, last_error = ${v.problem}
   FROM withdrawals w WHERE w.id = ${v.withdrawalId} AND ${isThisCheck(v)}`,
)

const findOther = statement(
  'other-account-of-subject',
  { appId: text, subject: text, account: text },
  {},
  (v) => sql`SELECT FROM users WHERE external_id = ${v.subject} AND withdrawn_at IS NULL AND id <> ${v.account}
   UNION ALL SELECT FROM app_connections WHERE app_id = ${v.appId} AND subject = ${v.subject} AND user_id <> ${v.account}
   LIMIT 1`,
)

/**
 * Asks once whether the application no longer has the person. Only an explicit answer about this account changes anything. Returns whether
 * the person is absent.
 */
export async function askForAbsence(ctx: SystemContext, withdrawalId: string, row: CheckRow): Promise<boolean> {
  const { id, attempts } = row
  const answer = await sendCheck(ctx, withdrawalId, row)
  const check = { id, withdrawalId, attempts }
  const now = ctx.clock.now()
  if (answer.present === false) await ctx.sql(confirm, { ...check, now })
  else if (answer.present) {
    const lookAgainAt = retryAfter(ctx, CALL_BACK_OFF.maxMs * ctx.timeScale)
    const [noted] = await ctx.sql(notePresent, { ...check, now, lookAgainAt, problem: 'still has the person' })
    if (noted?.is_last) ctx.warn('connected_app_kept_person', { appId: row.app_id, withdrawalId, taskId: id })
  } else {
    const problem = answer.problem ?? `HTTP ${answer.status}`
    await ctx.sql(markFailed, { ...check, nextTryAt: nextCallAt(ctx, attempts, answer), problem })
  }
  return answer.present === false
}

/** Whether another account is known to the application by the same id: the answer could be about that one. */
async function isOfAnother(
  ctx: SystemContext,
  appId: string,
  person: { subject: string; account: string },
): Promise<boolean> {
  // Nobody else has our own id.
  if (person.subject === person.account) return false
  return (await ctx.sql(findOther, { appId, ...person })).length > 0
}

/** `present` is absent where the answer says nothing about the account. */
async function sendCheck(
  ctx: SystemContext,
  withdrawalId: string,
  row: CheckRow,
): Promise<AppAnswer & { present?: boolean }> {
  const person = personOf(ctx, row)
  if (person === null) return { status: 0, problem: problemOfPerson(row) }
  if (await isOfAnother(ctx, row.app_id, person))
    return { status: 0, problem: 'another account has its id at the application' }
  const question = JSON.stringify({
    type: 'account.absence_check',
    timestamp: ctx.clock.now().toISOString(),
    data: person,
  })
  const answer = await sendWebhook(ctx, row, {
    id: ctx.secrets.randomId('chk_'),
    body: question,
    bodyWithinMs: MAX_CALL_MS,
    about: { withdrawalId, step: row.phase, taskId: row.id },
  })
  if (answer.status !== 200) return answer
  const body = parsedBody(answer)
  if (body === undefined) return { ...answer, problem: 'HTTP 200 without readable JSON' }
  const said = absenceAnswer.safeParse(body).data
  if (!said) return { ...answer, problem: 'HTTP 200, but the answer lacks "present" or "account"' }
  if ((said.account ?? person.account) !== person.account)
    return { ...answer, problem: 'HTTP 200 about another account' }
  return { ...answer, present: said.present }
}
