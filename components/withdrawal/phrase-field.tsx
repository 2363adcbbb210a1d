import type { UseFormReturn } from 'react-hook-form'
import { useTranslations } from 'use-intl/react'
import { CONFIRMATION } from '@/contract/errors'
import { useErrorTexts } from '../api/error-texts'
import { TextField } from '../ui/field'
import { isSamePhrase } from './same-phrase'
import type { WithdrawValues } from './withdraw-rules'

/** Asks for the phrase in the reader's language. The call sends the phrase of the API. */
export function PhraseField({ form }: { form: UseFormReturn<WithdrawValues> }) {
  const t = useTranslations('DeleteAccount')
  const { fieldOf } = useErrorTexts()
  const phrase = t('phrase')
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
