'use client'

import { useEffect, useRef } from 'react'
import { useForm } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import { ConfirmIdentity, needsPassword, type WaysToConfirm } from '../access/confirm-identity'
import { useErrorTexts } from '../api/error-texts'
import { rulesOf } from '../api/load-contract'
import { focusFirstWrong } from '../forms/focus-first-wrong'
import { FormCard } from '../forms/form-card'
import { useDraft } from '../forms/use-draft'
import { Blockers, NoLongerHeld, UnknownBlockers, type WatchedBlockers } from './blockers'
import { DeletionChoices } from './deletion-choices'
import { CountedDetails, type CountedDetailsProps } from './deletion-details'
import { Summary, SummaryNotes } from './deletion-summary'
import { PhraseField } from './phrase-field'
import { useSubmitWithdrawal } from './use-submit-withdrawal'
import type { WithdrawValues } from './withdraw-rules'

interface WithdrawAccountFormProps extends CountedDetailsProps {
  email: string
  /** “7 days”: the time in which all steps should be done. */
  deletedWithin: string
  ways: WaysToConfirm
  held: WatchedBlockers
  supportEmail: string
}

const resolvers = {
  password: rulesOf<WithdrawValues>((rules) => rules.withdrawRules.password),
  none: rulesOf<WithdrawValues>((rules) => rules.withdrawRules.none),
}

/** What is deleted, the phrase, the proof and the button. Everything that nobody needs for that is folded. */
export function WithdrawAccountForm(props: WithdrawAccountFormProps) {
  const { email, ways, held, supportEmail, deletedWithin, ...details } = props
  const t = useTranslations('DeleteAccount')
  const { userId, retentionDays } = details
  const { fieldOf } = useErrorTexts()
  // Without default values, what was typed before React took over stays in the fields.
  const form = useForm<WithdrawValues>({
    resolver: needsPassword(ways) ? resolvers.password : resolvers.none,
    shouldFocusError: false,
  })
  const isFilled = useDraft('withdraw', userId, form)
  const choices = useRef<HTMLDetailsElement>(null)
  const isConfirmed = ways.confirmedUntil !== null
  useEffect(() => {
    if (!isFilled) return
    const { reason, data_retention: kept = {} } = form.getValues()
    if (choices.current && (reason || Object.values(kept).includes(true))) choices.current.open = true
    // Without a proof, the page says at its top what went wrong; after a new language, its control has the focus.
    if (isConfirmed && document.activeElement === document.body) form.setFocus('confirmation')
  }, [isFilled, isConfirmed, form])
  const { submit, isPending, doubt, isHeldBack } = useSubmitWithdrawal(form, {
    userId,
    ways,
    held,
    // A field in a folded part cannot take the focus.
    onWrong: (wrong) => {
      if (choices.current && (wrong.reason || wrong.feedback)) choices.current.open = true
      focusFirstWrong(wrong)
    },
  })

  if (held.blockers.length > 0) return <Blockers held={held} supportEmail={supportEmail} takesFocus={isHeldBack} />

  return (
    <div className="space-y-6">
      <UnknownBlockers held={held} />
      {held.wasHeld && <NoLongerHeld />}
      <FormCard
        tone="danger"
        title={t('dangerTitle')}
        description={<Summary address={email} deletedWithin={deletedWithin} />}
        error={doubt ?? form.formState.errors.root}
        submit={t('confirm')}
        isPending={isPending}
        onSubmit={submit}
      >
        <SummaryNotes applications={details.applications} retentionDays={retentionDays} authority={held.authority}>
          <CountedDetails {...details} />
        </SummaryNotes>
        <PhraseField form={form} isFilled={isFilled} />
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
    </div>
  )
}
