'use client'

import { useMutation } from '@tanstack/react-query'
import { useRef } from 'react'
import { useForm } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import { ApiError } from '@/contract/errors'
import { ConfirmIdentity, needsPassword, useProvenSubmit, type WaysToConfirm } from '../access/confirm-identity'
import { isUnanswered, needsFreshSignIn, useErrorTexts } from '../api/error-texts'
import { rulesOf } from '../api/load-contract'
import { focusFirstWrong } from '../forms/focus-first-wrong'
import { FormCard } from '../forms/form-card'
import { useDraft } from '../forms/use-draft'
import { useHost } from '../host/host'
import { Blockers, type HeldBack, UnknownBlockers } from './blockers'
import { DeletionChoices } from './deletion-choices'
import { DeletionDetails, type DeletionDetailsProps } from './deletion-details'
import { Summary, SummaryNotes } from './deletion-summary'
import { PhraseField } from './phrase-field'
import { useWithdrawAccount } from './use-withdraw-account'
import type { WithdrawValues } from './withdraw-rules'

interface WithdrawAccountFormProps extends DeletionDetailsProps {
  email: string
  /** “7 days”: the time in which all steps should be done. */
  deletedWithin: string
  ways: WaysToConfirm
  held: HeldBack
  supportEmail: string
}

const resolvers = {
  password: rulesOf<WithdrawValues>((rules) => rules.withdrawRules.password),
  none: rulesOf<WithdrawValues>((rules) => rules.withdrawRules.none),
}

/** What is deleted, the phrase, the proof and the button. Everything that nobody needs for that is folded. */
export function WithdrawAccountForm({
  email,
  ways,
  held,
  supportEmail,
  deletedWithin,
  ...details
}: WithdrawAccountFormProps) {
  const t = useTranslations('DeleteAccount')
  const { userId, retentionDays } = details
  const { confirmPassword, refresh } = useHost()
  const { fieldOf, showError } = useErrorTexts()
  // Without default values, what was typed before React took over stays in the fields.
  const asksPassword = needsPassword(ways)
  const form = useForm<WithdrawValues>({
    resolver: asksPassword ? resolvers.password : resolvers.none,
    shouldFocusError: false,
  })
  const isFilled = useDraft('withdraw', userId, form)
  const { errors, isSubmitting } = form.formState
  const choices = useRef<HTMLDetailsElement>(null)
  const withdraw = useWithdrawAccount(userId, {
    onError: (error) => {
      if (isUnanswered(error)) form.setError('root', { type: 'answer', message: t('lostAnswer') })
      else if (needsFreshSignIn(error) && asksPassword) {
        form.setError('current_password', { type: 'answer', message: t('confirmAgain') })
        form.setFocus('current_password', { shouldSelect: true })
      } else showError(form, error)
      if (isHeldBack(error)) held.show(error)
      if (isHeldBack(error) || needsFreshSignIn(error)) refresh()
    },
  })
  const prove = useMutation({
    mutationFn: async ({ current_password }: WithdrawValues) => {
      if (asksPassword) await confirmPassword(userId, current_password ?? '')
    },
    // The password would stay in memory.
    gcTime: 0,
    onSuccess: (_proven, { current_password: _, ...body }) => withdraw.mutate(body),
    onError: (error) => showError(form, error),
  })
  // A field in a folded part cannot take the focus.
  const submit = useProvenSubmit(form, ways, prove.mutate, (wrong) => {
    if (choices.current && (wrong.reason || wrong.feedback)) choices.current.open = true
    focusFirstWrong(wrong)
  })

  if (held.blockers.length > 0)
    return <Blockers held={held} supportEmail={supportEmail} takesFocus={isHeldBack(withdraw.error)} />

  return (
    <div className="space-y-6">
      <UnknownBlockers held={held} />
      <FormCard
        tone="danger"
        title={t('dangerTitle')}
        description={<Summary address={email} deletedWithin={deletedWithin} />}
        bodyClassName="space-y-5"
        error={errors.root?.message}
        submit={t('confirm')}
        isPending={isSubmitting || prove.isPending || withdraw.isPending || withdraw.isSuccess}
        onSubmit={submit}
      >
        <SummaryNotes applications={details.applications} retentionDays={retentionDays} authority={held.authority} />
        <PhraseField form={form} />
        <ConfirmIdentity
          userId={userId}
          email={email}
          purpose="withdraw"
          ways={ways}
          hint={ways.hasPassword ? undefined : t('identityHint')}
          values={form.getValues}
          password={fieldOf(form, 'current_password')}
        />
        <DeletionChoices ref={choices} form={form} isFilled={isFilled} retentionDays={retentionDays} />
      </FormCard>
      <DeletionDetails {...details} />
    </div>
  )
}

const isHeldBack = (error: unknown) => error instanceof ApiError && error.code === 'WITHDRAWAL_003'
