'use client'

import { type FocusEvent, lazy, Suspense, useEffect, useState } from 'react'
import { useForm } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import type { Body } from '@/contract/define'
import type { changeEmail } from '@/contract/email'
import { ConfirmIdentity, useProvenSubmit, type WaysToConfirm } from '../access/confirm-identity'
import { needsFreshSignIn, useErrorTexts } from '../api/error-texts'
import { rulesOf } from '../api/load-contract'
import { FormCard } from '../forms/form-card'
import { useDraft } from '../forms/use-draft'
import { useHost } from '../host/host'
import { LiveRegion } from '../ui/announcement'
import { Button } from '../ui/button'
import { EmailField } from '../ui/field'
import { useChangeEmail } from './email-calls'

// Loaded on demand, because few people mistype a domain. If loading fails, there is no hint.
const MistypedHint = lazy(() => import('./mistyped-hint').catch(() => ({ default: () => null })))

interface ChangeEmailFormProps {
  userId: string
  currentEmail: string
  ways: WaysToConfirm
  isOpen: boolean
  /** The new change replaces one whose message came back. */
  isReplacing: boolean
  /** The address of a change that has expired or ended, offered again. */
  suggestion: string | undefined
  /** What was typed before a new sign-in is in the fields again. */
  onFilled: () => void
  onClose: () => void
  onSent: () => void
}

type Values = Body<typeof changeEmail>
const resolver = rulesOf<Values>((rules) => rules.changeEmailRules)

/** Where there is a password, the service takes nothing else for a change. */
export const waysToChange = (ways: WaysToConfirm): WaysToConfirm =>
  ways.hasPassword ? { hasPassword: true, provider: null, confirmedUntil: null } : ways

export function ChangeEmailForm(props: ChangeEmailFormProps) {
  const { userId, currentEmail, ways, isOpen, isReplacing, suggestion, onFilled, onClose, onSent } = props
  const t = useTranslations('EmailSettings')
  const { refresh } = useHost()
  const { fieldOf, showError } = useErrorTexts()
  const form = useForm<Values>({ resolver })
  const isFilled = useDraft('change', userId, form)
  const { errors } = form.formState
  /** The address that was typed, once the field was left. */
  const [typed, setTyped] = useState('')
  const empty = () => {
    // Not reset(), because it empties the hidden field too.
    form.setValue('new_email', '')
    if (ways.hasPassword) form.setValue('current_password', '')
    form.clearErrors()
    setTyped('')
  }
  const change = useChangeEmail(userId, {
    onSuccess: () => {
      onSent()
      empty()
    },
    onError: (error) => {
      showError(form, error)
      if (needsFreshSignIn(error)) refresh()
    },
  })
  const submit = useProvenSubmit(form, ways, change.mutate)

  useEffect(() => {
    if (isFilled) onFilled()
  }, [isFilled, onFilled])

  useEffect(() => {
    if (!suggestion || form.getValues('new_email')) return
    form.setValue('new_email', suggestion)
    setTyped(suggestion)
  }, [suggestion, form])

  useEffect(() => {
    if (isOpen && !isReplacing) form.setFocus('new_email')
  }, [isOpen, isReplacing, form])

  return (
    // Always in the document, so that it can be filled with what was typed before a new sign-in.
    <div hidden={!isOpen}>
      <FormCard
        title={t('changeTitle')}
        description={t(isReplacing ? 'differentText' : 'changeText')}
        bodyClassName="space-y-5"
        error={errors.root?.message}
        aside={
          !isReplacing && (
            <Button
              variant="quiet"
              size="small"
              className="-me-3 -mt-1.5"
              onClick={() => {
                empty()
                onClose()
              }}
            >
              {t('close')}
            </Button>
          )
        }
        submit={t('submit')}
        isPending={form.formState.isSubmitting || change.isPending}
        onSubmit={submit}
      >
        <EmailField
          label={t('newEmail')}
          autoComplete="email"
          {...fieldOf(form, 'new_email', {
            setValueAs: (text: string) => text.trim(),
            // The hint waits until the field is left.
            onChange: () => setTyped(''),
            onBlur: (event: FocusEvent<HTMLInputElement>) => setTyped(event.target.value),
          })}
        />
        <LiveRegion>
          {typed && (
            <Suspense fallback={null}>
              <MistypedHint
                address={typed}
                onUse={(meant) => {
                  form.setValue('new_email', meant)
                  setTyped('')
                  form.setFocus('new_email')
                }}
              />
            </Suspense>
          )}
        </LiveRegion>
        {!ways.hasPassword && <input type="hidden" value="fresh_sign_in" {...form.register('reauthentication')} />}
        <ConfirmIdentity
          userId={userId}
          email={currentEmail}
          purpose="change"
          ways={waysToChange(ways)}
          hint={ways.hasPassword ? undefined : t('proofHint')}
          values={form.getValues}
          password={fieldOf(form, 'current_password')}
        />
      </FormCard>
    </div>
  )
}
