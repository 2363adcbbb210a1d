'use client'

import { useMutation } from '@tanstack/react-query'
import { BadgeCheck } from 'lucide-react'
import { useState } from 'react'
import type { FieldValues, SubmitErrorHandler, UseFormReturn } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import type { Purpose } from '@/contract/access'
import { PressError } from '../api/press-error'
import { type Leave, useHost } from '../host/host'
import { Alert } from '../ui/alert'
import { Announcement } from '../ui/announcement'
import { Button } from '../ui/button'
import { CurrentPasswordField } from '../ui/field'
import { LocalTime } from '../ui/local-time'

/** The ways in which this person can confirm their identity. */
export interface WaysToConfirm {
  hasPassword: boolean
  /** The name of the identity provider, null if it cannot confirm this person. */
  provider: string | null
  /** The end of the fresh sign-in, null without one. */
  confirmedUntil: string | null
}

interface ConfirmIdentityProps extends Leave {
  userId: string
  email: string
  purpose: Purpose
  ways: WaysToConfirm
  /** The purpose, as a sentence: `So that nobody else can …` */
  hint?: string | undefined
  password: { error: string | undefined } & Omit<React.ComponentProps<typeof CurrentPasswordField>, 'email'>
}

/** Whether the person still has to type the password. */
export const needsPassword = ({ hasPassword, confirmedUntil }: WaysToConfirm) => hasPassword && !confirmedUntil

/** Submits the form if the identity is confirmed. Otherwise it says what is missing. */
export function useProvenSubmit<Values extends FieldValues>(
  form: UseFormReturn<Values>,
  { hasPassword, provider, confirmedUntil }: WaysToConfirm,
  send: (values: Values) => void,
  onInvalid?: SubmitErrorHandler<Values>,
) {
  const t = useTranslations('Identity')
  return form.handleSubmit((values) => {
    if (hasPassword || confirmedUntil) return send(values)
    form.setError('root', { type: 'answer', message: provider ? t('firstConfirm', { provider }) : t('cannot') })
  }, onInvalid)
}

/** The password, or the identity provider, or whichever of both the person chooses. */
export function ConfirmIdentity({
  userId,
  email,
  purpose,
  ways,
  hint,
  values,
  comesBackTo,
  password,
}: ConfirmIdentityProps) {
  const t = useTranslations('Identity')
  const { hasPassword, provider, confirmedUntil } = ways
  const { hasSessions } = useHost()
  const [hasStarted, setHasStarted] = useState(false)
  // On a page of an adopter the person may have confirmed nothing that they know of.
  if (confirmedUntil && !hasSessions && !hasStarted) return null
  if (confirmedUntil)
    return (
      <Announcement takesFocus={hasStarted && 'if-lost'}>
        <p className="flex items-start gap-2.5">
          <BadgeCheck className="mt-0.5 size-5 shrink-0 text-success" aria-hidden />
          <span>{t.rich('confirmedUntil', { time: () => <LocalTime dateTime={confirmedUntil} format="time" /> })}</span>
        </p>
      </Announcement>
    )
  if (!hasPassword && !provider) return <Alert tone="warning" title={t('cannotTitle')} text={t('cannotText')} />
  return (
    <div className="space-y-4">
      {hasPassword && <CurrentPasswordField email={email} hint={hint} {...password} />}
      {provider && (
        <ConfirmWithProvider
          userId={userId}
          purpose={purpose}
          provider={provider}
          values={values}
          comesBackTo={comesBackTo}
          hint={hasPassword ? undefined : hint}
          onStart={() => setHasStarted(true)}
        />
      )}
    </div>
  )
}

interface ConfirmWithProviderProps extends Pick<ConfirmIdentityProps, 'userId' | 'purpose' | keyof Leave> {
  provider: string
  hint: string | undefined
  onStart: () => void
}

function ConfirmWithProvider(props: ConfirmWithProviderProps) {
  const { userId, purpose, provider, hint, values, comesBackTo, onStart } = props
  const t = useTranslations('Identity')
  const { reauthenticate } = useHost()
  const leave = useMutation({
    mutationFn: () => reauthenticate(userId, purpose, { values, comesBackTo }),
  })
  return (
    <div className="space-y-2">
      <p className={hint ? 'font-medium' : 'text-ink-muted text-sm leading-5'}>{t(hint ? 'show' : 'orWithout')}</p>
      <Button
        variant="secondary"
        className="w-full sm:w-auto"
        isPending={leave.isPending}
        onClick={() => {
          onStart()
          leave.mutate()
        }}
      >
        {t('confirmWith', { provider })}
      </Button>
      {hint && (
        <p className="text-ink-muted text-sm leading-5">
          {hint} {t('comeBack')}
        </p>
      )}
      <PressError error={leave.error} />
    </div>
  )
}
