'use client'

import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { useDeviceName } from '../access/device-name'
import { callWith } from '../api/load-contract'
import { bold } from '../ui/bold'
import { LocalTime } from '../ui/local-time'
import { serverNow } from '../ui/server-clock'
import type { ChangeLink, SignInLink } from './not-me-link'
import { Fact, type NewPassword, SecureCard, type SecureCardProps } from './secure-card'

export const readChange = async ({ changeRequestId, token }: ChangeLink) => ({
  change: await callWith(() => token, 'getNotMe', { changeRequestId }),
  undo: (body: NewPassword) => callWith(() => token, 'undoEmailChange', { changeRequestId }, body),
})

export const readSignIn = async ({ sessionId, token }: SignInLink) => ({
  signIn: await callWith(() => token, 'getSignIn', { sessionId }),
  disown: (body: NewPassword) => callWith(() => token, 'disownSignIn', { sessionId }, body),
})

type PageProps = Pick<SecureCardProps, 'rules' | 'endIf' | 'onDone'>
type TakeBackProps = Awaited<ReturnType<typeof readChange>> &
  PageProps & {
    /** How long an undone change holds a deletion back; null where it does not. */
    heldFor: string | null
  }

/** What the link of a message about a change opens. */
export function TakeBack({ change, undo, heldFor, ...page }: TakeBackProps) {
  const t = useTranslations('NotMe')
  const nameOf = useDeviceName()
  const isVerified = change.status === 'verified'
  // Read once when the page opens, so that the form stays as it is.
  const [hasEnded] = useState(() => !change.can_be_verified || Date.parse(change.expires_at) <= serverNow())
  const kind = isVerified ? 'undo' : hasEnded ? 'secure' : 'stop'
  return (
    <SecureCard
      {...page}
      title={t(`${kind}Title`)}
      text={t(`${kind}Text`)}
      facts={
        <>
          <Fact label={t(isVerified ? 'oldAddress' : 'currentAddress')}>{change.old_email}</Fact>
          <Fact label={t('newAddress')}>{change.changed_to ?? change.new_email}</Fact>
        </>
      }
      origin={
        <>
          <Fact label={t(isVerified ? 'changed' : 'requested')}>
            <LocalTime dateTime={change.changed_at ?? change.requested_at} />
          </Fact>
          {change.user_agent && <Fact label={t('device')}>{nameOf(change.user_agent)}</Fact>}
          <Fact label={t('ipAddress')}>{change.ip_address || '–'}</Fact>
        </>
      }
      firstEffect={t.rich(`${kind}Effect`, { address: change.old_email, email: bold })}
      lastEffect={isVerified && heldFor}
      email={change.old_email}
      hasPassword={change.has_password}
      sure={t('sure')}
      label={t(kind)}
      worksUntil={change.works_until}
      send={async (body) => {
        const { status, email } = await undo(body)
        return { title: t(status === 'reverted' ? 'undone' : 'stopped'), email }
      }}
    />
  )
}

/** What the link of a message about a sign-in opens. */
export function Disown({ signIn, disown, ...page }: Awaited<ReturnType<typeof readSignIn>> & PageProps) {
  const t = useTranslations('NotMe')
  const nameOf = useDeviceName()
  const { has_password: hasPassword, email } = signIn
  return (
    <SecureCard
      {...page}
      title={t('signInTitle')}
      text={t(hasPassword ? 'signInText' : 'signInTextWithoutPassword')}
      facts={
        <>
          <Fact label={t('signedInAt')}>
            <LocalTime dateTime={signIn.signed_in_at} />
          </Fact>
          <Fact label={t('device')}>{nameOf(signIn.user_agent)}</Fact>
          <Fact label={t('ipAddress')}>{signIn.ip_address || '–'}</Fact>
        </>
      }
      lastEffect={t('pendingEffect')}
      email={email}
      hasPassword={hasPassword}
      sure={t('signInSure')}
      label={t('signInSecure')}
      worksUntil={signIn.works_until}
      send={async (body) => {
        await disown(body)
        return { title: t('signInDone'), email }
      }}
    />
  )
}
