'use client'

import { useTranslations } from 'use-intl/react'
import { WAIVE_REASONS } from '@/contract/vocabulary'
import { Badge } from '../ui/badge'
import { Card, CardBody } from '../ui/card'
import { CardHeader } from '../ui/card-header'
import { LocalTime } from '../ui/local-time'
import { RelativeTime } from '../ui/relative-time'
import { useServerTime } from '../ui/server-clock'
import {
  type Application,
  isBeingChecked,
  isDue,
  isFirstCallDue,
  isLate,
  isUnconfirmed,
  plannedEndOf,
} from './hold-ups'
import { stateOf, type WithdrawalStatus } from './withdrawal-status'

/** Which applications are late, by the clock of the service. */
export function useLate(status: WithdrawalStatus) {
  const now = useServerTime()
  return (application: Application) => isLate(application, plannedEndOf(status), now)
}

/** What each application has confirmed, and when it is asked. */
export function Applications({ status }: { status: WithdrawalStatus }) {
  const t = useTranslations('Deletion')
  const isLate = useLate(status)
  return (
    <Card>
      <CardHeader title={t('apps.title')} />
      <CardBody className="pt-3">
        <ul className="divide-y divide-line">
          {status.applications.map((application, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two may share a name, and the order never changes.
            <li key={`${application.name} ${index}`} className="space-y-0.5 py-3 last:pb-0">
              <div className="flex items-start justify-between gap-4">
                <p className="wrap-anywhere min-w-0 font-medium">{application.name}</p>
                <ApplicationState application={application} isLate={isLate(application)} />
              </div>
              <p className="text-ink-muted text-sm tabular-nums empty:hidden">
                <ApplicationTime application={application} />
              </p>
              <KeptThere retained={application.retained ?? []} />
            </li>
          ))}
        </ul>
      </CardBody>
    </Card>
  )
}

/** The time within which a due call has been made. */
const CALL_MS = 60_000

const tones = { pending: 'neutral', processing: 'accent', completed: 'success' } as const

function ApplicationState({ application, isLate }: { application: Application; isLate: boolean }) {
  const t = useTranslations('Deletion')
  const common = useTranslations('Common')
  const now = useServerTime()
  if (isUnconfirmed(application))
    return <Badge tone="warning">{t(isBeingChecked(application) ? 'apps.checking' : 'apps.notConfirmed')}</Badge>
  if (isLate) return <Badge tone="warning">{t(application.accepted_at ? 'apps.late' : 'apps.noAnswer')}</Badge>
  const state = isFirstCallDue(application, now) ? 'processing' : stateOf(application.status)
  return <Badge tone={tones[state]}>{state === 'completed' ? t('apps.confirmed') : common(`steps.${state}`)}</Badge>
}

function ApplicationTime({ application }: { application: Application }) {
  const t = useTranslations('Deletion')
  const now = useServerTime()
  const { status, completed_at, next_attempt_at, accepted_at, absence, progress, waived } = application
  // Why it has not confirmed stands above, with its name.
  if (waived) return t.rich('apps.waivedAt', { date: () => <LocalTime dateTime={waived.at} /> })
  if (completed_at)
    return t.rich(absence === 'absent' ? 'apps.absentAt' : 'apps.confirmedAt', {
      date: () => <LocalTime dateTime={completed_at} />,
    })
  const isCalled = isDue(application, now)
  if (isUnconfirmed(application))
    return (
      <>
        {isBeingChecked(application) && t('apps.absence.unconfirmed')}{' '}
        {next_attempt_at !== undefined &&
          !isCalled &&
          t.rich('apps.absence.next', { date: () => <LocalTime dateTime={next_attempt_at} /> })}
      </>
    )
  if (accepted_at)
    return (
      <>
        {progress ? t('apps.progress', progress) : t('apps.deleting')}{' '}
        {isCalled ? t('apps.silent') : t.rich('apps.began', { date: () => <LocalTime dateTime={accepted_at} /> })}
      </>
    )
  if (next_attempt_at === undefined) return t('apps.open')
  const overdueMs = now - Date.parse(next_attempt_at)
  // One that fetches its messages may not come for long.
  if (isCalled) return t(status === 'pending' && overdueMs < CALL_MS ? 'apps.now' : 'apps.open')
  if (status === 'pending') return t.rich('apps.next', { date: () => <LocalTime dateTime={next_attempt_at} /> })
  // So soon the distance would read “now”.
  if (-overdueMs < CALL_MS / 2) return t('apps.open')
  return t.rich('apps.again', { time: () => <RelativeTime dateTime={next_attempt_at} /> })
}

/** Names each application that has not confirmed, and says why. */
export function HoldUps({ status }: { status: WithdrawalStatus }) {
  // One that is being checked as planned holds nothing up.
  const named = status.applications.filter((application) => isUnconfirmed(application) && !isBeingChecked(application))
  if (named.length === 0) return null
  return (
    <ul className="space-y-2">
      {named.map((application, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two may share a name, and the order never changes.
        <li key={`${application.name} ${index}`} className="wrap-anywhere">
          <bdi className="block font-medium">{application.name}</bdi>
          <UnconfirmedBecause application={application} />
        </li>
      ))}
    </ul>
  )
}

function UnconfirmedBecause({ application }: { application: Application }) {
  const { waived, absence, next_attempt_at } = application
  const t = useTranslations('Deletion')
  if (waived) return <WaivedBecause waived={waived} />
  if (absence !== 'present') return t('apps.absence.unconfirmed')
  // Nothing more is sent, unless it is disabled, where support has to decide too.
  return t(next_attempt_at === undefined ? 'apps.absence.stillPresent' : 'apps.absence.present')
}

type Waived = Pick<NonNullable<Application['waived']>, 'reason' | 'sentence'>

/** `other` is of a task that an earlier release waived. */
export function WaivedBecause({ waived: { reason, sentence } }: { waived: Waived }) {
  const t = useTranslations('Deletion')
  if (sentence) return <bdi>{sentence}</bdi>
  return t(`apps.waived.${WAIVE_REASONS.find((known) => known === reason) ?? 'other'}`)
}

/** An application says the last day or the moment of the end. */
const isTime = (until: string) => until.includes('T')

/** What the application said that it keeps, in words that were registered for it. */
function KeptThere({ retained }: { retained: NonNullable<Application['retained']> }) {
  const t = useTranslations('Deletion')
  if (retained.length === 0) return null
  return (
    <ul className="text-ink-muted text-sm">
      {retained.map(({ category, reason, until }) => (
        <li key={`${category} ${reason} ${until}`} className="wrap-anywhere">
          {until
            ? t.rich('apps.keepsUntil', {
                category,
                reason,
                date: () => <LocalTime dateTime={isTime(until) ? until : `${until}T12:00:00.000Z`} format="date" />,
              })
            : t('apps.keeps', { category, reason })}
        </li>
      ))}
    </ul>
  )
}
