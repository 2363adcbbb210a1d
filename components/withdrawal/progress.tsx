'use client'

import { CircleAlert, CircleCheck, Hourglass, Link2Off, LoaderCircle } from 'lucide-react'
import { useState } from 'react'
import { useLocale, useTranslations } from 'use-intl/react'
import { CHOICES, type KeptFor } from '@/contract/vocabulary'
import type { Step } from '@/contract/withdrawal'
import { useLastError } from '../api/use-last-error'
import { useHost } from '../host/host'
import { Alert } from '../ui/alert'
import { Card, CardBody } from '../ui/card'
import { CardHeader } from '../ui/card-header'
import { cn } from '../ui/class-names'
import { Disclosure } from '../ui/disclosure'
import { LocalTime } from '../ui/local-time'
import { mailLink } from '../ui/mail-link'
import { Rows } from '../ui/rows'
import { useServerTime } from '../ui/server-clock'
import { StatusCard } from '../ui/status-card'
import { Steps } from '../ui/steps'
import { Applications, HoldUps, useLate } from './applications'
import { useCategoryTexts, useListed } from './category-texts'
import { namesOf } from './deletion-summary'
import { isFirstCallDue, isUnconfirmed } from './hold-ups'
import { RightToComplain } from './right-to-complain'
import { SaveReceipts } from './save-receipts'
import { isRefusal, stateOf, useWithdrawalStatus, type WithdrawalStatus } from './withdrawal-status'

export interface ProgressProps {
  userId: string
  withdrawalId: string
  supportEmail: string
}

/** The progress of a deletion, read with its status token. */
export function Progress({ userId, withdrawalId, token, supportEmail }: ProgressProps & { token: string }) {
  const t = useTranslations('Deletion')
  const query = useWithdrawalStatus({ userId, withdrawalId, token })
  const { data: status } = query
  const error = useLastError(query)
  const { progressLink } = useHost()
  const announcement = useAnnouncement(status)
  const steps = useSteps(status)
  if (!status && isRefusal(error)) return <BadLink name="wrong" supportEmail={supportEmail} />
  if (!status && error)
    return (
      <Alert tone="warning" role="alert" title={t('unreadTitle')} text={t('unreadText')}>
        <Support name="supportPlain" address={supportEmail} />
      </Alert>
    )
  if (!status) return <Reading />
  const isCompleted = status.status === 'completed'
  const keptUntil = retentionEndOf(status)
  return (
    <div className="space-y-6">
      <p className="sr-only" aria-live="polite">
        {announcement}
      </p>
      {isCompleted ? <Deleted status={status} /> : <BeingDeleted status={status} />}
      {!isCompleted && error && (
        <Alert
          tone="warning"
          role="status"
          title={t('staleTitle')}
          text={t(isRefusal(error) ? 'staleLink' : 'staleText')}
        />
      )}
      {isCompleted && (
        <SaveReceipts withdrawalId={withdrawalId} token={token} hasApplications={status.applications.length > 0} />
      )}
      <Card>
        <CardHeader title={t('stepsTitle')} />
        <CardBody>
          <Steps label={t('stepsTitle')} steps={steps} />
        </CardBody>
      </Card>
      {status.applications.length > 0 && <Applications status={status} />}
      <Kept status={status} until={keptUntil} isCompleted={isCompleted} />
      <div className="space-y-3 px-card text-ink-muted text-sm sm:px-6">
        {!isCompleted && <LastDay status={status} inHeadline={false} />}
        {keptUntil && (
          <p>
            {t.rich(isCompleted ? 'comeBackDone' : 'comeBack', {
              date: () => <LocalTime dateTime={keptUntil} format="date" />,
            })}
          </p>
        )}
        {progressLink()}
        <p>
          {t.rich('id', {
            deletion: withdrawalId,
            id: (text) => (
              <bdi className="wrap-anywhere inline-block max-w-full select-all font-mono text-ink">{text}</bdi>
            ),
          })}
        </p>
        <Support name="support" address={supportEmail} />
      </div>
    </div>
  )
}

