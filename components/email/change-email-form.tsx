'use client'

import { type FocusEvent, lazy, Suspense, useEffect, useState } from 'react'
import { useForm } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import type { Body } from '@/contract/define'
import type { changeEmail } from '@/contract/email'
import { DEFAULT_VERIFICATION_METHOD, VERIFICATION_METHODS } from '@/contract/vocabulary'
import { ConfirmIdentity, useProvenSubmit, type WaysToConfirm } from '../access/confirm-identity'
import { needsFreshSignIn, useErrorTexts } from '../api/error-texts'
import { rulesOf } from '../api/load-contract'
import { FormCard } from '../forms/form-card'
import { useDraft } from '../forms/use-draft'
import { useHost } from '../host/host'
import { LiveRegion } from '../ui/announcement'
import { Disclosure } from '../ui/disclosure'
import { EmailField, RadioField } from '../ui/field'
import { useChangeEmail } from './email-calls'

// Loaded on demand, because few people mistype a domain. If loading fails, there is no hint.
const MistypedHint = lazy(() => import('./mistyped-hint').catch(() => ({ default: () => null })))

interface ChangeEmailFormProps {
  userId: string
  currentEmail: string
  ways: WaysToConfirm
  /** Says how long the old address can undo a change; null where it cannot. */
  undoneWithin: string | null
  /** Folds the form away, because a new change supersedes the pending one. */
  isPending: boolean
  /** Whether another form of the page asks for the password now. */
  isFolded: boolean
  /** The address of a change that has expired or ended, offered again. */
  suggestion: string | undefined
  onSent: () => void
}

type Values = Body<typeof changeEmail>
const resolver = rulesOf<Values>((rules) => rules.changeEmailRules)

const METHOD_TEXTS = { email_code: 'codeMethod', email_link: 'linkMethod' } as const

/** Where there is a password, the service takes nothing else for a change. */
export const waysToChange = (ways: WaysToConfirm): WaysToConfirm =>
  ways.hasPassword ? { hasPassword: true, provider: null, confirmedUntil: null } : ways

export function ChangeEmailForm({
  userId,
  currentEmail,
  ways,
  undoneWithin,
  isPending,
  isFolded,
  suggestion,
  onSent,
}: ChangeEmailFormProps) {
  const t = useTranslations('EmailSettings')
  const { refresh } = useHost()
  const { fieldOf, showError } = useErrorTexts()
  // Without default values, what was typed before React took over stays in the fields.
  const form = useForm<Values>({ resolver })
  useDraft('change', userId, form)
  const { errors } = form.formState
  const [isUnfolded, setUnfolded] = useState(false)
  /** The address that was typed, once the field was left. */
  const [typed, setTyped] = useState('')
  const change = useChangeEmail(userId, {
    onSuccess: () => {
      onSent()
      setUnfolded(false)
      // Not reset(), because it unchecks the radio buttons.
      form.setValue('new_email', '')
      setTyped('')
      if (ways.hasPassword) form.setValue('current_password', '')
    },
    onError: (error) => {
      showError(form, error)
      if (needsFreshSignIn(error)) refresh()
    },
  })
  const submit = useProvenSubmit(form, ways, change.mutate)

  useEffect(() => {
    if (!suggestion || form.getValues('new_email')) return
    form.setValue('new_email', suggestion)
    setTyped(suggestion)
  }, [suggestion, form])

  return (
    // Always in the document, so that what was typed stays when it is folded.
    <Disclosure
      summary={t('differentTitle')}
      isSummaryHidden={!isPending && !isFolded}
      open={(!isPending && !isFolded) || isUnfolded}
      onToggle={(event) => (isPending || isFolded) && setUnfolded(event.currentTarget.open)}
    >
      <FormCard
        title={t('changeTitle')}
        description={t(isPending ? 'differentText' : 'changeText')}
        note={undoneWithin}
        bodyClassName="space-y-5"
        error={errors.root?.message}
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
          hint={t('proofHint')}
          values={form.getValues}
          password={fieldOf(form, 'current_password')}
        />
        <RadioField
          legend={t('method')}
          options={VERIFICATION_METHODS.map((value) => ({
            value,
            label: t(METHOD_TEXTS[value]),
            description: t(`${METHOD_TEXTS[value]}Text`),
          }))}
          defaultValue={DEFAULT_VERIFICATION_METHOD}
          {...fieldOf(form, 'verification_method')}
        />
      </FormCard>
    </Disclosure>
  )
}
