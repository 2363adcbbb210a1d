import { Card, CardBody, CardHeader } from '../ui/card'
import { cn } from '../ui/class-names'

interface FiguresProps {
  /** Null is shown as unknown. */
  withdrawals: Record<'processing' | 'completed' | 'purged', number | null>
  backlog: {
    dueDates: Record<'soon' | 'overdue', number | null>
    steps: Record<'due' | 'overdue' | 'failing', number | null>
    ledger: Record<'waiting' | 'replayed', number | null>
    outbox: number | null
    notices: Record<'waiting' | 'failed' | 'unwarned', number | null>
    deliveries: Record<'waiting' | 'dead', number | null>
    silentApps: number | null
  }
  /** A larger count is shown as “more than this”. */
  maxCounted: number
}

export function Figures({ withdrawals, backlog, maxCounted }: FiguresProps) {
  const { dueDates, steps, ledger, outbox, notices, deliveries, silentApps } = backlog
  return (
    <div className="grid gap-4 sm:grid-cols-2 lg:grid-cols-4">
      <Group title="Withdrawals">
        <Figure label="Processing" count={withdrawals.processing} max={maxCounted} />
        <Figure label="Completed" count={withdrawals.completed} max={maxCounted} />
        <Figure label="Purged" count={withdrawals.purged} max={maxCounted} />
        <Figure label="Due within a week" count={dueDates.soon} max={maxCounted} />
        <Figure label="Past their due date" count={dueDates.overdue} max={maxCounted} isAlarming />
        <Figure label="Begun again after a loss" count={ledger.replayed} max={maxCounted} />
      </Group>
      <Group title="Deletion steps">
        <Figure label="Due now" count={steps.due} max={maxCounted} />
        <Figure label="Overdue" count={steps.overdue} max={maxCounted} isAlarming />
        <Figure label="Failing" count={steps.failing} max={maxCounted} isAlarming />
        <Figure label="Ledger batches not stored" count={ledger.waiting} max={maxCounted} />
        <Figure label="Applications silent for a day" count={silentApps} max={maxCounted} isAlarming />
      </Group>
      <Group title="Mail notices">
        <Figure label="Waiting" count={notices.waiting} max={maxCounted} />
        <Figure label="Given up, 30 days" count={notices.failed} max={maxCounted} isAlarming />
        <Figure label="Warnings that came back, 30 days" count={notices.unwarned} max={maxCounted} isAlarming />
      </Group>
      <Group title="Events waiting">
        <Figure label="For the engine" count={outbox} max={maxCounted} />
        <Figure label="For applications" count={deliveries.waiting} max={maxCounted} />
        <Figure label="Dead letters" count={deliveries.dead} max={maxCounted} isAlarming />
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
  count: number | null
  max: number
  /** Any count but zero needs attention. */
  isAlarming?: boolean
}

function Figure({ label, count, max, isAlarming = false }: FigureProps) {
  return (
    <div className="flex items-baseline justify-between gap-3">
      <dt className="text-ink-muted">{label}</dt>
      <dd className={cn('font-semibold text-lg tabular-nums leading-7', isAlarming && count !== 0 && 'text-danger')}>
        {show(count, max)}
      </dd>
    </div>
  )
}

function show(count: number | null, max: number): string {
  if (count === null) return 'unknown'
  return count > max ? `${max.toLocaleString('en')}+` : count.toLocaleString('en')
}
