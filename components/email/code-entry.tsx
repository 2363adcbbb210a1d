'use client'

import { useTranslations } from 'use-intl/react'
import { useErrorTexts } from '../api/error-texts'
import { Button } from '../ui/button'
import { CodeField } from './code-field'
import type { CodeForm } from './use-code-form'

/** From this number on the page shows the attempts left, because only mistakes lead to it. */
const FEW_ATTEMPTS = 2

interface CodeEntryProps {
  code: CodeForm
  /** The id of the text that says where the code went. */
  describedBy?: string
}

/** The field of the code, with what is wrong with it, and its button. */
export function CodeEntry({ code: { form, left, submit, isPending }, describedBy }: CodeEntryProps) {
  const t = useTranslations('EmailSettings')
  const { fieldText } = useErrorTexts()
  const { verification_code: error } = form.formState.errors
  const isWrong = error?.type === 'wrong'
  return (
    <CodeField
      label={t('codeLabel')}
      describedBy={describedBy}
      hint={!isWrong && left <= FEW_ATTEMPTS && t('attemptsLeft', { count: left })}
      error={isWrong ? t('wrongCode', { left }) : fieldText(error)}
      onComplete={() => void submit()}
      action={
        <Button type="submit" isPending={isPending} className="h-13! w-full px-6! sm:w-auto">
          {t('verify')}
        </Button>
      }
      {...form.register('verification_code', { onChange: () => form.clearErrors() })}
    />
  )
}
