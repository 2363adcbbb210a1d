'use client'

import { useQueryClient } from '@tanstack/react-query'
import Link from 'next/link'
import { useState } from 'react'
import { ConfirmedButton } from '../confirmed-button'
import { type EmailStatus, emailStatusKey, pendingOf, useEmailStatus } from '../email/email-status'
import { call } from '../load-contract'
import { LiveRegion } from '../ui/announcement'
import { Card, CardBody, CardFooter, CardHeader } from '../ui/card'
import { textLink } from '../ui/text-link'
import { deviceOf } from './device'
import { type Outcome, OutcomeAlert } from './outcome'
import { SessionRow } from './session-row'
import { type Session, sessionsKey, useSessions } from './sessions'

interface SessionSettingsProps {
  userId: string
  initialSessions: Session[]
  initialStatus: EmailStatus
  renderedAt: string
}

export function SessionSettings({ userId, initialSessions, initialStatus, renderedAt }: SessionSettingsProps) {
  const queryClient = useQueryClient()
  const sessions = useSessions(userId, initialSessions, renderedAt)
  const pending = pendingOf(useEmailStatus(userId, initialStatus, renderedAt))
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  const others = sessions.filter(({ current }) => !current)
  const refresh = () =>
    Promise.all(
      [sessionsKey(userId), emailStatusKey(userId)].map((queryKey) => queryClient.invalidateQueries({ queryKey })),
    )

  return (
    <div className="space-y-6">
      <LiveRegion>{outcome && <OutcomeAlert key={outcome.id} outcome={outcome} />}</LiveRegion>
      <Card>
        <CardHeader
          title="Signed in"
          description={others.length ? `Here and in ${counted(others.length)}.` : 'Here, and nowhere else.'}
        />
        <CardBody>
          <ul className="divide-y divide-line">
            {[...sessions.filter(({ current }) => current), ...others].map((session) => (
              <SessionRow
                key={session.session_id}
                userId={userId}
                session={session}
                renderedAt={renderedAt}
                onEnded={() => {
                  setOutcome({
                    id: session.session_id,
                    title: `${deviceOf(session.user_agent).name} is signed out`,
                    text: 'Whoever uses it needs your password to come back.',
                  })
                  return refresh()
                }}
              />
            ))}
          </ul>
        </CardBody>
        {others.length > 0 && (
          <CardFooter>
            <p className="text-ink-muted text-sm">
              <Link href="/settings/access-tokens" className={textLink}>
                Access tokens
              </Link>{' '}
              keep working until you revoke them.
            </p>
            <ConfirmedButton
              label="Sign out everywhere else"
              className="w-full sm:w-auto"
              question="Sign out everywhere else?"
              consequence={
                <p>
                  This browser stays signed in; {counted(others.length)} {others.length === 1 ? 'is' : 'are'} signed out
                  at once.{' '}
                  {pending ? (
                    <>
                      Your pending email change to <span className="font-medium text-ink">{pending.newEmail}</span> is
                      cancelled too
                    </>
                  ) : (
                    'A pending email change is cancelled too'
                  )}
                  , as it may have been started there.
                </p>
              }
              keep="Keep them signed in"
              confirm="Yes, sign them out"
              act={() => call('endOtherSessions', { userId })}
              onDone={() => {
                setOutcome({
                  id: 'others',
                  title: 'You are signed out everywhere else',
                  text: pending
                    ? `The change to ${pending.newEmail} was cancelled.`
                    : 'Whoever was signed in there needs your password to come back.',
                })
                return refresh()
              }}
            />
          </CardFooter>
        )}
      </Card>
    </div>
  )
}

const counted = (others: number) => (others === 1 ? 'one other browser' : `${others} other browsers`)
