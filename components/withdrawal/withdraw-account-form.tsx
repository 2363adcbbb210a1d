'use client'

import { useMutation } from '@tanstack/react-query'
import { ArrowLeft } from 'lucide-react'
import { type RefObject, useState } from 'react'
import { flushSync } from 'react-dom'
import { useForm, useWatch } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import { ApiError } from '@/contract/errors'
import { CHOICES, MAX_FEEDBACK_LENGTH, REASONS } from '@/contract/vocabulary'
import type { Reason } from '@/contract/withdrawal'
import { ConfirmIdentity, needsPassword, useProvenSubmit, type WaysToConfirm } from '../access/confirm-identity'
import { isUnanswered, needsFreshSignIn, useErrorTexts } from '../api/error-texts'
import { rulesOf } from '../api/load-contract'
import { focusFirstWrong } from '../forms/focus-first-wrong'
import { FormCard } from '../forms/form-card'
import { useDraft } from '../forms/use-draft'
import { useHost } from '../host/host'
import { bold } from '../ui/bold'
import { Button } from '../ui/button'
import { Dialog } from '../ui/dialog'
import { CheckboxField, RadioField, TextAreaField } from '../ui/field'
import { Blockers, type HeldBack, UnknownBlockers } from './blockers'
import { PhraseField } from './phrase-field'
import { useWithdrawAccount } from './use-withdraw-account'
import type { WithdrawValues } from './withdraw-rules'

interface WithdrawAccountFormProps {
  userId: string
  email: string
  ways: WaysToConfirm
  held: HeldBack
  supportEmail: string
  retentionDays: number
  /** “7 days”: the time in which all steps should be done. */
  deletedWithin: string
  headingRef: RefObject<HTMLHeadingElement | null>
  onBack: () => void
}

const resolvers = {
  password: rulesOf<WithdrawValues>((rules) => rules.withdrawRules.password),
  none: rulesOf<WithdrawValues>((rules) => rules.withdrawRules.none),
}

const reasons = Object.keys(REASONS) as Reason[]

export function WithdrawAccountForm({
  userId,
  email,
  ways,
  held,
  supportEmail,
  retentionDays,
  deletedWithin,
  headingRef,
  onBack,
}: WithdrawAccountFormProps) {
  const t = useTranslations('DeleteAccount')
  const { confirmPassword, refresh } = useHost()
  const { fieldOf, showError } = useErrorTexts()
  // Without default values, what was typed before React took over stays in the fields.
  const asksPassword = needsPassword(ways)
  const form = useForm<WithdrawValues>({
    resolver: asksPassword ? resolvers.password : resolvers.none,
    shouldFocusError: false,
  })
  const isFilled = useDraft('withdraw', userId, form)
  const { errors } = form.formState
  const isOther = useWatch({ control: form.control, name: 'reason' }) === 'other'
  const [isAsking, setAsking] = useState(false)
  // A wrong password is told here, in the form. The dialog comes when nothing is left to get wrong.
  const confirm = useMutation({
    mutationFn: async ({ current_password }: WithdrawValues) => {
      if (asksPassword) await confirmPassword(userId, current_password ?? '')
    },
    // The password would stay in memory.
    gcTime: 0,
    onSuccess: () => setAsking(true),
    onError: (error) => showError(form, error),
  })
  const submit = useProvenSubmit(form, ways, confirm.mutate, focusFirstWrong)
  const withdraw = useWithdrawAccount(userId, {
    onError: (error) => {
      // Closed first, because the dialog gives the focus back before the field with the fault takes it.
      flushSync(() => setAsking(false))
      if (isUnanswered(error)) form.setError('root', { type: 'answer', message: t('lostAnswer') })
      else if (needsFreshSignIn(error) && asksPassword) {
        form.setError('current_password', { type: 'answer', message: t('confirmAgain') })
        form.setFocus('current_password', { shouldSelect: true })
      } else showError(form, error)
      if (isHeldBack(error)) held.show(error)
      if (isHeldBack(error) || needsFreshSignIn(error)) refresh()
    },
  })
  const leaving = withdraw.isPending || withdraw.isSuccess

  if (held.blockers.length > 0)
    return <Blockers held={held} supportEmail={supportEmail} takesFocus={isHeldBack(withdraw.error)} />

  return (
    <div className="space-y-6">
      <UnknownBlockers held={held} />
      <FormCard
        title={t('formTitle')}
        headingRef={headingRef}
        bodyClassName="space-y-7"
        error={errors.root?.message}
        note={t('note')}
        submit={t('continue')}
        isPending={form.formState.isSubmitting || confirm.isPending}
        onSubmit={submit}
      >
        <RadioField
          legend={t('reason')}
          appearance="list"
          options={[
            { value: '', label: t('reasons.none') },
            ...reasons.map((value) => ({ value, label: t(`reasons.${value}`) })),
          ]}
          defaultValue=""
          {...fieldOf(form, 'reason', { deps: 'feedback' })}
        />
        <TextAreaField
          // Its counter begins with what is there when it is made.
          key={String(isFilled)}
          label={t('feedback')}
          hint={t(isOther ? 'feedbackNeeded' : 'feedbackHint')}
          maxCharacters={MAX_FEEDBACK_LENGTH}
          defaultValue={form.getValues('feedback')}
          aria-required={isOther}
          {...fieldOf(form, 'feedback')}
        />
        <fieldset className="min-w-0 space-y-4" aria-describedby="keep-hint">
          <legend className="font-medium">{t('keep', { days: retentionDays })}</legend>
          <p id="keep-hint" className="-mt-2.5 text-ink-muted text-sm leading-5">
            {t('keepHint')}
          </p>
          {CHOICES.map((choice) => (
            <CheckboxField
              key={choice}
              label={t(`choices.${choice}`)}
              hint={t(`choices.${choice}Why`)}
              {...form.register(`data_retention.${choice}`)}
            />
          ))}
        </fieldset>
        <div className="space-y-5 border-line border-t pt-6">
          <PhraseField form={form} />
          <ConfirmIdentity
            userId={userId}
            email={email}
            purpose="withdraw"
            ways={ways}
            hint={t('identityHint')}
            values={form.getValues}
            password={fieldOf(form, 'current_password')}
          />
        </div>
      </FormCard>
      <Button variant="quiet" className="mt-4 w-full sm:w-auto" onClick={onBack}>
        <ArrowLeft className="size-4 rtl:rotate-180" aria-hidden /> {t('back')}
      </Button>
      <Dialog
        open={isAsking}
        isBusy={leaving}
        onClose={() => setAsking(false)}
        title={t('question')}
        description={<p>{t.rich('consequence', { address: email, time: deletedWithin, email: bold })}</p>}
      >
        <Button variant="secondary" disabled={leaving} onClick={() => setAsking(false)}>
          {t('keepAccount')}
        </Button>
        <Button
          variant="danger"
          isPending={leaving}
          onClick={form.handleSubmit(({ current_password: _, ...body }) => withdraw.mutate(body))}
        >
          {t('confirm')}
        </Button>
      </Dialog>
    </div>
  )
}

const isHeldBack = (error: unknown) => error instanceof ApiError && error.code === 'WITHDRAWAL_003'
