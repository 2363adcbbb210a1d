'use client'

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useCallback, useContext, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { useLocale, useTranslations } from 'use-intl/react'
import { ApiError } from '@/contract/errors'
import { useErrorTexts } from '../api/error-texts'
import { useLastError } from '../api/use-last-error'
import { EmailSettings as Email } from '../email/email-settings'
import { useKeptLink } from '../email/mailed-link'
import { useHost } from '../host/host'
import { Alert } from '../ui/alert'
import { Button } from '../ui/button'
import { CardLevel } from '../ui/card-header'
import { formatDuration } from '../ui/duration'
import { mailLink } from '../ui/mail-link'
import { serverNow } from '../ui/server-clock'
import { PartsUse } from '../ui/use-focus-on-mount'
import { useIsSlow } from '../ui/use-is-slow'
import { DeleteAccount as Deletion } from '../withdrawal/delete-account'
import { Progress } from '../withdrawal/progress'
import { AccountProvider, useAccount } from './account-provider'
import { isOtherPerson } from './other-person'
import type { DeleteAccountProps, EmailSettingsProps, Parts, StartedDeletion } from './types'

export * from './account-hooks'
export type * from './types'
export { AccountProvider }

const DAY_MS = 24 * 60 * 60_000

/** While the service is away, the part looks for it so often. */
const LOOK_AGAIN_MS = 5_000

/** Reads once, before the part appears, what a page of the service renders on the server. */
function useFirst<Data>(key: string, read: () => Promise<Data>, enabled: boolean) {
  const { userId } = useAccount()
  const query = useQuery({
    queryKey: [key, userId, 'first'],
    queryFn: async () => ({ data: await read(), renderedAt: new Date(serverNow()).toISOString() }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    refetchInterval: ({ state }) => (state.error && !isFinal(state.error) ? LOOK_AGAIN_MS : false),
    enabled,
  })
  return { data: query.data, error: useLastError(query) }
}

/** From this width on, in pixels, a part looks as our pages do on a wide window. */
const WIDE_FROM = 512

function noteWidth(part: HTMLElement | null) {
  if (!part) return
  const note = () => part.toggleAttribute('data-wide', part.clientWidth >= WIDE_FROM)
  note()
  const watch = new ResizeObserver(note)
  watch.observe(part)
  return () => watch.disconnect()
}

/** The style sheet applies to this element and below it. */
function Styled({ children }: { children: ReactNode }) {
  const use = useContext(PartsUse)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only notes that the focus has been inside.
    <div
      ref={noteWidth}
      className="account-parts"
      lang={useLocale()}
      // All our texts run from left to right, also on a page that does not.
      dir="ltr"
      onFocus={() => (use.hasHadFocus = true)}
    >
      <CardLevel value="h3">{children}</CardLevel>
    </div>
  )
}

const Heading = ({ children }: { children: string }) => (
  <h2 className="mb-4 font-semibold text-[length:var(--account-title-size,1.25rem)] leading-[1.4] tracking-[-0.02em]">
    {children}
  </h2>
)

const codeOf = (error: Error) => (error instanceof ApiError ? error.code : '')
const hasEnded = (error: Error) => codeOf(error) === 'AUTH_001'
/** Asking again gives the same answer. */
const isFinal = (error: Error) => hasEnded(error) || isOtherPerson(error) || codeOf(error) === 'USER_001'

const noticeOf = (error: Error) => (isOtherPerson(error) ? 'other' : codeOf(error))

/** What is true of all parts, said by the first of those that would say it and can be seen. */
function Once({ notice, children }: { notice: string; children: ReactNode }) {
  const [own] = useState(() => ({ notice, place: null as Element | null }))
  const { join, isFirst, moved } = useAccount().notices
  const isShown = useSyncExternalStore(
    useCallback((listener) => join(own, listener), [join, own]),
    () => isFirst(own),
    () => false,
  )
  const stand = useCallback(
    (place: HTMLElement | null) => {
      if (!place) return
      own.place = place
      // A hidden part has no size, so a change of its size tells when it is shown.
      const watch = new ResizeObserver(moved)
      watch.observe(place)
      return () => {
        watch.disconnect()
        own.place = null
      }
    },
    [own, moved],
  )
  return <div ref={stand}>{isShown && children}</div>
}

function Gone() {
  const t = useTranslations('Failure')
  return (
    <Once notice="gone">
      <Styled>
        <Alert role="alert" title={t('goneTitle')} text={t('goneHint')} />
      </Styled>
    </Once>
  )
}

interface WaitingProps {
  title: string
  first: { error: Error | null }
  /** The page was opened by a mailed link. */
  isLinked?: boolean
}

