'use client'

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { ApiError, type Authority, type Blocker } from '@/contract/errors'
import { useHost } from '../host/host'
import { Alert } from '../ui/alert'
import { LiveRegion } from '../ui/announcement'
import { Button } from '../ui/button'
import { buttonStyle } from '../ui/button-style'
import { Card, CardBody, CardFooter } from '../ui/card'
import { LocalTime } from '../ui/local-time'
import { mailLink } from '../ui/mail-link'
import { textLink } from '../ui/text-link'
import { useFocusOnMount } from '../ui/use-focus-on-mount'
import { RightToComplain } from './right-to-complain'

const CHECK_INTERVAL_MS = 20_000

interface PendingTransaction {
  id: string
  description: string
  createdAt: string
}

/** What the server rendered with the page. */
export interface Known {
  /** The blockers of the account and of services, without those of applications. */
  blockers: readonly Blocker[]
  authority?: Authority | undefined
  pendingTransactions: readonly PendingTransaction[]
  /** Whether applications have to be asked as well. */
  asksApplications: boolean
  renderedAt: string
}

/** Of a preview or a refusal. */
type Held = Pick<Known, 'blockers' | 'authority'>

export interface HeldBack extends Pick<Known, 'blockers' | 'pendingTransactions'> {
  /** Whether the last check gave no answer. */
  isUnknown: boolean
  /** Where the person can complain, if the adopter names it. */
  authority: Authority | undefined
  isChecking: boolean
  check(): Promise<unknown>
  /** Shows the blockers that a refused withdrawal named. */
  show(error: unknown): void
}

/** What holds the deletion back. Applications are asked too, if there are any, at once and again while the page waits for something. */
export function useBlockers(userId: string, known: Known): HeldBack {
  const { call, refresh } = useHost()
  const queryClient = useQueryClient()
  const queryKey = ['withdrawal-blockers', userId]
  const { data, isError, isFetching, refetch } = useQuery<Held>({
    queryKey,
    queryFn: () => call('previewWithdrawal', { userId, ask: 'true' }),
    initialData: known,
    initialDataUpdatedAt: known.asksApplications ? 0 : Date.parse(known.renderedAt),
    staleTime: 60_000,
    // The next visit begins with what the server renders then.
    gcTime: 0,
    retry: false,
    refetchOnWindowFocus: 'always',
    refetchInterval: ({ state }) =>
      state.data?.blockers.length || state.status === 'error' ? CHECK_INTERVAL_MS : false,
  })
  // The server renders the transactions themselves.
  const { blockers, authority } = data
  const pending = blockers.find(isPending)?.title
  const rendered = known.blockers.find(isPending)?.title
  useEffect(() => {
    if (pending !== rendered) refresh()
  }, [pending, rendered, refresh])
  return {
    blockers,
    authority,
    pendingTransactions: pending ? known.pendingTransactions : [],
    isUnknown: isError,
    isChecking: isFetching,
    check: () => refetch(),
    show(error) {
      if (!(error instanceof ApiError) || error.blockers.length === 0) return
      queryClient.setQueryData<Held>(queryKey, error)
    },
  }
}

const isPending = ({ source, code }: Blocker) => source === 'account' && code === 'pending_transactions'

interface BlockersProps {
  held: HeldBack
  supportEmail: string
  /** True when it appears after a press. */
  takesFocus: boolean
}

