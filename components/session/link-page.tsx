'use client'

import { skipToken, useQuery } from '@tanstack/react-query'
import { Link2Off, type LucideIcon, WifiOff } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { isAway, useErrorTexts } from '../api/error-texts'
import { useOnceBack } from '../api/use-once-back'
import { Button } from '../ui/button'
import { StatusCard } from '../ui/status-card'
import { endOfLink } from './link-secret'

interface OpenLink<Secret> {
  secret: Secret
  /** Says that the link no longer works, where the error says so; returns whether it did. */
  endIf: (error: unknown) => boolean
  readAgain: () => Promise<unknown>
  isReading: boolean
  /** Whether the shown data may be out of date, because it could not be read again. */
  isStale: boolean
}

interface LinkPageProps<Secret, Facts> {
  icon: LucideIcon
  /** Shown while the link is read. */
  title: string
  noScript?: ReactNode
  secret: Secret | null | undefined
  /** Reads what the link stands for, so that a link that no longer works says so before anything is entered. */
  read: (secret: Secret) => Promise<Facts>
  /** The error says that the link no longer works. */
  isRefused: (error: unknown) => boolean
  noLongerText: string
  /** The actions for a person whose link does not work. */
  wayOut: (link: 'incomplete' | 'noLonger') => ReactNode
  children: (facts: Facts, link: OpenLink<Secret>) => ReactNode
}

/** What a mailed link opens. `children` draws it once the service has told what the link stands for. */
export function LinkPage<Secret, Facts>(props: LinkPageProps<Secret, Facts>) {
  const { icon, title, noScript, secret, read, isRefused, noLongerText, wayOut, children } = props
  const t = useTranslations('MailedLink')
  const common = useTranslations('Common')
  const failure = useTranslations('Failure')
  const { errorText } = useErrorTexts()
  const [hasEnded, setHasEnded] = useState(false)
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['mailed-link', secret],
    queryFn: secret ? () => read(secret) : skipToken,
    // It is read when the page is opened, and a person who sees an error reads it again.
    retry: false,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
  useOnceBack(error, refetch)
  if (hasEnded || isRefused(error) || (secret === null && endOfLink() === 'spent'))
    return (
      <StatusCard icon={Link2Off} tone="warning" isAnnounced title={t('noLongerTitle')} text={noLongerText}>
        {wayOut('noLonger')}
      </StatusCard>
    )
  if (secret === null) return <IncompleteLink text={t('incompleteText')}>{wayOut('incomplete')}</IncompleteLink>
  if (secret && data)
    return children(data, {
      secret,
      endIf: (failed) => {
        if (isRefused(failed)) setHasEnded(true)
        return isRefused(failed)
      },
      readAgain: () => refetch(),
      isReading: isFetching,
      isStale: error !== null,
    })
  if (error)
    return (
      <StatusCard
        icon={WifiOff}
        tone="warning"
        title={t('unreadTitle')}
        text={isAway(error) ? common('keepsTrying') : errorText(error)}
      >
        <Button className="w-full" isPending={isFetching} onClick={() => void refetch()}>
          {failure('tryAgain')}
        </Button>
      </StatusCard>
    )
  return <ReadingLink icon={icon} title={title} noScript={noScript} />
}

export function IncompleteLink({ text, children }: { text: string; children: ReactNode }) {
  const t = useTranslations('MailedLink')
  return (
    <StatusCard icon={Link2Off} tone="warning" title={t('incompleteTitle')} text={text}>
      {children}
    </StatusCard>
  )
}

export function ReadingLink({
  icon,
  title,
  noScript,
}: Pick<LinkPageProps<unknown, unknown>, 'icon' | 'title' | 'noScript'>) {
  const t = useTranslations('MailedLink')
  const common = useTranslations('Common')
  return (
    <StatusCard icon={icon} title={title} text={<span className="noscript:hidden">{t('reading')}</span>}>
      <noscript>
        <p>{noScript ?? common('noScript')}</p>
      </noscript>
    </StatusCard>
  )
}
