'use client'

import { useQueryClient } from '@tanstack/react-query'
import Link from 'next/link'
import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { call } from '../api/load-contract'
import { type EmailStatus, emailStatusKey, pendingOf, useEmailStatus } from '../email/email-status'
import { ConfirmedButton } from '../forms/confirmed-button'
import { LiveRegion } from '../ui/announcement'
import { bold } from '../ui/bold'
import { Card, CardBody, CardFooter } from '../ui/card'
import { CardHeader } from '../ui/card-header'
import { textLink } from '../ui/text-link'
import { useDeviceName } from './device-name'
import { type Outcome, OutcomeAlert } from './outcome'
import { SessionRow } from './session-row'
import { type Owner, useConfirmedIdentity } from './use-confirmed-identity'
import { type Session, sessionsKey, useSessions } from './use-sessions'

interface SessionSettingsProps extends Owner {
  initialSessions: Session[]
  initialStatus: EmailStatus
  renderedAt: string
}

export function SessionSettings({ initialSessions, initialStatus, renderedAt, ...owner }: SessionSettingsProps) {
  const { userId } = owner
  const t = useTranslations('Sessions')
  const nameOf = useDeviceName()
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
          title={t('listTitle')}
          description={others.length ? t('alsoElsewhere', { others: others.length }) : t('onlyHere')}
        />
        <CardBody>
          <ul className="divide-y divide-line">
            {[...sessions.filter(({ current }) => current), ...others].map((session) => (
              <SessionRow
                key={session.session_id}
                owner={owner}
                session={session}
                onEnded={() => {
                  setOutcome({
                    id: session.session_id,
                    title: t('ended', { name: nameOf(session.user_agent) }),
                    text: t('endedText'),
                  })
                  return refresh()
                }}
              />
            ))}
          </ul>
        </CardBody>
        {others.length > 0 && (
          <EndOthers
            owner={owner}
            others={others.length}
            newEmail={pending?.newEmail}
            onEnded={(text) => {
              setOutcome({ id: 'others', title: t('othersEnded'), text })
              return refresh()
            }}
          />
        )}
      </Card>
    </div>
  )
}

interface EndOthersProps {
  owner: Owner
  others: number
  /** The address of a pending change, which ends with the other sessions. */
  newEmail: string | undefined
  onEnded: (text: string) => unknown
}

function EndOthers({ owner, others, newEmail, onEnded }: EndOthersProps) {
  const t = useTranslations('Sessions')
  const { question, confirmed } = useConfirmedIdentity(owner)
  return (
    <CardFooter>
      <p className="text-ink-muted text-sm">
        {t.rich('tokensStay', {
          link: (text) => (
            <Link href="/settings/access-tokens" className={textLink}>
              {text}
            </Link>
          ),
        })}
      </p>
      <ConfirmedButton
        label={t('others')}
        className="w-full sm:w-auto"
        question={t('othersQuestion')}
        consequence={
          <>
            <p>
              {t('othersConsequence', { others })} {newEmail && t.rich('othersChange', { newEmail, email: bold })}
            </p>
            {question}
          </>
        }
        keep={t('othersKeep')}
        confirmVariant="primary"
        confirm={t('othersConfirm')}
        act={() => confirmed(() => call('endOtherSessions', { userId: owner.userId }))}
        onDone={() => onEnded(newEmail ? t('othersEndedChange', { newEmail }) : t('othersEndedText'))}
      />
    </CardFooter>
  )
}
