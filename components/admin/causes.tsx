import type { ReactNode } from 'react'
import { openParts, type ShownWithdrawal } from '@/contract/operator'
import { isFailing, isOpen, type ShownTask } from '@/contract/tasks'
import { count, listOf, resultOf } from '@/contract/words'
import { Countdown } from '../ui/countdown'
import { textLink } from '../ui/text-link'
import { Since } from './since'
import { StepName } from './step-texts'
import { isRequested, TRIES_ITSELF } from './words'

/** Longer lists stand below alone. */
const MAX_CAUSES = 3

/** What is next where nothing fails and nothing is late. */
function NextStep({ of: { tasks, deletion_steps }, now }: { of: ShownWithdrawal; now: Date }) {
  const isDue = ({ due_at }: { due_at: string | null }) => due_at !== null && Date.parse(due_at) <= now.getTime()
  const waitsFor = tasks.filter((task) => isOpen(task) && (isRequested(task) || isDue(task)))
  if (waitsFor.length > 0) return <p>Nothing is late: it waits for {listOf(waitsFor.map(({ name }) => name))}.</p>
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

/** Why a deletion goes on, or is late: each application and step that does not do its part. */
export function Causes({ of: withdrawal, now }: { of: ShownWithdrawal; now: Date }) {
  const { is_past_due, tasks, deletion_steps } = withdrawal
  const late = new Set(deletion_steps.filter(({ is_overdue }) => is_overdue).map(({ step }) => step))
  const failing = openParts(withdrawal).steps.filter(({ last_error }) => last_error !== null)
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
    ...failing.map(({ step, last_error, attempts }) => (
      <p key={step}>
        <StepName step={step} /> fails: {last_error && resultOf(last_error)}, {count(attempts, 'attempt')}.
      </p>
    )),
  ]
  const isTried = failing.length > 0 || tasks.some((task) => isFailing(task) && !task.is_app_disabled && !task.polls)
  return (
    <div className="mb-5 space-y-1 font-medium empty:hidden">
      {causes.length === 0 && <NextStep of={withdrawal} now={now} />}
      {causes.slice(0, MAX_CAUSES)}
      {causes.length > MAX_CAUSES && <p>And {causes.length - MAX_CAUSES} more, below.</p>}
      {isTried && <p className="font-normal text-ink-muted">{TRIES_ITSELF}</p>}
    </div>
  )
}

const TaskCause = ({ task }: { task: ShownTask }) => (
  <p className="wrap-anywhere">
    Waits for{' '}
    <a href={`#${task.task_id}`} className={textLink}>
      {task.name}
    </a>
    {causeOf(task)}
  </p>
)

function causeOf({ state, is_app_disabled, polls, last_error, failing_since, attempts }: ShownTask): ReactNode {
  if (is_app_disabled) return ', which is disabled: enable it, or stop waiting for it.'
  if (state === 'present') return ', which still has the person: retry its task, or stop waiting for it.'
  if (!last_error) return polls && attempts === 0 ? ', which has not asked for its task yet: check that it runs.' : '.'
  return (
    <>
      : {resultOf(last_error)}
      {failing_since && (
        <>
          , no good answer <Since time={failing_since} />
        </>
      )}
      , {count(attempts, 'attempt')}.
    </>
  )
}
