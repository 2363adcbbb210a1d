'use client'

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ExternalLink } from 'lucide-react'
import { useState } from 'react'
import { useLocale, useTranslations } from 'use-intl/react'
import { formatAmount } from '@/contract/amount'
import { ApiError, type Authority, type Blocker } from '@/contract/errors'
import { isAway, isUnanswered } from '../api/error-texts'
import { useHost } from '../host/host'
import { Announcement, LiveRegion } from '../ui/announcement'
import { Button } from '../ui/button'
import { buttonStyle } from '../ui/button-style'
import { Card, CardBody, CardFooter } from '../ui/card'
import { HeadedAlert } from '../ui/headed-alert'
import { LocalTime } from '../ui/local-time'
import { mailLink } from '../ui/mail-link'
import { NewTab } from '../ui/new-tab'
import { textLink } from '../ui/text-link'
import { useFocusOnMount } from '../ui/use-focus-on-mount'
import { RightToComplain } from './right-to-complain'
import { useIsBeginningDeletion } from './use-begin-deletion'

const CHECK_INTERVAL_MS = 10_000

/** What the server rendered with the page. */
export interface Known {
  /** The blockers of the account and of services, without those of applications. */
  blockers: readonly Blocker[]
  authority?: Authority | undefined
  /** Whether applications have to be asked as well. */
  asksApplications: boolean
  renderedAt: string
}

/** Of a preview or a refusal. */
type Held = Pick<Known, 'blockers' | 'authority'>

export interface HeldBack extends Pick<Known, 'blockers'> {
  /** Whether the last check gave no answer. */
  isUnknown: boolean
  /** Where the person can complain, if the adopter names it. */
  authority: Authority | undefined
  isChecking: boolean
  check(): Promise<unknown>
  /** Shows the blockers that a refused withdrawal named. */
  show(error: unknown): void
}

export interface WatchedBlockers extends HeldBack {
  /** The service answered the last check, and an application did not. */
  isAppSilent: boolean
  /** Something held the deletion back while this page was open. */
  wasHeld: boolean
}

