import { cache, type ReactNode } from 'react'
import { StepWaitsFor } from '@/components/admin/attempts'
import { Command, lineOf } from '@/components/admin/command'
import { DeliveryTable } from '@/components/admin/delivery-table'
import { AppLink, auditFor, type Fields, StateOf, TroubleBadges, triedStep } from '@/components/admin/drawn'
import { Facts } from '@/components/admin/facts'
import { Retry } from '@/components/admin/operator-button'
import { Part, TablePart } from '@/components/admin/part'
import { Counts, StepName } from '@/components/admin/step-texts'
import { TaskTable, taskApp, triedTask } from '@/components/admin/task-table'
import { isRequested, TRIES_ITSELF } from '@/components/admin/words'
import { CopyButton } from '@/components/ui/copy-button'
import { Countdown } from '@/components/ui/countdown'
import { LocalTime } from '@/components/ui/local-time'
import { textLink } from '@/components/ui/text-link'
import {
  holdsUp,
  openParts,
  retriedParts,
  type ShownAudit,
  type ShownStep,
  type ShownWithdrawal,
  shownAudit,
  shownNotice,
  shownStep,
  shownWithdrawal,
  troublesOfStep,
  troublesOfWithdrawal,
} from '@/contract/operator'
import { isFailing, isOpen, type ShownTask } from '@/contract/tasks'
import { count, nameOfEvent, RECEIPTS, resultOf } from '@/contract/words'
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
  const { withdrawal_id: id, deletion_steps, tasks, deliveries, notices, audit, is_cut } = withdrawal
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
        <Facts of={shownWithdrawal} row={withdrawal} fields={factsAt(now)} />
      </Part>
      {is_cut && <p className="text-ink-muted">There is more than this page shows.</p>}
      <TablePart
        title="Deletion steps"
        of={shownStep}
        rows={deletion_steps}
        id="step"
        fields={stepFields(withdrawal)}
        none="It has no steps."
      />
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
      <TablePart
        title="Audit log"
        description="What operators and services did, the newest first. What the person did is deleted with the logs."
        of={shownAudit}
        rows={audit}
        id="audit_id"
        fields={{ ...auditFor(ctx.actor.userId), subject_id: subjectAmong(withdrawal) }}
        none={noActs(withdrawal)}
      />
    </AdminPage>
  )
}

const DELETED_SINCE = 'They were deleted with what was kept.'

/** The tasks go with what was kept, and so does who had not confirmed. */
const noTasks = ({ purged_at }: ShownWithdrawal) =>
  purged_at ? `${DELETED_SINCE} What each app answered stands in the receipt.` : 'No app has a task.'

/** What operators did leaves this page with what was kept, and stays in the audit. */
const noActs = ({ purged_at }: ShownWithdrawal) =>
  purged_at
    ? `Acts of operators are no longer shown here. This command still has them: ${lineOf('audit export --since TIME')}`
    : 'No operator has retried anything here, or stopped waiting.'

/** An act on a task concerns its application; the others concern this deletion. */
const subjectAmong =
  ({ withdrawal_id, tasks }: ShownWithdrawal) =>
  ({ subject_id }: ShownAudit) => {
    if (subject_id === withdrawal_id) return null
    const task = tasks.find(({ task_id }) => task_id === subject_id)
    return task ? <AppLink id={task.app_id} name={task.name} /> : <span className="font-mono">{subject_id}</span>
  }

/** Longer lists stand below alone. */
const MAX_CAUSES = 3

/** What is next where nothing fails and nothing is late. */
function NextStep({ of: { tasks, deletion_steps }, now }: { of: ShownWithdrawal; now: Date }) {
  const isDue = ({ due_at }: { due_at: string | null }) => due_at !== null && Date.parse(due_at) <= now.getTime()
  const waitsFor = tasks.filter((task) => isOpen(task) && (isRequested(task) || isDue(task)))
  if (waitsFor.length > 0)
    return <p>Nothing is late: it waits for {LISTED.format(waitsFor.map(({ name }) => name))}.</p>
  const [next] = deletion_steps
    .flatMap(({ step, completed_at, due_at }) => (due_at && !completed_at ? { step, due_at } : []))
    .sort((one, other) => Date.parse(one.due_at) - Date.parse(other.due_at))
  if (!next) return null
  if (isDue(next)) return <p>Nothing holds it up: its next step runs within a minute.</p>
  return (
    <p>
      Nothing holds it up: “<StepName step={next.step} />” runs in <Countdown until={next.due_at} />.
    </p>
  )
}

