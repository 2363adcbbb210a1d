import { useEffect } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import { CONFIRMATION } from '@/contract/errors'
import { useErrorTexts } from '../api/error-texts'
import { TextField } from '../ui/field'
import { isSamePhrase } from './same-phrase'
import type { WithdrawValues } from './withdraw-rules'

interface PhraseFieldProps {
  form: UseFormReturn<WithdrawValues>
  /** What was typed before a new sign-in is in the fields again. */
  isFilled?: boolean
}

/** Asks for the phrase in the reader's language. The call sends the phrase of the API. */
export function PhraseField({ form, isFilled = false }: PhraseFieldProps) {
  const t = useTranslations('DeleteAccount')
  const { fieldOf } = useErrorTexts()
  const phrase = t('phrase')
  useEffect(() => {
    // The kept value is that of the call.
    if (isFilled && form.getValues('confirmation') === CONFIRMATION)
      form.setValue('confirmation', phrase as typeof CONFIRMATION)
  }, [isFilled, form, phrase])
  return (
    <TextField
      label={t('phraseLabel', { phrase })}
      autoComplete="off"
      autoCapitalize="none"
      autoCorrect="off"
      spellCheck={false}
      {...fieldOf(form, 'confirmation', {
        setValueAs: (typed: string) => (isSamePhrase(typed, phrase) ? CONFIRMATION : typed),
      })}
    />
  )
}
