import type { ReactNode } from 'react'
import {
  countTasks,
  holdsUp,
  isUntried,
  type ShownStep,
  type ShownWithdrawal,
  shownStep,
  troublesOfStep,
} from '@/contract/operator'
import { isOpen, type ShownTask } from '@/contract/tasks'
import { listOf } from '@/contract/words'
import { LocalTime } from '../ui/local-time'
import { StepWaitsFor } from './attempts'
import { StateOf, TroubleBadges } from './drawn'
import { TablePart } from './part'
import { Counts } from './step-texts'

/** The steps of a deletion, and what each has deleted and kept. */
export const StepTable = ({ of: { deletion_steps, tasks, purged_at } }: { of: ShownWithdrawal }) => (
  <TablePart
    title="Deletion steps"
    of={shownStep}
    rows={deletion_steps}
    id="step"
    fields={{
      step: true,
      status: (step) => <StepState step={step} tasks={tasks} />,
      erased: ({ erased }) => erased && erased.length > 0 && counted(<Counts of={erased} />),
      retained: ({ retained = [] }) => retained.length > 0 && (purged_at ? 'Erased since' : kept(retained)),
    }}
    none="It has no steps."
  />
)

function StepState({ step, tasks }: { step: ShownStep; tasks: readonly ShownTask[] }) {
  const own = tasks.filter(({ phase }) => phase === step.step)
  return (
    <>
      <p className="flex flex-wrap items-center gap-2">
        <StateOf state={isUntried(step) ? 'pending' : step.status} tasks={countTasks(own)} />
        <TroubleBadges of={troublesOfStep(step, tasks)} />
      </p>
      <p className="mt-1 text-ink-muted">
        <Waiting step={withoutWaived(step, own)} tasks={own} />
      </p>
    </>
  )
}

/** The answer of an app that nobody waits for any more stays with the step until it runs again. */
const withoutWaived = (step: ShownStep, own: readonly ShownTask[]): ShownStep =>
  own.some(({ waived, last_error }) => waived && last_error === step.last_error) ? { ...step, last_error: null } : step

/** When it was complete, or what it waits for. A step whose own part is done waits for its apps, and what it tried itself says nothing more. */
function Waiting({ step, tasks }: { step: ShownStep; tasks: readonly ShownTask[] }) {
  if (step.completed_at) return <LocalTime dateTime={step.completed_at} format="short" />
  const failing = namesOf(tasks.filter(holdsUp))
  if (failing.length > 0) return `${listOf(failing)} ${failing.length === 1 ? 'fails' : 'fail'}, see below.`
  // The error of the last call stays with the step while its app is called again.
  const isCalling = tasks.some(({ state }) => state === 'calling')
  const isWaiting = !isUntried(step) && (step.erased_at || !step.last_error || isCalling)
  const waitsFor = isWaiting ? namesOf(tasks.filter(isOpen)) : []
  if (waitsFor.length > 0)
    return `${step.erased_at ? 'Its own part is done, and it waits' : 'Waits'} for ${listOf(waitsFor)}.`
  // Its attempts were those of its apps, which are done or waived.
  if (!step.last_error && step.attempts > 0) return 'Runs by itself within minutes.'
  return <StepWaitsFor step={step} />
}

const namesOf = (tasks: readonly ShownTask[]) => tasks.map(({ name }) => name)

const counted = (counts: ReactNode) => <span className="block first-letter:uppercase">{counts}</span>

const REASONS: Record<string, string> = { law: 'required by law', choice: 'as the person asked' }

/** What stays, by the reason why. */
const kept = (retained: NonNullable<ShownStep['retained']>) =>
  [...Map.groupBy(retained, ({ reason }) => reason)].map(([reason, counts]) => (
    <span key={reason} className="block first-letter:uppercase">
      <Counts of={counts} /> ({REASONS[reason] ?? reason})
    </span>
  ))
