import { isFailing, isOpen, type ShownTask, shownTask, troubleOf } from '@/contract/tasks'
import { TROUBLES } from '@/contract/words'
import { Badge } from '../ui/badge'
import { LocalTime } from '../ui/local-time'
import { WaivedBecause } from '../withdrawal/applications'
import { Attempts, WaitsFor } from './attempts'
import { Command } from './command'
import { type Fields, Word } from './drawn'
import { Retry } from './retry'
import { Table } from './table'
import { triedTask } from './tried'
import { WaiveButton } from './waive-button'
import { TROUBLE_TONES } from './words'

interface TaskTableProps {
  label: string
  tasks: readonly ShownTask[]
  /** The columns before the state: what the page does not say. */
  fields: Fields<typeof shownTask>
}

/** Deletion tasks of applications, with their buttons. */
export const TaskTable = ({ label, tasks, fields }: TaskTableProps) => (
  <>
    <AbsenceHints tasks={tasks} />
    <Table
      label={label}
      of={shownTask}
      rows={tasks}
      id="task_id"
      // Nearly every task belongs to this step.
      fields={{
        ...fields,
        phase: tasks.some(({ phase }) => phase !== 'third_party_integrations'),
        state: (task) => <TaskState task={task} />,
      }}
      actions={(task) => {
        const of = `the task of ${task.name}${fields.withdrawal_id ? ` for ${task.withdrawal_id}` : ''}`
        return (
          isOpen(task) && (
            <>
              <Retry operation="retryTask" params={{ taskId: task.task_id }} of={of} tried={[triedTask(task)]} />
              <WaiveButton
                task={task}
                of={of}
                addReason={<Command words={`app set ${task.app_id} --waive-reason "CODE=SENTENCE"`} />}
              />
            </>
          )
        )
      }}
    />
  </>
)

/** For each application whose answers do not say whether a person is absent, once, how to find out why. */
function AbsenceHints({ tasks }: Pick<TaskTableProps, 'tasks'>) {
  const silent = tasks.filter(({ state, last_error }) => state === 'unconfirmed' && last_error !== null)
  return [...new Map(silent.map(({ app_id, name }) => [app_id, name]))].map(([id, name]) => (
    <div key={id} className="mb-4 max-w-prose text-ink-muted text-sm">
      <p>
        {name} does not say whether the person is still there, and a ping does not ask for it. This command says what to
        mend. Name a test person: a wrong receiver deletes them.
      </p>
      <Command words={`app check ${id} --confirms --subject SUBJECT --account ACCOUNT`} />
    </div>
  ))
}

/** Retries the failing tasks of one application at once, where it has several. */
export function RetryTasks({ tasks, of: name }: { tasks: readonly ShownTask[]; of: string }) {
  const failing = tasks.filter((task) => isFailing(task) && !task.polls)
  return (
    <Retry
      operation="retryTask"
      params={failing.map(({ task_id: taskId }) => ({ taskId }))}
      of={`the tasks of ${name}`}
      tried={failing.map(triedTask)}
      least={2}
    />
  )
}

function TaskBadge({ task }: { task: ShownTask }) {
  const trouble = troubleOf(task, new Date())
  return trouble ? <Badge tone={TROUBLE_TONES[trouble]}>{TROUBLES[trouble]}</Badge> : <Word of={task.state} />
}

function TaskState({ task }: { task: ShownTask }) {
  const { state, progress, waived, completed_at } = task
  return (
    <>
      <p className="flex flex-wrap items-center gap-2">
        <TaskBadge task={task} />
        {progress && `${progress.done} of ${progress.total}`}
      </p>
      <p className="mt-1 text-ink-muted">
        {isOpen(task) && <WaitsFor task={task} />}
        {waived ? (
          <>
            <LocalTime dateTime={waived.at} format="short" mayBreak />. The person reads: “
            <WaivedBecause waived={waived} />”{' '}
            {task.attempts > 0 && (
              <>
                After <Attempts of={{ ...task, due_at: null, retried_at: null }} />.
              </>
            )}
          </>
        ) : (
          completed_at && state === 'completed' && <LocalTime dateTime={completed_at} format="short" />
        )}
      </p>
    </>
  )
}