export function Support({ name, address }: { name: 'support' | 'supportPlain'; address: string }) {
  const t = useTranslations('Deletion')
  return <p className="text-ink-muted text-sm">{t.rich(name, mailLink(address))}</p>
}

/** What has been completed since the last answer, for screen readers. */
function useAnnouncement(status: WithdrawalStatus | undefined): string {
  const t = useTranslations('Deletion')
  const language = useLocale()
  const { titleOf } = useStepTexts()
  const [known, setKnown] = useState(status)
  const [announcement, setAnnouncement] = useState('')
  if (status !== known) {
    setKnown(status)
    if (known && status) setAnnouncement(announcementBetween(known, status) || announcement)
  }
  return announcement

  function announcementBetween(before: WithdrawalStatus, after: WithdrawalStatus): string {
    if (after.status === 'completed') return t('newsDeleted')
    const open = new Set(openSteps(before).map(({ step }) => step))
    const done = countedSteps(after).filter(({ step, status }) => status === 'completed' && open.has(step))
    const titles = inOrder(done).map(({ step }) => titleOf(step))
    const steps = new Intl.ListFormat(language).format(titles)
    return titles.length ? t('newsDone', { steps, count: t('count', countOf(after)) }) : ''
  }
}

const openSteps = ({ deletion_steps }: WithdrawalStatus) =>
  deletion_steps.filter(({ status }) => status !== 'completed')

const countedSteps = (status: WithdrawalStatus) => status.deletion_steps.filter((each) => !isEmpty(each, status))

function countOf(status: WithdrawalStatus) {
  const all = countedSteps(status)
  return { done: all.filter(({ status }) => status === 'completed').length, all: all.length }
}

type StepProgress = WithdrawalStatus['deletion_steps'][number]

/** Without an app there is nothing to do for them, so that the step does not count. */
const isEmpty = (each: StepProgress, { applications }: WithdrawalStatus) =>
  each.step === 'third_party_integrations' && applications.length === 0 && !hasCounts(each)

/** A page may be older than the service, as in a rolling upgrade; a step that it does not know has its name for a title. */
function useStepTexts() {
  const t = useTranslations('Deletion')
  function textOf(step: string, text: 'title' | 'text' | 'done') {
    const key = `steps.${step as Step}.${text}` as const
    return t.has(key) ? t(key) : null
  }
  return { textOf, titleOf: (step: string) => textOf(step, 'title') ?? step.replaceAll('_', ' ') }
}

/** The request itself does the first. A step keeps its place, also where a later one ends before it. */
const PLACES: Record<Step, number> = {
  session_revocation: 1,
  user_profile: 2,
  third_party_integrations: 3,
  data_archives: 4,
}
const placeOf = ({ step }: StepProgress) => PLACES[step as Step] ?? Number.MAX_SAFE_INTEGER
const inOrder = (steps: readonly StepProgress[]) => steps.toSorted((a, b) => placeOf(a) - placeOf(b))

function useSteps(status: WithdrawalStatus | undefined) {
  const t = useTranslations('Deletion')
  const { textOf, titleOf } = useStepTexts()
  const now = useServerTime()
  if (!status) return []
  return inOrder(status.deletion_steps).map((each) => {
    const { step, completed_at, estimated_completion } = each
    const isNone = isEmpty(each, status)
    const time = completed_at
      ? t.rich('completedAt', { date: () => <LocalTime dateTime={completed_at} /> })
      : each.status !== 'completed' && estimated_completion && <Expected by={estimated_completion} />
    return {
      id: step,
      title: isNone ? t('apps.none') : titleOf(step),
      description: isNone ? null : textOf(step, completed_at ? 'done' : 'text'),
      state: isNone ? ('none' as const) : stateIn(status, each, now),
      time: !isNone && time,
      outcome: hasCounts(each) && <Outcome step={each} />,
    }
  })
}