/** Why it goes on, or is late: each application and step that does not do its part. */
function Causes({ of: withdrawal, now }: { of: ShownWithdrawal; now: Date }) {
  const { is_past_due, tasks, deletion_steps } = withdrawal
  const late = new Set(deletion_steps.filter(({ is_overdue }) => is_overdue).map(({ step }) => step))
  const causes = [
    ...tasks
      .filter(
        (task) =>
          isOpen(task) &&
          (task.last_error !== null ||
            task.state === 'present' ||
            task.is_app_disabled ||
            is_past_due ||
            late.has(task.phase)),
      )
      .map((task) => <TaskCause key={task.task_id} task={task} />),
    ...openParts(withdrawal)
      .steps.filter(({ last_error }) => last_error !== null)
      .map(({ step, last_error, attempts }) => (
        <p key={step}>
          <StepName step={step} /> fails: {last_error && resultOf(last_error)}, {count(attempts, 'attempt')}.
        </p>
      )),
  ]
  const isTried =
    tasks.some((task) => isFailing(task) && !task.is_app_disabled && !task.polls) ||
    openParts(withdrawal).steps.some(({ last_error }) => last_error !== null)
  return (
    <div className="mb-5 space-y-1 font-medium empty:hidden">
      {causes.length === 0 && <NextStep of={withdrawal} now={now} />}
      {causes.slice(0, MAX_CAUSES)}
      {causes.length > MAX_CAUSES && <p>And {causes.length - MAX_CAUSES} more, below.</p>}
      {isTried && <p className="font-normal text-ink-muted">{TRIES_ITSELF}</p>}
    </div>
  )
}

function TaskCause({ task }: { task: ShownTask }) {
  const { task_id, name, state, is_app_disabled, polls, last_error, failing_since, attempts } = task
  const isPresent = state === 'present'
  return (
    <p className="wrap-anywhere">
      Waits for{' '}
      <a href={`#${task_id}`} className={textLink}>
        {name}
      </a>
      {is_app_disabled && ', which is disabled: enable it, or stop waiting for it.'}
      {!is_app_disabled && isPresent && ', which still has the person: retry its task, or stop waiting for it.'}
      {!is_app_disabled && !isPresent && last_error && (
        <>
          : {resultOf(last_error)}
          {failing_since && (
            <>
              , no good answer since <LocalTime dateTime={failing_since} />
            </>
          )}
          , {count(attempts, 'attempt')}.
        </>
      )}
      {!is_app_disabled &&
        !isPresent &&
        !last_error &&
        (polls && attempts === 0 ? ', which has not asked for its task yet: check that it runs.' : '.')}
    </p>
  )
}

/** A cause leads to its task. */
const placedApp = (task: ShownTask) => (
  <span id={task.task_id} className="scroll-mt-6">
    {taskApp(task)}
  </span>
)

/** Its state, and the button that retries what has failed. */
function State({ withdrawal }: { withdrawal: ShownWithdrawal }) {
  const { withdrawal_id: id, status } = withdrawal
  const { steps, deliveries } = retriedParts(withdrawal)
  const tried = [
    ...steps.map(triedStep),
    ...openParts(withdrawal).tasks.map(triedTask),
    ...deliveries.map(({ webhook_id, app_name, type, ...tried }) => ({
      ...tried,
      id: webhook_id,
      name: `${app_name} (${nameOfEvent(type)})`,
    })),
  ]
  return (
    <div className="flex flex-wrap items-center gap-2 sm:ms-auto sm:justify-end sm:text-end">
      <StateOf state={status} tasks={withdrawal} />
      <TroubleBadges of={troublesOfWithdrawal(withdrawal)} />
      <Retry operation="retryWithdrawal" params={{ withdrawalId: id }} of={id} tried={tried} />
    </div>
  )
}

