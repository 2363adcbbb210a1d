import { type FieldValues, get, type Path, type RegisterOptions, type UseFormReturn } from 'react-hook-form'
import { useLocale, useTranslations } from 'use-intl/react'
import {
  ApiError,
  DELETION_STARTED,
  ERRORS,
  isErrorCode,
  parseIssueMessage,
  RULES,
  UNREADABLE,
} from '@/contract/errors'
import { formatDuration } from '../ui/duration'
import type { Refusal } from '../ui/error-alert'
import { onceBack } from '../ui/service-away'

type Rule = keyof typeof RULES
const RULE_OF = new Map<string, Rule>(Object.entries(RULES).map(([name, sentence]) => [sentence, name as Rule]))

/** The texts that people read for a refusal. The error table advises programmers, the catalogue advises people. */
export function useErrorTexts() {
  const t = useTranslations('Errors')
  const language = useLocale()

  /** Never shows a sentence of the API, because these are English and for programmers. */
  function sentence(code: string, details: string): string {
    const rule = `rules.${(RULE_OF.get(details) ?? details) as Rule}` as const
    if (t.has(rule)) return t(rule)
    // Pages do not meet every code, and a newer server may have others.
    const key = `codes.${code}` as 'codes.SERVER_001'
    return t(t.has(key) ? key : 'rules.unreadable')
  }

  /** Says what was wrong, what to do, and how long to wait if there is a wait. */
  function errorText(error: unknown): string {
    if (!(error instanceof ApiError)) return t('page')
    const { code, details, retryAfterSeconds } = error
    const text = sentence(code, details)
    // An outage asks programs to wait for seconds; its own text says “in a moment”.
    return retryAfterSeconds && code !== 'SERVER_002'
      ? t('withWait', { text, time: formatDuration(retryAfterSeconds, language) })
      : text
  }

  /** A form's message is either a rule of the contract (`CODE` or `CODE: sentence`) or the text of a refusal. */
  function fieldText(error: Refusal | undefined): string | undefined {
    if (!error?.message || error.type === 'answer') return error?.message
    const { code, details } = parseIssueMessage(error.message)
    return sentence(code, details)
  }

  /** The props of a field: its registration, and the error of its value. */
  function fieldOf<Values extends FieldValues, Name extends Path<Values>>(
    form: UseFormReturn<Values>,
    name: Name,
    options?: RegisterOptions<Values, Name>,
  ) {
    return { error: fieldText(get(form.formState.errors, name)), ...form.register(name, options) }
  }

  /** Shows a refusal beside the field that the error table names and focuses that field; any other refusal belongs to the whole form. */
  function showError<Values extends FieldValues>(form: UseFormReturn<Values>, error: unknown) {
    const row = error instanceof ApiError && isErrorCode(error.code) && ERRORS[error.code]
    const field = row && 'field' in row && row.field
    const message = errorText(error)
    if (!field || !(field in form.getValues())) {
      return isAway(error) ? showUntilBack(form, message) : form.setError('root', { type: 'answer', message })
    }
    form.setError(field as Path<Values>, { type: 'answer', message })
    form.setFocus(field as Path<Values>, { shouldSelect: true })
  }

  /** Shows the refusal of a form until the service, which was away, is back, and then that it is. */
  function showUntilBack<Values extends FieldValues>(form: UseFormReturn<Values>, message: string) {
    form.setError('root', { type: 'answer', message })
    onceBack(() => {
      if (form.formState.errors.root?.message === message) form.setError('root', { type: 'back', message: t('back') })
    })
  }

  return { errorText, fieldText, fieldOf, showError, showUntilBack }
}

/** Whether the call was refused because the sign-in is no longer fresh. */
export const needsFreshSignIn = (error: unknown) => error instanceof ApiError && error.code === 'REAUTH_001'

/** Whether the service gave no answer, or one that says that its data is away. */
export const isAway = (error: unknown): error is ApiError => error instanceof ApiError && error.code === 'SERVER_002'

/** Whether the call may have had its effect: there was no answer, or that of a gateway, or one that tells to repeat the call. */
export const isUnanswered = (error: unknown) =>
  // A session that has ended gives no answer either, and leads to the sign-in.
  isAway(error) &&
  (error.status === 0 || (error.status >= 500 && error.details === UNREADABLE) || error.details === DELETION_STARTED)

/** Whether nothing answered at all; an answer that nobody could read, or a lost session, has another text. */
export const isUnreached = (error: unknown) => error instanceof ApiError && error.details === RULES.noConnection