/** An app may be asked a moment before its step is claimed. */
const stateIn = ({ applications }: WithdrawalStatus, { step, status }: StepProgress, now: number) =>
  step === 'third_party_integrations' && status === 'pending' && applications.some((app) => isFirstCallDue(app, now))
    ? 'processing'
    : stateOf(status)

const hasCounts = ({ erased = [], retained = [] }: StepProgress) => erased.length + retained.length > 0

function Outcome({ step: { erased = [], retained = [] } }: { step: StepProgress }) {
  const t = useTranslations('Deletion')
  const { keptCounts, peoplesText } = useCategoryTexts()
  return (
    <>
      {erased.length > 0 && <p>{t('erased', { what: peoplesText(erased) })}</p>}
      {keptCounts(retained).map(({ what, until }) => (
        <p key={what}>{t.rich('kept', { what, date: () => <LocalTime dateTime={until} format="date" /> })}</p>
      ))}
    </>
  )
}

function Expected({ by }: { by: string }) {
  const t = useTranslations('Deletion')
  const isLate = useServerTime() > Date.parse(by)
  return t.rich(isLate ? 'lateStep' : 'expectedBy', { date: () => <LocalTime dateTime={by} /> })
}

/** The whole, or an application, takes longer than planned. */
function useIsLate(status: WithdrawalStatus): boolean {
  const isPast = useServerTime() > Date.parse(status.scheduled_completion)
  return status.applications.some(useLate(status)) || isPast
}

/** The last day belongs to the headline once something takes longer; until then the planned day stands there alone. */
function LastDay({ status, inHeadline }: { status: WithdrawalStatus; inHeadline: boolean }) {
  const t = useTranslations('Deletion')
  const isOver = useServerTime() > Date.parse(status.due_by)
  const isLate = useIsLate(status)
  if ((isOver || isLate) !== inHeadline) return null
  return (
    <p className="text-ink-muted text-sm">
      {t.rich(isOver ? 'overdue' : isLate ? 'dueByLate' : 'dueBy', {
        date: () => <LocalTime dateTime={status.due_by} format="date" />,
      })}
    </p>
  )
}

function BeingDeleted({ status }: { status: WithdrawalStatus }) {
  const t = useTranslations('Deletion')
  const listed = useListed()
  const isLate = useIsLate(status)
  const late = namesOf(status.applications.filter(useLate(status)))
  return (
    <StatusCard
      heading="h2"
      icon={Hourglass}
      isAnnounced="if-lost"
      title={t('progressTitle')}
      text={
        late.length > 0
          ? t('lateAppsText', { apps: listed(late) })
          : isLate
            ? t('lateText')
            : t.rich('progressText', { date: () => <LocalTime dateTime={status.scheduled_completion} format="date" /> })
      }
    >
      <HoldUps status={status} />
      <Meter status={status} />
      <LastDay status={status} inHeadline />
    </StatusCard>
  )
}

const meterColours = { completed: 'bg-success', processing: 'animate-pulse bg-accent', pending: 'bg-line' }

function Meter({ status }: { status: WithdrawalStatus }) {
  const t = useTranslations('Deletion')
  const now = useServerTime()
  return (
    <div className="space-y-2">
      <div className="flex gap-1.5" aria-hidden>
        {inOrder(countedSteps(status)).map((each) => (
          <span
            key={each.step}
            className={cn(
              'h-1.5 flex-1 rounded-full transition-colors duration-500 forced-color-adjust-none',
              meterColours[stateIn(status, each, now)],
            )}
          />
        ))}
      </div>
      <p className="text-ink-muted text-sm">{t('count', countOf(status))}</p>
    </div>
  )
}

