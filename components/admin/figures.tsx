import { Card, CardBody, CardHeader } from '../ui/card'
import { cn } from '../ui/class-names'

interface FiguresProps {
  withdrawals: { processing: number; completed: number; purged: number }
  backlog: {
    dueDates: { soon: number; overdue: number }
    steps: { due: number; overdue: number; failing: number }
    outbox: number
    notices: { waiting: number; failed: number }
    deliveries: { waiting: number; dead: number }
    silentApps: number
  }
  /** A larger count of withdrawals is shown as “more than this”. */
  maxCounted: number
}

export function Figures({ withdrawals, backlog, maxCounted }: FiguresProps) {
  const { dueDates, steps, outbox, notices, deliveries, silentApps } = backlog
  return (
    <div className="grid gap-4 sm:grid-cols-2 lg:grid-cols-4">
      <Group title="Withdrawals">
        <Figure label="Processing" count={withdrawals.processing} max={maxCounted} />
        <Figure label="Completed" count={withdrawals.completed} max={maxCounted} />
        <Figure label="Purged" count={withdrawals.purged} max={maxCounted} />
        <Figure label="Due within a week" count={dueDates.soon} />
        <Figure label="Past their due date" count={dueDates.overdue} alarming />
      </Group>
      <Group title="Deletion steps">
        <Figure label="Due now" count={steps.due} />
        <Figure label="Overdue" count={steps.overdue} alarming />
        <Figure label="Failing" count={steps.failing} alarming />
        <Figure label="Applications silent for a day" count={silentApps} alarming />
      </Group>
      <Group title="Mail notices">
        <Figure label="Waiting" count={notices.waiting} />
        <Figure label="Given up, 30 days" count={notices.failed} alarming />
      </Group>
      <Group title="Events waiting">
        <Figure label="For the engine" count={outbox} />
        <Figure label="For applications" count={deliveries.waiting} />
        <Figure label="Dead letters" count={deliveries.dead} alarming />
      </Group>
    </div>
  )
}

function Group({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <Card>
      <CardHeader title={title} />
      <CardBody className="pt-3">
        <dl className="space-y-1.5">{children}</dl>
      </CardBody>
    </Card>
  )
}

interface FigureProps {
  label: string
  count: number
  max?: number
  /** Any count but zero needs attention. */
  alarming?: boolean
}

function Figure({ label, count, max = Number.POSITIVE_INFINITY, alarming = false }: FigureProps) {
  return (
    <div className="flex items-baseline justify-between gap-3">
      <dt className="text-ink-muted">{label}</dt>
      <dd className={cn('font-semibold text-lg tabular-nums leading-7', alarming && count > 0 && 'text-danger')}>
        {count > max ? `${max.toLocaleString('en')}+` : count.toLocaleString('en')}
      </dd>
    </div>
  )
}
