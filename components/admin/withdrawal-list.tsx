import Link from 'next/link'
import { Badge } from '../ui/badge'
import { buttonStyle } from '../ui/button-style'
import { Card, CardBody, CardFooter } from '../ui/card'
import { LocalTime } from '../ui/local-time'
import { RelativeTime } from '../ui/relative-time'
import { textLink } from '../ui/text-link'
import { count, inWords, WITHDRAWAL_WORDS } from './words'

type State = keyof typeof WITHDRAWAL_WORDS

interface Listed {
  withdrawalId: string
  startedAt: Date
  dueBy: Date | null
  completedAt: Date | null
  purgedAt: Date | null
  isPastDue: boolean
  openSteps: readonly { step: string; isFailing: boolean }[]
  openTasks: number
}

interface WithdrawalListProps {
  state: State
  withdrawals: readonly Listed[]
  next: string | null
  renderedAt: string
}

const STATES = Object.keys(WITHDRAWAL_WORDS) as State[]
const NONE = {
  processing: 'No withdrawal is open.',
  completed: 'No withdrawal waits for its purge.',
  purged: 'No withdrawal has been purged.',
} as const

export const WithdrawalList = ({ state, withdrawals, next, renderedAt }: WithdrawalListProps) => (
  <Card>
    <nav aria-label="State" className="border-line border-b px-3 py-2 sm:px-4">
      <ul className="flex gap-1">
        {STATES.map((each) => (
          <li key={each}>
            <Link
              href={`/admin/withdrawals?state=${each}`}
              aria-current={each === state ? 'page' : undefined}
              className="flex h-10 items-center rounded-lg px-2.5 text-ink-muted text-sm hover:bg-sunken hover:text-ink aria-[current]:bg-sunken aria-[current]:font-medium aria-[current]:text-ink"
            >
              {WITHDRAWAL_WORDS[each]}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
    <CardBody>
      {withdrawals.length === 0 ? (
        <p className="text-ink-muted">{NONE[state]}</p>
      ) : (
        <ul className="divide-y divide-line">
          {withdrawals.map((withdrawal) => (
            <Row key={withdrawal.withdrawalId} withdrawal={withdrawal} renderedAt={renderedAt} />
          ))}
        </ul>
      )}
    </CardBody>
    {next && (
      <CardFooter>
        <Link
          href={`/admin/withdrawals?state=${state}&after=${encodeURIComponent(next)}`}
          className={buttonStyle({ variant: 'secondary', size: 'small' })}
        >
          Next page
        </Link>
      </CardFooter>
    )}
  </Card>
)

function Row({ withdrawal, renderedAt }: { withdrawal: Listed; renderedAt: string }) {
  const { withdrawalId, startedAt, dueBy, completedAt, purgedAt, isPastDue, openSteps, openTasks } = withdrawal
  const isFailing = openSteps.some((step) => step.isFailing)
  return (
    <li className="space-y-1 py-4 first:pt-0 last:pb-0">
      <p className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <Link
          href={`/admin/withdrawals/${encodeURIComponent(withdrawalId)}`}
          className={`${textLink} wrap-anywhere font-mono text-sm`}
        >
          {withdrawalId}
        </Link>
        {isPastDue && <Badge tone="danger">Past due date</Badge>}
        {isFailing && <Badge tone="danger">Failing</Badge>}
        {openTasks > 0 && <Badge>{count(openTasks, 'open task')}</Badge>}
      </p>
      <p className="text-ink-muted text-sm">
        {dueBy && !completedAt && (
          <>
            Due by <LocalTime dateTime={dueBy.toISOString()} format="date" />,{' '}
          </>
        )}
        started <RelativeTime dateTime={startedAt.toISOString()} renderedAt={renderedAt} />
        {completedAt && (
          <>
            , completed <RelativeTime dateTime={completedAt.toISOString()} renderedAt={renderedAt} />
          </>
        )}
        {purgedAt && (
          <>
            , purged <RelativeTime dateTime={purgedAt.toISOString()} renderedAt={renderedAt} />
          </>
        )}
      </p>
      {openSteps.length > 0 && (
        <p className="text-ink-muted text-sm">Waits for: {openSteps.map(({ step }) => inWords(step)).join('; ')}</p>
      )}
    </li>
  )
}
