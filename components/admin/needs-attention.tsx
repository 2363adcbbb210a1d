import { CircleCheck } from 'lucide-react'
import Link from 'next/link'
import type { ReactNode } from 'react'
import * as contract from '@/contract/operator'
import { AWAY, type AwayPart, capped } from '@/contract/words'
import { Alert } from '../ui/alert'
import { LocalTime } from '../ui/local-time'
import { textLink } from '../ui/text-link'
import { StepWaitsFor } from './attempts'
import { DueBy, type Fields } from './drawn'
import { Facts } from './facts'
import { Part, Unread } from './part'
import { Retry } from './retry'
import { Since } from './since'
import { StepName } from './step-texts'
import { Table } from './table'
import { triedStep, triedTask } from './tried'
import { TroubledApp } from './troubled-app'

interface NeedsAttentionProps {
  /** The parts that the service misses. */
  away: readonly AwayPart[]
  figures: contract.Figures
  /** When the figures were read. */
  lookedAt: string
  apps: readonly contract.TroubledApp[]
  /** When each application that fetches its tasks last did. */
  lastFetches: ReadonlyMap<string, string | null>
  withdrawals: readonly contract.TroubledWithdrawal[]
  /** A part could not be read. */
  isUnread: boolean
  /** More fails than the page shows. */
  isCut: boolean
}

type Name = (typeof contract.ALARMS)[number]
/** What to do about it. */
const HINTS: Record<Name, ReactNode> = {
  past_due: (
    <Link className={textLink} href="/admin/withdrawals">
      The list of deletions begins with them.
    </Link>
  ),
  still_present: 'Retry each of these deletion tasks, or stop waiting for its app.',
  undeliverable: (
    <Link className={textLink} href="/admin/undeliverable">
      Reach these people another way.
    </Link>
  ),
  unwarned:
    'Nobody read at the old address that the address is to change. The event account.security_notice_undelivered names each account: reach these people another way.',
  failed_notices: 'The mail server took none of the attempts: check that it runs and takes mails of this service.',
}

/** What an operator should look at, each thing once. */
export function NeedsAttention({
  away,
  figures,
  lookedAt,
  apps,
  lastFetches,
  withdrawals,
  isUnread,
  isCut,
}: NeedsAttentionProps) {
  const shown = apps.flatMap(({ tasks }) => tasks).filter(({ state }) => state === 'present').length
  // A row says each of these, unless there are more than the page shows.
  const alarms = contract.alarmsIn(figures).filter((name) => name !== 'still_present' || figures[name] !== shown)
  const isCalm = !isUnread && away.length + alarms.length + apps.length + withdrawals.length === 0
  return (
    <Part id="needs-attention" title="Needs attention" description={isCut && 'There is more than this page shows.'}>
      {isCalm && (
        <p className="flex items-center gap-3 text-ink-muted">
          <CircleCheck className="size-5 shrink-0 text-success" aria-hidden />
          <span>
            Nothing is late, and nothing fails. Last looked at <LocalTime dateTime={lookedAt} format="time" />.
          </span>
        </p>
      )}
      <div className="divide-y divide-line *:py-5 *:first:pt-0 *:last:pb-0 empty:hidden">
        {isUnread && <Unread />}
        {away.length > 0 && (
          <div className="space-y-2">
            {away.map((part) => (
              <Alert key={part} tone="warning" title={AWAY[part]} />
            ))}
          </div>
        )}
        {alarms.length > 0 && (
          <Facts
            of={contract.figures}
            row={figures}
            fields={Object.fromEntries(alarms.map((name) => [name, hinted(name)]))}
          />
        )}
        {withdrawals.length > 0 && (
          <div>
            <Table
              label="Deletions that need attention"
              of={contract.troubledWithdrawal}
              rows={withdrawals}
              id="withdrawal_id"
              fields={WITHDRAWAL}
              actions={retryButton}
            />
          </div>
        )}
        {apps.map((app) => (
          <TroubledApp key={app.app_id} app={app} lastFetchedAt={lastFetches.get(app.app_id) ?? null} />
        ))}
      </div>
    </Part>
  )
}

const hinted = (name: Name) => (figures: contract.Figures) => (
  <>
    <b className="font-semibold text-danger">{capped(figures[name], contract.MAX_COUNTED)}</b>{' '}
    <span className="ms-2">{HINTS[name]}</span>
  </>
)

const WITHDRAWAL: Fields<typeof contract.troubledWithdrawal> = {
  withdrawal_id: true,
  due_by: ({ due_by, is_past_due }) => <DueBy time={due_by} isPast={is_past_due} />,
  deletion_steps: ({ deletion_steps }) =>
    deletion_steps.map((step) => (
      <p key={step.step}>
        <StepName step={step.step} />{' '}
        <span className="text-ink-muted">
          {step.late_since && (
            <>
              {step.attempts > 0 ? 'Late' : 'Nobody has run it'} <Since time={step.late_since} />.{' '}
            </>
          )}
          <StepWaitsFor step={step} />
        </span>
      </p>
    )),
}

const retryButton = ({ withdrawal_id: id, deletion_steps, tasks }: contract.TroubledWithdrawal) => (
  <Retry
    operation="retryWithdrawal"
    params={{ withdrawalId: id }}
    of={id}
    tried={[...deletion_steps.map(triedStep), ...tasks.map(triedTask)]}
  />
)