/** What holds the deletion back. Applications are asked too, if there are any, at once and again while the page waits for something. */
export function useBlockers(userId: string, known: Known): WatchedBlockers {
  const { call } = useHost()
  const queryClient = useQueryClient()
  const isBeginning = useIsBeginningDeletion()
  const queryKey = ['withdrawal-blockers', userId]
  const { data, error, isFetching, refetch } = useQuery<Held>({
    queryKey,
    enabled: !isBeginning,
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
  const isHeld = data.blockers.length > 0
  const [wasHeld, setWasHeld] = useState(isHeld)
  if (isHeld && !wasHeld) setWasHeld(true)
  return {
    blockers: data.blockers,
    authority: data.authority,
    isUnknown: error !== null,
    isAppSilent: isAway(error) && !isUnanswered(error),
    wasHeld,
    isChecking: isFetching,
    check: refetch,
    show(error) {
      if (!(error instanceof ApiError) || error.blockers.length === 0) return
      queryClient.setQueryData<Held>(queryKey, error)
    },
  }
}

/** One thing that has to be settled: a pending transaction, or any other blocker. */
interface Item extends Omit<Blocker, 'ids' | 'transactions'> {
  pendingSince?: string
}

/** All pending transactions are one blocker. */
const itemsOf = (blockers: readonly Blocker[]): Item[] =>
  blockers.flatMap(({ transactions, ...blocker }) =>
    (transactions ?? []).length > 0
      ? (transactions ?? []).map(({ created_at: pendingSince, ...one }) => ({ ...blocker, ...one, pendingSince }))
      : [blocker],
  )

/** Only time ends it: a change of the address was undone. */
const isRestored = (item: Item): item is Item & { until: string } =>
  item.source === 'account' && item.code === 'address_restored' && item.until !== undefined

const isToPay = ({ amount, code }: Item) => amount || code.startsWith('unpaid_')

function Restored({ until }: { until: string }) {
  const t = useTranslations('Blockers')
  return t.rich('restored', { time: () => <LocalTime dateTime={until} /> })
}

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
  const items = itemsOf(held.blockers)
  const [first] = items
  const help = (
    <>
      <p>{t.rich('questions', mailLink(supportEmail))}</p>
      <RightToComplain authority={held.authority} />
    </>
  )
  if (items.length === 1 && first && isRestored(first))
    return (
      <div ref={words} tabIndex={-1} className="rounded-xl outline-none">
        <HeadedAlert tone="warning" title={<Restored until={first.until} />}>
          <p>{t('restoredWhy')}</p>
          {help}
        </HeadedAlert>
      </div>
    )
  return (
    <Card aria-labelledby="blockers">
      <CardBody className="space-y-5 sm:pt-6">
        <div ref={words} tabIndex={-1} className="scroll-mt-6 rounded-xl outline-none">
          <HeadedAlert
            tone="warning"
            titleId="blockers"
            title={t(items.every((item) => item.pendingSince || isToPay(item)) ? 'titlePayments' : 'title', {
              count: items.length,
            })}
          >
            <p>{t('hint')}</p>
            {items.some(({ code, url }) => code === 'pending_transactions' && !url) && (
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
          </HeadedAlert>
        </div>
        <ul className="divide-y divide-line">
          {items.map((item, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a source may say the same twice
            <ItemRow key={`${item.source} ${item.code} ${index}`} item={item} isOnly={items.length === 1} />
          ))}
        </ul>
        <div className="space-y-2 text-ink-muted text-sm">{help}</div>
      </CardBody>
      <CheckAgain held={held} />
    </Card>
  )
}

function ItemRow({ item, isOnly }: { item: Item; isOnly: boolean }) {
  const { title, url, source, amount, until, pendingSince } = item
  const t = useTranslations('Blockers')
  const language = useLocale()
  const { product } = useHost()
  const isOwn = source === 'account'
  return (
    <li className="py-3 first:pt-0 last:pb-0">
      <p className="flex flex-wrap justify-between gap-x-6 font-medium">
        <span className="wrap-anywhere min-w-0">
          {isRestored(item) ? <Restored until={item.until} /> : <bdi>{title}</bdi>}
        </span>
        {amount && <span className="whitespace-nowrap tabular-nums">{formatAmount(amount, language)}</span>}
      </p>
      {(pendingSince ?? !isOwn) && (
        <p className="wrap-anywhere text-ink-muted text-sm leading-5">
          {pendingSince ? (
            t.rich('pendingSince', { time: () => <LocalTime dateTime={pendingSince} /> })
          ) : (
            <>
              <bdi>{source}</bdi>
              {until && <> · {t.rich('until', { time: () => <LocalTime dateTime={until} /> })}</>}
            </>
          )}
        </p>
      )}
      {url && (
        <a
          href={url}
          target="_blank"
          rel="noopener noreferrer"
          className={buttonStyle({ variant: isOnly ? 'primary' : 'secondary', className: 'mt-2 w-full sm:w-auto' })}
        >
          <span>
            {t(isToPay(item) ? 'pay' : 'settle', { where: isOwn ? product : source })}
            <NewTab />
          </span>
          <ExternalLink className="size-4 shrink-0" aria-hidden />
        </a>
      )}
    </li>
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
        className="ms-auto w-full sm:w-auto"
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

/** Stands above the form that comes back when nothing holds the deletion up any more. */
export function NoLongerHeld() {
  const t = useTranslations('Blockers')
  return (
    <Announcement takesFocus="if-lost">
      <HeadedAlert tone="success" title={t('free')} />
    </Announcement>
  )
}

/** Warns beside the form that not every application could be asked, although nothing is known to hold the deletion back. */
export const UnknownBlockers = ({ held }: { held: WatchedBlockers }) => {
  const t = useTranslations('Blockers')
  return (
    <LiveRegion>
      {held.isAppSilent && (
        <HeadedAlert tone="warning" className="mb-6" title={t('unknownTitle')} text={t('unknown')}>
          <Button type="button" variant="secondary" isPending={held.isChecking} onClick={() => void held.check()}>
            {t('again')}
          </Button>
        </HeadedAlert>
      )}
    </LiveRegion>
  )
}
