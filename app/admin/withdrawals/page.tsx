import { notFound } from 'next/navigation'
import { DueBy, type Fields, NotConfirmed, TroubleBadges } from '@/components/admin/drawn'
import { NextPage } from '@/components/admin/next-page'
import { StepName } from '@/components/admin/step-texts'
import { Table } from '@/components/admin/table'
import { Tabs } from '@/components/admin/tabs'
import { Card, CardBody } from '@/components/ui/card'
import {
  type ListedWithdrawal,
  listedWithdrawal,
  troublesOfListedStep,
  WITHDRAWAL_STATES,
  type WithdrawalState,
} from '@/contract/operator'
import { listOf, notConfirmed, WORDS } from '@/contract/words'
import { listWithdrawals } from '@/domain/withdrawal/list-withdrawals'
import type { PageProps } from '@/server/pages/session'
import { AdminPage } from '../admin-page'
import { operatorContext, titleForOperators } from '../for-operators'

export const generateMetadata = async (props: PageProps & { params: Promise<Record<string, string>> }) =>
  titleForOperators((await stateOf(props)) ? 'Deletions' : 'There is no such page')(props)

/** So many apps of a deletion are named. */
const MAX_APPS = 4

/** What each state means, and the order and the columns of its list. */
const PAGES: Record<WithdrawalState, { description: string; none: string; columns: Fields<typeof listedWithdrawal> }> =
  {
    processing: {
      description: 'Something is still to be deleted, here or by an app. The soonest due date first.',
      none: 'No deletion is open.',
      columns: {
        deletion_steps: openSteps,
        due_by: ({ due_by, is_past_due }) => <DueBy time={due_by} isPast={is_past_due} />,
        started_at: true,
      },
    },
    completed: {
      description: 'All is deleted but what the law or the person keeps until a date. The latest first.',
      none: 'No completed deletion still has records.',
      columns: { waived_tasks: unconfirmed, started_at: true, completed_at: true, purge_due_at: true },
    },
    purged: {
      description: 'What was kept is erased too, and what is left here names nobody. The latest first.',
      none: 'No deletion is fully erased yet.',
      columns: { started_at: true, completed_at: true, purged_at: true },
    },
  }

function openSteps({ deletion_steps, waits_for: apps }: ListedWithdrawal) {
  return (
    <>
      {deletion_steps.map((shown, index) => (
        <span key={shown.step} className="flex flex-wrap items-center gap-x-2 gap-y-1.5 @3xl:inline-flex">
          <StepName step={shown.step} /> <TroubleBadges of={troublesOfListedStep(shown)} />
          {index < deletion_steps.length - 1 && <span className="@max-3xl:hidden @3xl:me-2 text-ink-muted">·</span>}
        </span>
      ))}
      <span className="block text-ink-muted empty:hidden">
        {apps.length > 0 && listOf(apps.length > MAX_APPS ? [...apps.slice(0, MAX_APPS), 'more'] : apps)}
      </span>
    </>
  )
}

/** The apps that have not confirmed, in a column that is left out where all have. */
function unconfirmed(withdrawal: ListedWithdrawal) {
  const missing = notConfirmed(withdrawal)
  return missing && <NotConfirmed>{missing}</NotConfirmed>
}

const placeOf = (state: WithdrawalState) => `/admin/withdrawals?state=${state}`
const TABS = Object.fromEntries(WITHDRAWAL_STATES.map((state) => [placeOf(state), WORDS[state] ?? state]))

async function stateOf({ searchParams }: PageProps): Promise<WithdrawalState | undefined> {
  const { state: wanted = 'processing' } = await searchParams
  return WITHDRAWAL_STATES.find((state) => state === wanted)
}

export default async function WithdrawalsPage({ searchParams }: PageProps) {
  const ctx = await operatorContext('/admin/withdrawals')
  const [{ after }, state] = await Promise.all([searchParams, stateOf({ searchParams })])
  if (!state) notFound()
  const { description, none, columns } = PAGES[state]
  const { withdrawals, next } = await listWithdrawals(ctx, {
    state,
    after: typeof after === 'string' ? after : undefined,
  })
  return (
    <AdminPage section="/admin/withdrawals" title="Deletions" description={description} refreshes>
      <Card>
        <Tabs
          label="State"
          tabs={TABS}
          current={placeOf(state)}
          className="border-line border-b px-5 *:-mb-px max-[22rem]:px-4 sm:px-6"
        />
        <CardBody>
          <Table
            label="Deletions"
            of={listedWithdrawal}
            rows={withdrawals}
            id="withdrawal_id"
            fields={{ withdrawal_id: true, ...columns }}
            none={none}
          />
        </CardBody>
      </Card>
      <NextPage path={`${placeOf(state)}&`} next={next} />
    </AdminPage>
  )
}
