'use client'

import { Monitor, Smartphone } from 'lucide-react'
import { ConfirmedButton } from '../confirmed-button'
import { call } from '../load-contract'
import { signOutHere } from '../sign-out'
import { Badge } from '../ui/badge'
import { LocalTime } from '../ui/local-time'
import { RelativeTime } from '../ui/relative-time'
import { deviceOf } from './device'
import type { Session } from './sessions'
import { unlessGone } from './unless-gone'

interface SessionRowProps {
  userId: string
  session: Session
  renderedAt: string
  onEnded: () => void
}

export function SessionRow({ userId, session, renderedAt, onEnded }: SessionRowProps) {
  const { session_id: sessionId, current, user_agent, created_at, last_seen_at } = session
  const { name, isHandheld } = deviceOf(user_agent)
  const Icon = isHandheld ? Smartphone : Monitor
  const button = {
    label: (
      <span>
        Sign out<span className="sr-only"> {name}</span>
      </span>
    ),
    describedBy: `${sessionId}-times`,
    className: 'max-sm:col-start-2 max-sm:justify-self-start',
  }
  return (
    <li className="grid grid-cols-[auto_minmax(0,1fr)] items-center gap-x-4 gap-y-3 py-5 first:pt-0 last:pb-0 sm:grid-cols-[auto_minmax(0,1fr)_auto]">
      <span
        className="grid size-10 shrink-0 place-items-center self-start rounded-full bg-sunken text-ink-muted"
        aria-hidden
      >
        <Icon className="size-4.5" />
      </span>
      <div>
        <p className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
          <span className="font-medium">{name}</span>
          {current && <Badge tone="accent">This browser</Badge>}
        </p>
        <p id={`${sessionId}-times`} className="text-ink-muted text-sm">
          {current ? (
            'Active now'
          ) : (
            <>
              Last seen <RelativeTime dateTime={last_seen_at} renderedAt={renderedAt} />
            </>
          )}
          ,{' '}
          <span className="inline-block">
            signed in since <LocalTime dateTime={created_at} />
          </span>
        </p>
      </div>
      {current ? (
        <ConfirmedButton
          {...button}
          question="Sign out of this browser?"
          consequence={<p>You need your password to come back.</p>}
          keep="Stay signed in"
          confirm="Yes, sign out"
          act={() => signOutHere('/sign-in')}
        />
      ) : (
        <ConfirmedButton
          {...button}
          question={`Sign out ${name}?`}
          consequence={
            <p>
              It was signed in on <LocalTime dateTime={created_at} /> and is signed out at once. Whoever uses it needs
              your password to come back.
            </p>
          }
          keep="Keep it"
          confirm="Yes, sign it out"
          act={() => call('endSession', { userId, sessionId }).catch(unlessGone)}
          onDone={onEnded}
        />
      )}
    </li>
  )
}
