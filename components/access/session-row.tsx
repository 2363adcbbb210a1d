'use client'

import { Monitor, Smartphone } from 'lucide-react'
import { useTranslations } from 'use-intl/react'
import { deviceOf } from '@/contract/device'
import { call } from '../api/load-contract'
import { ConfirmedButton } from '../forms/confirmed-button'
import { signOutHere } from '../session/sign-out'
import { Badge } from '../ui/badge'
import { LocalTime, useClock } from '../ui/local-time'
import { RelativeTime } from '../ui/relative-time'
import { useServerTime } from '../ui/server-clock'
import { useDeviceName } from './device-name'
import { ignoreEnded } from './ignore-ended'
import { type Owner, useConfirmedIdentity } from './use-confirmed-identity'
import type { Session } from './use-sessions'

/** The service notes the use of a session once an hour. */
const NOTED_WITHIN_MS = 3_600_000

function LastActive({ at }: { at: string }) {
  const t = useTranslations('Sessions')
  const isRecent = useServerTime() - Date.parse(at) < NOTED_WITHIN_MS
  return isRecent ? t('activeRecently') : t.rich('lastActive', { time: () => <RelativeTime dateTime={at} isOver /> })
}

interface SessionRowProps {
  owner: Owner
  session: Session
  onEnded: () => void
}

export function SessionRow({ owner, session, onEnded }: SessionRowProps) {
  const t = useTranslations('Sessions')
  const name = useDeviceName()(session.user_agent)
  const { session_id: sessionId, current, user_agent, created_at, last_seen_at, ip_address } = session
  const { question, confirmed } = useConfirmedIdentity(owner)
  const { browser, isHandheld } = deviceOf(user_agent)
  const signedIn = useClock(created_at)({ dateStyle: 'medium', timeStyle: 'short' })
  const Icon = isHandheld ? Smartphone : Monitor
  const times = (
    <>
      <p>{current ? t('activeNow') : <LastActive at={last_seen_at} />}</p>
      <p>{t.rich('signedIn', { date: () => <LocalTime dateTime={created_at} format="short" /> })}</p>
      {isAddress(ip_address) && (
        <p>{t.rich('fromAddress', { ip: () => <bdi className="wrap-anywhere tabular-nums">{ip_address}</bdi> })}</p>
      )}
    </>
  )
  const button = {
    label: (
      <span>
        {t.rich('signOut', {
          device: `${name}, ${current ? t('thisBrowser') : signedIn}`,
          name: (text) => <span className="sr-only">{text}</span>,
        })}
      </span>
    ),
    describedBy: `${sessionId}-times`,
    // In line with the words, by a margin that does not grow with the text.
    className: 'max-sm:ms-[56px] max-sm:max-w-[calc(100%-56px)]',
  }
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-3 py-5 first:pt-0 last:pb-0">
      <span
        className="grid size-10 shrink-0 place-items-center self-start rounded-full bg-sunken text-ink-muted"
        aria-hidden
      >
        <Icon className="size-4.5" />
      </span>
      {/* With large text the words stand below the picture. */}
      <div className="min-w-0 flex-1 basis-40">
        <p className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
          <span className="wrap-anywhere font-medium">{name}</span>
          {current && <Badge tone="accent">{t('thisBrowser')}</Badge>}
        </p>
        {!browser && user_agent && (
          <p className="wrap-anywhere font-mono text-ink-muted text-xs leading-5">
            <bdi>{user_agent}</bdi>
          </p>
        )}
        <div id={`${sessionId}-times`} className="text-ink-muted text-sm">
          {times}
        </div>
      </div>
      {current ? (
        <ConfirmedButton
          {...button}
          question={t('hereQuestion')}
          consequence={<p>{t('hereConsequence')}</p>}
          keep={t('hereKeep')}
          confirm={t('hereConfirm')}
          confirmVariant="primary"
          act={() => signOutHere('/sign-in')}
        />
      ) : (
        <ConfirmedButton
          {...button}
          question={t('question', { name })}
          consequence={
            <>
              {/* Several rows may have one name. */}
              {times}
              <p className="mt-3">{t('consequence')}</p>
              {question}
            </>
          }
          keep={t('keep')}
          confirm={t('confirm')}
          confirmVariant="primary"
          act={() => confirmed(() => call('endSession', { userId: owner.userId, sessionId }).catch(ignoreEnded))}
          onDone={onEnded}
        />
      )}
    </li>
  )
}

/** Whether the address is known. The service writes a word in place of an unknown one. */
const isAddress = (ip: string) => /[.:]/.test(ip)
