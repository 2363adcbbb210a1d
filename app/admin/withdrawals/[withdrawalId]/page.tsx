import { StepWaitsFor } from '@/components/admin/attempts'
import { DeliveryTable } from '@/components/admin/delivery-table'
import { AppLink, AUDIT, type Fields, NotConfirmed, Word } from '@/components/admin/drawn'
import { Facts } from '@/components/admin/facts'
import { Retry } from '@/components/admin/operator-button'
import { Part, TablePart } from '@/components/admin/part'
import { Counts } from '@/components/admin/step-texts'
import { isFailing, isOpenTask, TaskTable, taskApp } from '@/components/admin/task-table'
import { attemptsOf, count, toLabel } from '@/components/admin/words'
import { Badge } from '@/components/ui/badge'
import { CopyButton } from '@/components/ui/copy-button'
import { RelativeTime } from '@/components/ui/relative-time'
import {
  type ShownAudit,
  type ShownStep,
  type ShownWithdrawal,
  shownAudit,
  shownNotice,
  shownStep,
  shownWithdrawal,
} from '@/contract/operator'
import type { ShownTask } from '@/contract/tasks'
import { showWithdrawal } from '@/domain/withdrawal/show-withdrawal'
import { AdminPage } from '../../admin-page'
import { operatorContext, orNotFound, titleForOperators } from '../../for-operators'

export const generateMetadata = titleForOperators('Deletion')

export default async function WithdrawalPage({ params }: { params: Promise<{ withdrawalId: string }> }) {
  const ctx = await operatorContext('/admin/withdrawals')
  const withdrawal = await showWithdrawal(ctx, (await params).withdrawalId).catch(orNotFound)
  const { withdrawal_id: id, deletion_steps, tasks, deliveries, notices, audit, is_cut } = withdrawal
  return (
    <AdminPage
      section="/admin/withdrawals"
      title="Deletion"
      id={id}
      description="What it has deleted, and what it waits for. Refreshes every few seconds."
      refreshes
    >
      <Part title="State" aside={<State withdrawal={withdrawal} />}>
        <Facts of={shownWithdrawal} row={withdrawal} fields={FACTS} />
      </Part>
      {is_cut && <p className="text-ink-muted">There is more than this page shows.</p>}
      <TablePart
        title="Deletion steps"
        of={shownStep}
        rows={deletion_steps}
        id="step"
        fields={stepFields(tasks)}
        none="It has no steps."
      />
      <Part title="Deletion tasks of applications" none={tasks.length === 0 && 'No application has a task.'}>
        <TaskTable label="Deletion tasks" tasks={tasks} fields={{ name: taskApp }} />
      </Part>
      <DeliveryTable title="Events" deliveries={deliveries} none="No event was sent beside the tasks." namesApp />
      <TablePart
        title="Mails"
        of={shownNotice}
        rows={notices}
        id="notice_id"
        fields={{ kind: true, attempts: true, due_at: true, sent_at: true, failed_at: true }}
        none="No mail is kept."
      />
      <TablePart
        title="Audit log"
        description="The newest first."
        of={shownAudit}
        rows={audit}
        id="audit_id"
        fields={{ ...AUDIT, subject_id: subjectAmong(tasks) }}
        none="No act of an operator. What the person did is deleted with the logs."
      />
    </AdminPage>
  )
}

/** An act on a task concerns its application. */
const subjectAmong =
  (tasks: readonly ShownTask[]) =>
  ({ subject_id }: ShownAudit) => {
    const task = tasks.find(({ task_id }) => task_id === subject_id)
    return (
      <>
        {task && <AppLink id={task.app_id} name={task.name} />}
        <span className="block font-mono">{subject_id}</span>
      </>
    )
  }

/** Its state, and the button that retries what has failed. */
function State({ withdrawal }: { withdrawal: ShownWithdrawal }) {
  const { withdrawal_id: id, status, is_past_due, deletion_steps, tasks, deliveries } = withdrawal
  // Deliveries that were made, and tasks that were waived, are not tried again.
  const open = [
    ...deletion_steps.filter((step) => step.completed_at === null),
    ...tasks.filter(isOpenTask),
    ...deliveries.filter((delivery) => delivery.delivered_at === null),
  ]
  return (
    <div className="flex flex-wrap items-center justify-end gap-2 text-end">
      <Word of={status} />
      <NotConfirmed of={withdrawal} />
      {is_past_due && <Badge tone="danger">Past its due date</Badge>}
      <Retry operation="retryWithdrawal" params={{ withdrawalId: id }} of={id} attempts={attemptsOf(open)} />
    </div>
  )
}

const FACTS: Fields<typeof shownWithdrawal> = {
  user_id: ({ user_id }) =>
    user_id && (
      <span className="flex flex-wrap items-center gap-x-3 sm:-my-1.5">
        <span className="font-mono text-sm">{user_id}</span> <CopyButton text={user_id} label="the account’s id" />
      </span>
    ),
  due_by: true,
  started_at: true,
  scheduled_completion: true,
  completed_at: true,
  purge_due_at: true,
  purged_at: true,
  receipts: ({ receipts, receipt_due_at }) =>
    [...receipts.map(({ kind }) => toLabel(kind)), ...(receipt_due_at ? ['one is being written'] : [])].join(', ') ||
    'None yet',
}

/** Steps begin in a status that people read as work in progress; what was never run waits. */
const isUntried = ({ attempts, erased_at, completed_at }: ShownStep) =>
  attempts === 0 && erased_at === null && completed_at === null

const countsOf = (tasks: readonly ShownTask[]) => ({
  open_tasks: tasks.filter(isOpenTask).length,
  waived_tasks: tasks.filter(({ waived }) => waived).length,
})

const stepFields = (tasks: readonly ShownTask[]): Fields<typeof shownStep> => ({
  step: true,
  status: (step) => {
    const own = tasks.filter(({ phase }) => phase === step.step)
    return (
      <>
        <p className="flex flex-wrap items-center gap-2">
          <Word of={isUntried(step) ? 'pending' : step.status} />
          {step.last_error && <Badge tone="danger">Failing</Badge>}
          <NotConfirmed of={countsOf(own)} />
        </p>
        <p className="mt-1 text-ink-muted">
          <StepState step={step} failing={own.filter(isFailing).length} />
        </p>
      </>
    )
  },
  erased: ({ erased }) => erased && erased.length > 0 && <Counts of={erased} />,
  retained: ({ retained = [] }) => retained.length > 0 && kept(retained),
})

/** A step that waits for applications counts the attempts of all of them. */
function StepState({ step, failing }: { step: ShownStep; failing: number }) {
  if (step.completed_at) return <RelativeTime dateTime={step.completed_at} />
  if (failing > 0) return `${count(failing, 'application')} below ${failing === 1 ? 'fails' : 'fail'}.`
  return <StepWaitsFor step={step} />
}

/** What stays, by the reason why. */
const kept = (retained: NonNullable<ShownStep['retained']>) =>
  [...Map.groupBy(retained, ({ reason }) => reason)].map(([reason, counts]) => (
    <span key={reason} className="block">
      <Counts of={counts} /> ({toLabel(reason).toLowerCase()})
    </span>
  ))
