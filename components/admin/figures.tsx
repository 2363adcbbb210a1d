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
    present: number | null
  }
  /** A larger count is shown as “more than this”. */
  maxCounted: number
}

type Figure = readonly [label: string, count: number | null, isAlarming?: boolean]

export function Figures({ withdrawals, backlog, maxCounted }: FiguresProps) {
  const { dueDates, steps, ledger, outbox, notices, deliveries, silentApps, present } = backlog
  const groups: Record<string, readonly Figure[]> = {
    Withdrawals: [
      ['Processing', withdrawals.processing],
      ['Completed', withdrawals.completed],
      ['Purged', withdrawals.purged],
      ['Due within a week', dueDates.soon],
      ['Past their due date', dueDates.overdue, true],
      ['Begun again after a loss', ledger.replayed],
    ],
    'Deletion steps': [
      ['Due now', steps.due],
      ['Overdue', steps.overdue, true],
      ['Failing', steps.failing, true],
      ['Ledger batches not stored', ledger.waiting],
      ['Applications silent for a day', silentApps, true],
      ['Tasks of people still present', present, true],
    ],
    'Mail notices': [
      ['Waiting', notices.waiting],
      ['Given up, 30 days', notices.failed, true],
      ['Warnings that came back, 30 days', notices.unwarned, true],
    ],
    'Events waiting': [
      ['For the engine', outbox],
      ['For applications', deliveries.waiting],
      ['Dead letters', deliveries.dead, true],
    ],
  }
  return (
    <div className="grid gap-4 sm:grid-cols-2 lg:grid-cols-4">
      {Object.entries(groups).map(([title, figures]) => (
        <Card key={title}>
          <CardHeader title={title} />
          <CardBody className="pt-3">
            <dl className="space-y-1.5">
              {figures.map(([label, count, isAlarming = false]) => (
                <div key={label} className="flex items-baseline justify-between gap-3">
                  <dt className="text-ink-muted">{label}</dt>
                  <dd
                    className={cn(
                      'font-semibold text-lg tabular-nums leading-7',
                      // Any count but zero needs attention.
                      isAlarming && count !== 0 && 'text-danger',
                    )}
                  >
                    {show(count, maxCounted)}
                  </dd>
                </div>
              ))}
            </dl>
          </CardBody>
        </Card>
      ))}
    </div>
  )
}

function show(count: number | null, max: number): string {
  if (count === null) return 'unknown'
  return count > max ? `${max.toLocaleString('en')}+` : count.toLocaleString('en')
}