function Deleted({ status }: { status: WithdrawalStatus }) {
  const t = useTranslations('Deletion')
  const { completed_at: completedAt = '', applications } = status
  const date = () => <LocalTime dateTime={completedAt} format="date" />
  const { length: count } = applications.filter(isUnconfirmed)
  if (count === 0)
    return (
      <StatusCard
        heading="h2"
        icon={CircleCheck}
        tone="success"
        isAnnounced="if-lost"
        title={t.rich('deletedTitle', { date })}
        text={t('deletedText')}
      />
    )
  return (
    <StatusCard
      heading="h2"
      icon={CircleAlert}
      tone="warning"
      isAnnounced="if-lost"
      title={t('unconfirmedTitle', { count })}
      text={t.rich('unconfirmedText', { count, date })}
    >
      <HoldUps status={status} />
    </StatusCard>
  )
}

function Kept({
  status,
  until,
  isCompleted,
}: {
  status: WithdrawalStatus
  until: string | null
  isCompleted: boolean
}) {
  const t = useTranslations('Deletion')
  const keptUntil = (why: string) =>
    until ? t.rich('keptUntil', { why, date: () => <LocalTime dateTime={until} format="date" /> }) : why
  const hasOpenApp = status.applications.some(({ status }) => status !== 'completed')
  const { keptCounts } = useCategoryTexts()
  const retained = status.deletion_steps.flatMap(({ retained = [] }) => retained)
  /** Before the end not everything is counted, and of an old deletion nothing is. */
  const isCounted = isCompleted && retained.length > 0
  const countedFor = (why: KeptFor) =>
    isCounted ? keptCounts(retained.filter(({ reason }) => reason === why))[0]?.what : undefined
  const chosenRow = (choice: (typeof CHOICES)[number]) => {
    const counted = countedFor(choice)
    return [
      counted ?? t(`keptItems.${choice}`),
      isCounted && !counted ? t('keptItems.nothing') : keptUntil(t('reasons.choice')),
    ] as const
  }
  return (
    <Card>
      <CardHeader title={t('keptTitle')} description={t('keptText')} />
      <CardBody className="pt-1">
        {/* While it runs, people look for how far it is. */}
        <Disclosure summary={t('keptShow')} open={isCompleted}>
          <div className="pt-2">
            <Rows
              rows={[
                [countedFor('law') ?? t('keptItems.law'), keptUntil(t('reasons.law'))],
                [t('keptItems.record'), keptUntil(t('keptItems.recordWhy'))],
                ...CHOICES.filter((choice) => status.kept_by_choice.includes(choice)).map(chosenRow),
                [t('keptItems.receipts'), t('keptItems.receiptsWhy')],
                [t('keptItems.entry'), t('keptItems.entryWhy')],
                ...(hasOpenApp ? [[t('keptItems.appId'), t('keptItems.appIdWhy')] as const] : []),
              ]}
            />
          </div>
        </Disclosure>
        <div className="pt-3 text-ink-muted text-sm empty:hidden">
          <RightToComplain authority={status.authority} />
        </div>
      </CardBody>
    </Card>
  )
}

const DAY_MS = 24 * 60 * 60 * 1000

/** The end of the retention. Until there are retained records, it counts from the start of the withdrawal. */
function retentionEndOf({ deletion_steps, data_retention }: WithdrawalStatus): string | null {
  const [record] = deletion_steps.flatMap(({ retained = [] }) => retained)
  if (record) return record.until
  // The start itself completes this step.
  const startedAt = deletion_steps.find(({ step }) => step === 'session_revocation')?.completed_at
  return startedAt ? new Date(Date.parse(startedAt) + data_retention.retention_period * DAY_MS).toISOString() : null
}

export function Reading() {
  const t = useTranslations('Deletion')
  return (
    <StatusCard heading="h2" icon={LoaderCircle} title={t('reading')} text={t('readingText')}>
      <noscript>
        <p>{t('noScript')}</p>
      </noscript>
    </StatusCard>
  )
}

export function BadLink({ name, supportEmail }: { name: 'incomplete' | 'wrong'; supportEmail: string }) {
  const t = useTranslations('Deletion')
  return (
    <StatusCard heading="h2" icon={Link2Off} tone="warning" title={t(`${name}Title`)} text={t(`${name}Text`)}>
      <Support name="supportPlain" address={supportEmail} />
    </StatusCard>
  )
}