const factsAt = (now: Date): Fields<typeof shownWithdrawal> => ({
  user_id: ({ user_id }) =>
    user_id && (
      <span className="flex flex-wrap items-center gap-x-3 sm:-my-1.5">
        <span className="font-mono text-sm">{user_id}</span>{' '}
        <span className="-ms-3">
          <CopyButton text={user_id} label="the account’s id" />
        </span>
      </span>
    ),
  started_at: true,
  scheduled_completion: ({ scheduled_completion: time, completed_at }) =>
    completed_at === null && (
      <>
        <LocalTime dateTime={time} format="short" />
        {Date.parse(time) < now.getTime() && ', which has passed'}
      </>
    ),
  completed_at: true,
  due_by: ({ due_by, completed_at }) =>
    due_by && completed_at === null && <LocalTime dateTime={due_by} format="short" />,
  purge_due_at: ({ purge_due_at, purged_at }) =>
    purge_due_at && !purged_at && <LocalTime dateTime={purge_due_at} format="short" />,
  purged_at: true,
  receipts: ({ withdrawal_id, receipts, receipt_due_at }) => (
    <>
      {receipts.length > 0 ? `Of ${LISTED.format(receipts.map(({ kind }) => RECEIPTS[kind]))}` : 'None yet'}
      {receipt_due_at && '; one is being written'}
      {receipts.length > 0 && (
        <div className="text-ink-muted text-sm">
          This command prints them: <Command words={`receipt show ${withdrawal_id}`} />
        </div>
      )}
    </>
  ),
})

/** Steps begin in a status that people read as work in progress; what was never run waits. */
const isUntried = ({ attempts, erased_at, completed_at }: ShownStep) =>
  attempts === 0 && erased_at === null && completed_at === null

const countsOf = (tasks: readonly ShownTask[]) => ({
  open_tasks: tasks.filter(isOpen).length,
  waived_tasks: tasks.filter(({ waived }) => waived).length,
})

const stepFields = ({ tasks, purged_at }: ShownWithdrawal): Fields<typeof shownStep> => ({
  step: true,
  status: (shown) => {
    const own = tasks.filter(({ phase }) => phase === shown.step)
    // The answer of an app that nobody waits for any more stays with the step until it runs again.
    const isOfWaived = own.some(({ waived, last_error }) => waived && last_error === shown.last_error)
    const step = isOfWaived ? { ...shown, last_error: null } : shown
    const failing = own.filter(holdsUp)
    // The error of the last call stays with the step while its app is called again.
    const isCalling = own.some(({ state }) => state === 'calling')
    const isWaiting = !isUntried(step) && !step.completed_at && (step.erased_at || !step.last_error || isCalling)
    const waitsFor = isWaiting ? own.filter(isOpen) : []
    return (
      <>
        <p className="flex flex-wrap items-center gap-2">
          <StateOf state={isUntried(step) ? 'pending' : step.status} tasks={countsOf(own)} />
          <TroubleBadges of={troublesOfStep(shown, tasks)} />
        </p>
        <p className="mt-1 text-ink-muted">
          <StepState step={step} failing={failing} waitsFor={waitsFor} />
          {step.is_overdue && (
            <>
              {' '}
              It was planned for <LocalTime dateTime={step.estimated_completion} format="short" mayBreak />.
            </>
          )}
        </p>
      </>
    )
  },
  erased: ({ erased }) => erased && erased.length > 0 && counted(<Counts of={erased} />),
  retained: ({ retained = [] }) => retained.length > 0 && (purged_at ? 'Erased since' : kept(retained)),
})

/** A step whose own part is done waits for its apps, and what it tried itself says nothing more. */
function StepState({
  step,
  failing,
  waitsFor,
}: Record<'failing' | 'waitsFor', readonly ShownTask[]> & { step: ShownStep }) {
  const listed = (tasks: readonly ShownTask[]) => LISTED.format(tasks.map(({ name }) => name))
  if (step.completed_at) return <LocalTime dateTime={step.completed_at} format="short" />
  if (failing.length > 0) return `${listed(failing)} ${failing.length === 1 ? 'fails' : 'fail'}, see below.`
  if (waitsFor.length > 0)
    return `${step.erased_at ? 'Its own part is done, and it waits' : 'Waits'} for ${listed(waitsFor)}.`
  // Its attempts were those of its apps, which are done or waived.
  if (!step.last_error && step.attempts > 0) return 'Runs by itself within minutes.'
  return <StepWaitsFor step={step} />
}
const LISTED = new Intl.ListFormat('en')

const counted = (counts: ReactNode) => <span className="block first-letter:uppercase">{counts}</span>

const REASONS: Record<string, string> = { law: 'required by law', choice: 'as the person asked' }

/** What stays, by the reason why. */
const kept = (retained: NonNullable<ShownStep['retained']>) =>
  [...Map.groupBy(retained, ({ reason }) => reason)].map(([reason, counts]) => (
    <span key={reason} className="block first-letter:uppercase">
      <Counts of={counts} /> ({REASONS[reason] ?? reason})
    </span>
  ))
