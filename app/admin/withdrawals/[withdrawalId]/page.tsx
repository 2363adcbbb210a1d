import { cache } from 'react'
import { AuditPart } from '@/components/admin/audit-part'
import { Causes } from '@/components/admin/causes'
import { Command } from '@/components/admin/command'
import { DeliveryTable } from '@/components/admin/delivery-table'
import { AppLink, type Fields, StateOf, TroubleBadges } from '@/components/admin/drawn'
import { Facts } from '@/components/admin/facts'
import { mono } from '@/components/admin/id-link'
import { Part, TablePart } from '@/components/admin/part'
import { Retry } from '@/components/admin/retry'
import { StepTable } from '@/components/admin/step-table'
import { TaskTable } from '@/components/admin/task-table'
import { triedDelivery, triedStep, triedTask } from '@/components/admin/tried'
import { CopyButton } from '@/components/ui/copy-button'
import { LocalTime } from '@/components/ui/local-time'
import {
  openParts,
  retriedParts,
  type ShownAudit,
  type ShownWithdrawal,
  shownNotice,
  shownWithdrawal,
  troublesOfWithdrawal,
} from '@/contract/operator'
import type { ShownTask } from '@/contract/tasks'
import { listOf, RECEIPTS } from '@/contract/words'
import { showWithdrawal } from '@/domain/withdrawal/show-withdrawal'
import { systemContext } from '@/server/system-context'
import { AdminPage } from '../../admin-page'
import { operatorContext, orNotFound, titleForOperators } from '../../for-operators'

/** Read once for the title and the page. */
const readWithdrawal = cache((id: string) => showWithdrawal(systemContext(), id))

export const generateMetadata = titleForOperators('Deletion', async (id) => (await readWithdrawal(id)).withdrawal_id)

export default async function WithdrawalPage({ params }: { params: Promise<{ withdrawalId: string }> }) {
  const ctx = await operatorContext('/admin/withdrawals')
  const withdrawal = await readWithdrawal((await params).withdrawalId).catch(orNotFound)
  const { withdrawal_id: id, tasks, deliveries, notices, audit, is_cut } = withdrawal
  const now = ctx.clock.now()
  return (
    <AdminPage
      section="/admin/withdrawals"
      title="Deletion"
      id={id}
      description="What it has deleted, and what it waits for."
      // While an application is not done it stays open, also after its purge.
      refreshes={withdrawal.status !== 'purged'}
    >
      <Part title="State" aside={<State withdrawal={withdrawal} />}>
        <Causes of={withdrawal} now={now} />
        <Facts of={shownWithdrawal} row={withdrawal} fields={factsOf(withdrawal, now)} />
      </Part>
      {is_cut && <p className="text-ink-muted">There is more than this page shows.</p>}
      <StepTable of={withdrawal} />
      <Part title="Deletion tasks of apps" none={tasks.length === 0 && noTasks(withdrawal)}>
        <TaskTable label="Deletion tasks" tasks={tasks} fields={{ name: placedApp }} />
      </Part>
      <DeliveryTable
        title="Events"
        deliveries={deliveries}
        none={withdrawal.purged_at ? DELETED_SINCE : 'No event was sent, other than the tasks.'}
        namesApp
      />
      <TablePart
        title="Mails"
        of={shownNotice}
        rows={notices}
        id="notice_id"
        fields={{ kind: true, attempts: true, due_at: true, sent_at: true, failed_at: true }}
        none="No record of a mail is kept: they are deleted with the account’s other records."
      />
      <AuditPart
        description="What operators and services did, the newest first. The entry of its start is deleted with the logs."
        acts={audit}
        readerId={ctx.actor.userId}
        subjectOf={subjectAmong(withdrawal)}
        none={noActs(withdrawal)}
      />
    </AdminPage>
  )
}

const DELETED_SINCE = 'They were deleted with what was kept.'

/** The tasks go with what was kept, and so does who had not confirmed. */
const noTasks = ({ purged_at }: ShownWithdrawal) =>
  purged_at ? `${DELETED_SINCE} What each app answered stands in the receipt.` : 'No app has a task.'

/** Who asked for the deletion stands in the logs alone. What operators did leaves this page with what was kept, and stays in the audit. */
const noActs = ({ purged_at }: ShownWithdrawal) =>
  purged_at ? (
    <>
      Acts of operators are no longer shown here. This command still has them:{' '}
      <Command words="audit export --since TIME" />
    </>
  ) : (
    'Nothing was retried here, and nobody stopped waiting. The entry of its start is deleted with the logs.'
  )

/** An act on a task concerns its application; the others concern this deletion. */
const subjectAmong =
  ({ withdrawal_id, tasks }: ShownWithdrawal) =>
  ({ subject_id }: ShownAudit) => {
    if (subject_id === null || subject_id === withdrawal_id) return null
    const task = tasks.find(({ task_id }) => task_id === subject_id)
    return task ? <AppLink id={task.app_id} name={task.name} /> : mono(subject_id)
  }

/** A cause leads to its task. */
const placedApp = (task: ShownTask) => (
  <span id={task.task_id} className="scroll-mt-6">
    <AppLink id={task.app_id} name={task.name} />
  </span>
)

/** Its state, and the button that retries what has failed. */
function State({ withdrawal }: { withdrawal: ShownWithdrawal }) {
  const { withdrawal_id: id, status } = withdrawal
  const { steps, deliveries } = retriedParts(withdrawal)
  const tried = [
    ...steps.map(triedStep),
    ...openParts(withdrawal).tasks.map(triedTask),
    ...deliveries.map(triedDelivery),
  ]
  return (
    <>
      <div className="flex flex-wrap items-center gap-2 sm:ms-auto sm:justify-end sm:text-end">
        <StateOf state={status} tasks={withdrawal} />
        <TroubleBadges of={troublesOfWithdrawal(withdrawal)} />
      </div>
      {/* A part of the row itself, because its result stands below all of it. */}
      <Retry
        operation="retryWithdrawal"
        params={{ withdrawalId: id }}
        of={id}
        tried={tried}
        // One task alone has its own button, below.
        least={[...steps, ...deliveries].some(({ last_error }) => last_error !== null) ? 1 : 2}
        waived={withdrawal.waived_tasks ?? 0}
      />
    </>
  )
}

/** What is behind says nothing more of what was planned. */
const factsOf = ({ completed_at, purged_at }: ShownWithdrawal, now: Date): Fields<typeof shownWithdrawal> => ({
  user_id: ({ user_id }) =>
    user_id && (
      <span className="flex flex-wrap items-center gap-x-3 sm:-my-1.5">
        <span className="font-mono text-sm">{user_id}</span>{' '}
        <span className="-ms-3">
          <CopyButton text={user_id} label="the account’s ID" />
        </span>
      </span>
    ),
  started_at: true,
  scheduled_completion:
    completed_at === null &&
    (({ scheduled_completion: time }) => (
      <>
        <LocalTime dateTime={time} format="short" />
        {Date.parse(time) < now.getTime() && ', which has passed'}
      </>
    )),
  completed_at: true,
  due_by: completed_at === null,
  purge_due_at: purged_at === null,
  purged_at: true,
  receipts: ({ withdrawal_id, receipts, receipt_due_at }) => (
    <>
      {receipts.length > 0 ? `Of ${listOf(receipts.map(({ kind }) => RECEIPTS[kind]))}` : 'None yet'}
      {receipt_due_at && '; one is being written'}
      {receipts.length > 0 && (
        <div className="text-ink-muted text-sm">
          This command prints them: <Command words={`receipt show ${withdrawal_id} --wide`} />
        </div>
      )}
    </>
  ),
})
