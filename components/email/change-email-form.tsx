'use client'

import { useTranslations } from 'use-intl/react'
import { ConfirmIdentity, type WaysToConfirm } from '../access/confirm-identity'
import { useErrorTexts } from '../api/error-texts'
import { FormCard } from '../forms/form-card'
import { useHost } from '../host/host'
import { Button } from '../ui/button'
import { NewEmailField } from './new-email-field'
import { type ChangeForm, useChangeForm } from './use-change-form'

interface ChangeEmailFormProps extends ChangeForm {
  currentEmail: string
  /** The address of a change that has expired or ended, or is replaced, offered again. */
  suggestion: string | undefined
  onClose: () => void
}

/** Where there is a password, the service takes nothing else for a change. */
export const waysToChange = (ways: WaysToConfirm): WaysToConfirm =>
  ways.hasPassword ? { hasPassword: true, provider: null, confirmedUntil: null } : ways

export function ChangeEmailForm(props: ChangeEmailFormProps) {
  const { userId, currentEmail, ways, isOpen, isReplacing, canClose, suggestion, onClose } = props
  const t = useTranslations('EmailSettings')
  const { fieldOf } = useErrorTexts()
  const { hasSessions, changesLeft } = useHost()
  const changeText = hasSessions ? 'changeText' : 'changeTextElsewhere'
  const { form, empty, submit, isPending } = useChangeForm(props)

  return (
    // Always in the document, so that it can be filled with what was typed before a new sign-in.
    <div hidden={!isOpen}>
      <FormCard
        title={t('changeTitle')}
        description={t(isReplacing ? 'differentText' : changeText)}
        error={form.formState.errors.root}
        aside={
          canClose && (
            <Button
              variant="quiet"
              size="small"
              className="-my-2.5 -me-3 sm:-my-1.5"
              disabled={isPending}
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
        isPending={isPending}
        onSubmit={submit}
      >
        {!ways.hasPassword && <input type="hidden" value="fresh_sign_in" {...form.register('reauthentication')} />}
        <NewEmailField form={form} suggestion={suggestion} readOnly={isPending} />
        <ConfirmIdentity
          userId={userId}
          email={currentEmail}
          purpose="change"
          ways={waysToChange(ways)}
          hint={ways.hasPassword ? undefined : t('proofHint')}
          values={form.getValues}
          password={{ ...fieldOf(form, 'current_password'), readOnly: isPending }}
        />
        {changesLeft?.()}
      </FormCard>
    </div>
  )
}
