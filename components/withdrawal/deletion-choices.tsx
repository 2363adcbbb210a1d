'use client'

import { type Ref, useId } from 'react'
import { type UseFormReturn, useWatch } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import { CHOICES, MAX_FEEDBACK_LENGTH, REASONS } from '@/contract/vocabulary'
import { useErrorTexts } from '../api/error-texts'
import { Disclosure } from '../ui/disclosure'
import { CheckboxField, RadioField, TextAreaField } from '../ui/field'
import type { WithdrawValues } from './withdraw-rules'

interface DeletionChoicesProps {
  ref: Ref<HTMLDetailsElement>
  form: UseFormReturn<WithdrawValues>
  /** Whether a draft was filled in. */
  isFilled: boolean
  retentionDays: number
}

/** The reason and what to keep, folded, because nobody has to choose anything. The feedback is asked for with "another reason" alone. */
export function DeletionChoices({ ref, form, isFilled, retentionDays }: DeletionChoicesProps) {
  const t = useTranslations('DeleteAccount')
  const keepHint = useId()
  const { fieldOf } = useErrorTexts()
  const isOther = useWatch({ control: form.control, name: 'reason' }) === 'other'
  return (
    <Disclosure ref={ref} summary={t('choicesTitle')}>
      <div className="space-y-6 pt-3">
        <RadioField
          legend={t('reason')}
          hint={t('reasonHint')}
          appearance="list"
          options={[
            { value: '', label: t('reasons.none') },
            ...REASONS.map((value) => ({ value, label: t(`reasons.${value}`) })),
          ]}
          defaultValue=""
          {...fieldOf(form, 'reason')}
        />
        {isOther && (
          <TextAreaField
            // Its counter begins with what is there when it is made.
            key={String(isFilled)}
            label={t('feedback')}
            hint={t('feedbackHint', { days: retentionDays })}
            maxCharacters={MAX_FEEDBACK_LENGTH}
            defaultValue={form.getValues('feedback')}
            aria-required
            {...fieldOf(form, 'feedback', { shouldUnregister: true })}
          />
        )}
        <fieldset className="min-w-0 space-y-4" aria-describedby={keepHint}>
          <legend className="font-medium">{t('keep', { days: retentionDays })}</legend>
          <p id={keepHint} className="-mt-2.5 text-ink-muted text-sm leading-5">
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
      </div>
    </Disclosure>
  )
}