/** While the part reads what it shows, or cannot. */
function Waiting({ title, first, isLinked = false }: WaitingProps) {
  const t = useTranslations('Common')
  const isSlow = useIsSlow(true)
  const { error } = first
  if (error) {
    const notice = noticeOf(error)
    return (
      <Once key={notice} notice={notice}>
        <Styled>
          <Unread error={error} isLinked={isLinked} />
        </Styled>
      </Once>
    )
  }
  return (
    <Styled>
      <Heading>{title}</Heading>
      {/* In the ink of the page, which is there before any script runs. */}
      <div aria-busy className="h-40 rounded-2xl bg-current opacity-5" />
      <div role="status" className="mt-2 text-ink-muted empty:sr-only">
        {isSlow && <Once notice="slow">{t('slowHint')}</Once>}
      </div>
    </Styled>
  )
}

/** Nothing that the person did was refused. */
function Unread({ error, isLinked }: { error: Error; isLinked: boolean }) {
  const t = useTranslations('Failure')
  const common = useTranslations('Common')
  const { errorText } = useErrorTexts()
  const { signIn, supportEmail } = useAccount()
  const client = useQueryClient()
  const isOver = hasEnded(error)
  const isOther = isOtherPerson(error)
  const again = async () => {
    if (isOver) await signIn?.()
    // The other parts of the page wait for the same.
    await client.refetchQueries({ predicate: ({ queryKey, state }) => queryKey[2] === 'first' && state.error !== null })
  }
  const isAway = !isFinal(error)
  return (
    <Alert
      tone="warning"
      role="alert"
      title={isAway ? t('partTitle') : isOver && isLinked ? t('linkTitle') : errorText(error)}
      text={
        isAway && (
          <>
            {t('partHint')} {t.rich('awaySupport', mailLink(supportEmail))}
          </>
        )
      }
    >
      <Button variant="secondary" onClick={isOther ? () => window.location.reload() : again}>
        {isOther ? t('reload') : isOver && signIn ? common('signIn') : t('tryAgain')}
      </Button>
    </Alert>
  )
}

export function EmailSettings({ onChanged }: EmailSettingsProps): ReactNode {
  const { userId, waysTo, started, isGone } = useAccount()
  const { call } = useHost()
  const t = useTranslations('EmailSettings')
  const first = useFirst('email', () => call('getEmailStatus', { userId }), started === null)
  const isLinked = useKeptLink()
  if (started)
    return (
      <Styled>
        <Heading>{t('title')}</Heading>
        <p>{t('accountDeleted')}</p>
      </Styled>
    )
  if (isGone) return <Gone />
  if (!first.data) return <Waiting title={t('title')} first={first} isLinked={isLinked} />
  const { data, renderedAt } = first.data
  return (
    <Styled>
      <Heading>{t('title')}</Heading>
      <Email
        userId={userId}
        ways={waysTo('change')}
        undoneWithin={null}
        hasBounceReports={false}
        initialStatus={data}
        renderedAt={renderedAt}
        onChanged={onChanged}
      />
    </Styled>
  )
}

/** Explains the deletion, shows its form, and then its progress. */
export function DeleteAccount({ onStarted }: DeleteAccountProps): ReactNode {
  const { userId, supportEmail, waysTo, started, isNew, isGone } = useAccount()
  const { call } = useHost()
  const t = useTranslations('DeleteAccount')
  const language = useLocale()
  const first = useFirst('deletion', () => call('previewWithdrawal', { userId }), started === null)
  const hasCalled = useRef(started !== null)
  useEffect(() => {
    if (!started || !isNew || hasCalled.current) return
    hasCalled.current = true
    onStarted?.(started)
  }, [started, isNew, onStarted])
  if (started) return <DeletionProgress {...started} />
  if (isGone) return <Gone />
  if (!first.data) return <Waiting title={t('title')} first={first} />
  const { data: preview, renderedAt } = first.data
  const countedAt = Date.parse(preview.counted_at)
  const longestMs = Math.max(...preview.deletion_steps.map((step) => Date.parse(step.estimated_completion) - countedAt))
  const keptUntil =
    preview.retained[0]?.until ?? new Date(countedAt + preview.data_retention_period * DAY_MS).toISOString()
  return (
    <Styled>
      <Heading>{t('title')}</Heading>
      <Deletion
        userId={userId}
        email={preview.address}
        ways={waysTo('withdraw')}
        known={{ ...preview, asksApplications: preview.applications.length > 0, renderedAt }}
        counts={preview}
        supportEmail={supportEmail}
        applications={preview.applications.map(({ name }) => ({ name, isNotifiedAtOnce: false }))}
        deletedWithin={formatDuration(longestMs / 1000, language)}
        retentionDays={preview.data_retention_period}
        keptUntil={keptUntil}
        details={null}
      />
    </Styled>
  )
}

export function DeletionProgress({ withdrawalId, statusToken }: StartedDeletion): ReactNode {
  const { userId, supportEmail } = useAccount()
  return (
    <Styled>
      <Progress userId={userId} withdrawalId={withdrawalId} token={statusToken} supportEmail={supportEmail} />
    </Styled>
  )
}

// The declarations of the package are those of `types.ts`.
void (null as unknown as typeof import('./react') satisfies Parts)
