import Link from 'next/link'
import { Fragment } from 'react'
import type { ListedWithdrawal, WithdrawalState } from '@/contract/operator'
import { Badge } from '../ui/badge'
import { buttonStyle } from '../ui/button-style'
import { Card, CardBody, CardFooter } from '../ui/card'
import { cn } from '../ui/class-names'
import { LocalTime } from '../ui/local-time'
import { RelativeTime } from '../ui/relative-time'
import { navLink, WithdrawalLink } from './links'
import { Row, RowList } from './section'
import { StepName } from './step-name'
import { count, WITHDRAWAL_WORDS } from './words'

interface WithdrawalListProps {
  state: WithdrawalState
  withdrawals: readonly ListedWithdrawal[]
  next: string | null
}

const STATES = Object.keys(WITHDRAWAL_WORDS) as WithdrawalState[]
const NONE = {
  processing: 'No withdrawal is open.',
  completed: 'No withdrawal waits for its purge.',
  purged: 'No withdrawal has been purged.',
} as const

export const WithdrawalList = ({ state, withdrawals, next }: WithdrawalListProps) => (
  <Card>
    <nav aria-label="State" className="border-line border-b px-3 py-2 sm:px-4">
      <ul className="flex gap-1">
        {STATES.map((each) => (
          <li key={each}>
            <Link
              href={`/admin/withdrawals?state=${each}`}
              aria-current={each === state ? 'page' : undefined}
              className={cn(navLink, 'h-10 px-2.5 text-sm')}
            >
              {WITHDRAWAL_WORDS[each]}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
    <CardBody>
      <RowList rows={withdrawals} none={NONE[state]}>
        {(withdrawal) => <WithdrawalRow key={withdrawal.withdrawal_id} withdrawal={withdrawal} />}
      </RowList>
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

function WithdrawalRow({ withdrawal }: { withdrawal: ListedWithdrawal }) {
  const { due_by, completed_at, purged_at, deletion_steps, open_tasks } = withdrawal
  return (
    <Row
      title={<WithdrawalLink id={withdrawal.withdrawal_id} />}
      badge={
        <>
          {withdrawal.is_past_due && <Badge tone="danger">Past due date</Badge>}
          {deletion_steps.some((step) => step.last_error) && <Badge tone="danger">Failing</Badge>}
          {open_tasks > 0 && <Badge>{count(open_tasks, 'open task')}</Badge>}
        </>
      }
    >
      {due_by && !completed_at && (
        <>
          Due by <LocalTime dateTime={due_by} format="date" />,{' '}
        </>
      )}
      started <RelativeTime dateTime={withdrawal.started_at} />
      {completed_at && (
        <>
          , completed <RelativeTime dateTime={completed_at} />
        </>
      )}
      {purged_at && (
        <>
          , purged <RelativeTime dateTime={purged_at} />
        </>
      )}
      {deletion_steps.length > 0 && (
        <p>
          Waits for:{' '}
          {deletion_steps.map(({ step }, index) => (
            <Fragment key={step}>
              {index > 0 && '; '}
              <StepName step={step} />
            </Fragment>
          ))}
        </p>
      )}
    </Row>
  )
}
