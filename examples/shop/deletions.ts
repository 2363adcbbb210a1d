import { setTimeout } from 'node:timers/promises'
import { ApiError, type DeletionTask, type Outcome, reportTask, type TaskReport } from 'user-account-service/client'
import { query } from './database.ts'

/** How long the shop takes for one order, so that a person can watch. */
const PACE_MS = Number(process.env.SHOP_PACE_MS ?? 2000)

interface Deletion {
  task_id: string
  user_id: string
  account: string
  report_to: string
  report_token: string
}

/** Only remembers the deletion, because its answer must be quick. Whom the shop does not know is deleted already. */
export async function acceptDeletion(account: string, task: DeletionTask): Promise<Outcome> {
  const [open] = await query(
    `WITH asked_again AS (
       UPDATE deletions SET report_to = $3, report_token = $4, reported_at = NULL WHERE task_id = $1 RETURNING task_id
     ), begun AS (
       INSERT INTO deletions (task_id, user_id, account, report_to, report_token, total)
       SELECT $1, id, account, $3, $4, (SELECT count(*) FROM orders WHERE user_id = users.id) FROM users WHERE account = $2
       ON CONFLICT DO NOTHING RETURNING task_id
     )
     SELECT FROM asked_again UNION ALL SELECT FROM begun`,
    [task.id, account, task.report_to, task.report_token],
  )
  return open ? 'later' : 'done'
}

/** Goes on with every deletion that is not reported, also after a restart. */
export async function workOffDeletions(): Promise<void> {
  const sql = `SELECT task_id, user_id, account, report_to, report_token FROM deletions WHERE reported_at IS NULL`
  const runs = await Promise.allSettled((await query<Deletion>(sql)).map(runDeletion))
  for (const run of runs) if (run.status === 'rejected') throw run.reason
}

async function runDeletion(deletion: Deletion): Promise<void> {
  for (;;) {
    const progress = await deleteNextOrder(deletion)
    if (!progress) break
    await report(deletion, { status: 'processing', progress })
    await setTimeout(PACE_MS)
  }
  await query(`DELETE FROM users WHERE account = $1`, [deletion.account])
  await report(deletion, { status: 'completed', ...(await outcomeOf(deletion)) })
  await query(`UPDATE deletions SET reported_at = now(), report_token = NULL WHERE task_id = $1`, [deletion.task_id])
}

/** One statement deletes the order and counts it, so that a killed shop neither forgets nor counts twice. */
async function deleteNextOrder({ task_id, account }: Deletion) {
  const [progress] = await query<{ done: number; total: number }>(
    `WITH deleted AS (
       DELETE FROM orders WHERE id = (
         SELECT min(o.id) FROM orders o JOIN users u ON u.id = o.user_id WHERE u.account = $2
       ) RETURNING id
     )
     UPDATE deletions SET done = done + 1 WHERE task_id = $1 AND EXISTS (SELECT FROM deleted) RETURNING done, total`,
    [task_id, account],
  )
  return progress
}

async function outcomeOf({ task_id, user_id }: Deletion) {
  const [deletion] = await query<{ done: number }>(`SELECT done FROM deletions WHERE task_id = $1`, [task_id])
  const kept = await query<{ until: string }>(
    `SELECT max(keep_until)::text AS until FROM invoices WHERE user_id = $1 HAVING count(*) > 0`,
    [user_id],
  )
  const retained = kept.map(({ until }) => ({ category: 'invoices', reason: 'tax law', until }))
  return { records: deletion?.done ?? 0, retained }
}

/** A task that is over elsewhere, because somebody waived it, is deleted here all the same. */
async function report({ report_to, report_token }: Deletion, said: TaskReport): Promise<void> {
  await reportTask({ report_to, report_token }, said).catch((error) => {
    if (!(error instanceof ApiError) || !error.code.startsWith('TASK_')) throw error
  })
}
