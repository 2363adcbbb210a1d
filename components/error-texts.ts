import type { FieldValues, Path, UseFormReturn } from 'react-hook-form'
import { useLocale, useTranslations } from 'use-intl/react'
import {
  ApiError,
  ERRORS,
  type ErrorCode,
  isErrorCode,
  NO_CONNECTION,
  parseIssueMessage,
  UNREADABLE,
} from '@/contract/errors'
import { inWords } from './ui/duration'

/** Rules without a code of their own, by the sentence of the contract, of a limit or of a form. */
const RULES = {
  [NO_CONNECTION]: 'noConnection',
  [UNREADABLE]: 'unreadable',
  'Enter the email address of your account.': 'accountEmail',
  'Enter your new email address.': 'newEmail',
  'The two are not the same. Type the new password once more.': 'repeated',
  'This account has asked for too many changes in a short time. Nothing was changed.': 'changeLimit',
  'This is already your address.': 'ownAddress',
  'This is your current password. Choose another one.': 'currentAsNew',
  'email must be one plain address, such as ada@example.com.': 'email',
  'current_password must not be empty.': 'currentPassword',
  'Enter your current password.': 'currentPassword',
  'feedback is required when reason is other.': 'feedback',
  'Say in a few words what the token is for.': 'tokenName',
  'Choose at least one.': 'tokenScopes',
  'The two passwords are not the same. Type them again.': 'repeatedPassword',
  'Tick the box to show that you mean it.': 'sure',
} as const

const isRule = (details: string): details is keyof typeof RULES => Object.hasOwn(RULES, details)

/** `new_email must …` → `New email must …` */
const speakable = (text: string) =>
  text.replace(/^[a-z]+(?:_[a-z]+)*(?= must| has| is| contains)/, (name) => {
    const words = name.replaceAll('_', ' ')
    return words.charAt(0).toUpperCase() + words.slice(1)
  })

interface FieldError {
  type?: unknown
  message?: string
}

/** What people read where something was refused. The error table advises programmers; the catalogue advises people. */
export function useErrorTexts() {
  const t = useTranslations('Errors')
  const language = useLocale()

  function sentence(code: ErrorCode, details: string): string {
    if (isRule(details)) return t(`rules.${RULES[details]}`)
    // The exact sentence of a rule is English, and helps those who read English more than that of its code.
    const isExact = details !== ERRORS[code].details
    return (isExact && language === 'en') || !t.has(`codes.${code}` as never)
      ? speakable(details)
      : t(`codes.${code}` as never)
  }

  /** What was wrong, what to do, and how long to wait where there is a wait. */
  function errorText(error: unknown): string {
    if (!(error instanceof ApiError)) return t('page')
    const { code, details, retryAfterSeconds } = error
    const text = isErrorCode(code) ? sentence(code, details) : details
    return retryAfterSeconds ? t('withWait', { text, time: inWords(retryAfterSeconds, language) }) : text
  }

  /** A form's message is either a rule of the contract (`CODE` or `CODE: sentence`) or the text of a refusal. */
  function fieldText(error: FieldError | undefined): string | undefined {
    if (!error?.message || error.type === 'answer') return error?.message
    const { code, details } = parseIssueMessage(error.message)
    return sentence(code, details)
  }

  /** Shows a refusal beside the field that the error table names and focuses that field; any other refusal belongs to the whole form. */
  function showError<Values extends FieldValues>(form: UseFormReturn<Values>, error: unknown) {
    const field = error instanceof ApiError && isErrorCode(error.code) ? ERRORS[error.code].field : undefined
    const message = errorText(error)
    if (!field || !(field in form.getValues())) return form.setError('root', { type: 'answer', message })
    form.setError(field as Path<Values>, { type: 'answer', message })
    form.setFocus(field as Path<Values>, { shouldSelect: true })
  }

  return { errorText, fieldText, showError }
}

/** Whether the person has to show once more that it is them, since the page was made. */
export const isTooOld = (error: unknown) => error instanceof ApiError && error.code === 'REAUTH_001'
