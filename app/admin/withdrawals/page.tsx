import Link from 'next/link'
import { AdminPage } from '@/components/admin/admin-page'
import type { Fields } from '@/components/admin/drawn'
import { navLink } from '@/components/admin/nav-link'
import { StepName } from '@/components/admin/step-texts'
import { Table } from '@/components/admin/table'
import { WORDS } from '@/components/admin/words'
import { Badge } from '@/components/ui/badge'
import { buttonStyle } from '@/components/ui/button-style'
import { Card, CardBody, CardFooter } from '@/components/ui/card'
import { cn } from '@/components/ui/class-names'
import { LocalTime } from '@/components/ui/local-time'
import { listedWithdrawal, WITHDRAWAL_STATES, type WithdrawalState } from '@/contract/operator'
import { listWithdrawals } from '@/domain/withdrawal/list-withdrawals'
import type { PageProps } from '@/server/pages/session'
import { accountOf, operatorContext, titleForOperators } from '../for-operators'

export const generateMetadata = titleForOperators('Withdrawals')

const COLUMNS: Record<WithdrawalState, Fields<typeof listedWithdrawal>> = {
  processing: {
    due_by: ({ due_by, is_past_due }) => (
      <>
        {due_by && <LocalTime dateTime={due_by} format="date" />}{' '}
        {is_past_due && <Badge tone="danger">Past its due date</Badge>}
      </>
    ),
    started_at: true,
    deletion_steps: ({ deletion_steps }) =>
      deletion_steps.map(({ step, last_error }) => (
        <span key={step} className="block">
          <StepName step={step} /> {last_error && <Badge tone="danger">Failing</Badge>}
        </span>
      )),
    open_tasks: true,
  },
  completed: { started_at: true, completed_at: true, purge_due_at: true },
  purged: { started_at: true, completed_at: true, purged_at: true },
}
const NONE = {
  processing: 'No withdrawal is open.',
  completed: 'Nothing is kept of any withdrawal that is done.',
  purged: 'There is no withdrawal of which nothing is kept.',
} as const

export default async function WithdrawalsPage({ searchParams }: PageProps) {
  const ctx = await operatorContext('/admin/withdrawals')
  const { state: wanted, after } = await searchParams
  const state = WITHDRAWAL_STATES.find((state) => state === wanted) ?? 'processing'
  const { withdrawals, next } = await listWithdrawals(ctx, {
    state,
    after: typeof after === 'string' ? after : undefined,
  })
  return (
    <AdminPage
      account={accountOf(ctx)}
      section="/admin/withdrawals"
      title="Withdrawals"
      description="Soonest due date first; ended ones, latest first."
    >
      <Card>
        <nav aria-label="State" className="border-line border-b px-3 py-2 sm:px-4">
          <ul className="flex gap-1">
            {WITHDRAWAL_STATES.map((each) => (
              <li key={each}>
                <Link
                  href={`/admin/withdrawals?state=${each}`}
                  aria-current={each === state ? 'page' : undefined}
                  className={cn(navLink, 'h-10 px-2.5 text-sm')}
                >
                  {WORDS[each]}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <CardBody>
          <Table
            label="Withdrawals"
            of={listedWithdrawal}
            rows={withdrawals}
            id="withdrawal_id"
            fields={{ withdrawal_id: true, ...COLUMNS[state] }}
            none={NONE[state]}
          />
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
    </AdminPage>
  )
}