/** Stands in place of the form while something holds the deletion back. */
export function Blockers({ held, supportEmail, takesFocus }: BlockersProps) {
  const t = useTranslations('Blockers')
  const { product, productUrl } = useHost()
  const words = useFocusOnMount<HTMLDivElement>(takesFocus)
  const { blockers, pendingTransactions } = held
  // All pending transactions are one blocker; they are listed one by one where the page has them.
  const listed = pendingTransactions.length > 0 ? blockers.filter((blocker) => !isPending(blocker)) : blockers
  return (
    <Card aria-labelledby="blockers">
      <CardBody className="space-y-5 sm:pt-6">
        <div ref={words} tabIndex={-1} className="scroll-mt-6 rounded-xl outline-none">
          <Alert
            tone="warning"
            title={<span id="blockers">{t('title', { count: listed.length + pendingTransactions.length })}</span>}
          >
            <p>{t('hint')}</p>
            {pendingTransactions.length > 0 && (
              <p>
                {t.rich('howToSettle', {
                  product,
                  link: (text) =>
                    productUrl ? (
                      <a href={productUrl} className={textLink}>
                        {text}
                      </a>
                    ) : (
                      text
                    ),
                })}
              </p>
            )}
            <p>{t.rich('questions', mailLink(supportEmail))}</p>
            <RightToComplain authority={held.authority} />
          </Alert>
        </div>
        <ul className="divide-y divide-line">
          {pendingTransactions.map(({ id, description, createdAt }) => (
            <li key={id} className="flex flex-wrap items-baseline justify-between gap-x-6 py-3 first:pt-0 last:pb-0">
              <div className="min-w-0">
                <p className="wrap-anywhere font-medium">{description}</p>
                <p className="wrap-anywhere text-ink-muted text-sm leading-5">
                  {t('pending')} <bdi className="font-mono text-xs">{id}</bdi>
                </p>
              </div>
              <p className="text-ink-muted text-sm">
                <LocalTime dateTime={createdAt} />
              </p>
            </li>
          ))}
          {listed.map(({ code, title, url, source, until }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a source may say the same twice
            <li key={`${source} ${code} ${index}`} className="py-3 first:pt-0 last:pb-0">
              <p className="wrap-anywhere font-medium">
                {source === 'account' && code === 'address_restored' && until ? (
                  t.rich('restored', { time: () => <LocalTime dateTime={until} /> })
                ) : (
                  <bdi>{title}</bdi>
                )}
              </p>
              {source !== 'account' && (
                <p className="wrap-anywhere text-ink-muted text-sm leading-5">
                  <bdi>{source}</bdi>
                  {until && <> · {t.rich('until', { time: () => <LocalTime dateTime={until} /> })}</>}
                </p>
              )}
              {url && (
                <a
                  href={url}
                  target="_blank"
                  rel="noopener noreferrer"
                  className={buttonStyle({ variant: 'secondary', className: 'mt-2 w-full sm:w-auto' })}
                >
                  {t(code.startsWith('unpaid_') ? 'pay' : 'settle', {
                    where: source === 'account' ? product : source,
                  })}
                </a>
              )}
            </li>
          ))}
        </ul>
      </CardBody>
      <CheckAgain held={held} />
    </Card>
  )
}

function CheckAgain({ held: { isChecking, isUnknown, check } }: Pick<BlockersProps, 'held'>) {
  const t = useTranslations('Blockers')
  const [hasChecked, setHasChecked] = useState(false)
  return (
    <CardFooter>
      <p className="text-ink-muted text-sm empty:sr-only" role="status">
        {!isChecking && (isUnknown ? t('unknownStill') : hasChecked && t('still'))}
      </p>
      <Button
        variant="secondary"
        className="w-full sm:w-auto"
        isPending={isChecking && hasChecked}
        onClick={() => {
          setHasChecked(true)
          void check()
        }}
      >
        {t('again')}
      </Button>
    </CardFooter>
  )
}

/** Warns beside the form that not every application could be asked, although nothing is known to hold the deletion back. */
export const UnknownBlockers = ({ held }: Pick<BlockersProps, 'held'>) => {
  const t = useTranslations('Blockers')
  return (
    <LiveRegion>
      {held.isUnknown && (
        <Alert tone="warning" className="mb-6" title={t('unknownTitle')} text={t('unknown')}>
          <Button type="button" variant="secondary" isPending={held.isChecking} onClick={() => void held.check()}>
            {t('again')}
          </Button>
        </Alert>
      )}
    </LiveRegion>
  )
}
