import type { FieldValues, Path, UseFormReturn } from 'react-hook-form'
import { ApiError, ERRORS, isErrorCode } from '@/contract/errors'
import { errorText } from './error-text'

/** Shows a refusal beside the field that the error table names and focuses that field; any other refusal belongs to the whole form. */
export function showError<Values extends FieldValues>(form: UseFormReturn<Values>, error: unknown) {
  const field = error instanceof ApiError && isErrorCode(error.code) ? ERRORS[error.code].field : undefined
  const message = errorText(error)
  if (!field || !(field in form.getValues())) return form.setError('root', { type: 'answer', message })
  form.setError(field as Path<Values>, { type: 'answer', message })
  form.setFocus(field as Path<Values>, { shouldSelect: true })
}

/** Whether the person has to show once more that it is them, since the page was made. */
export const isTooOld = (error: unknown) => error instanceof ApiError && error.code === 'REAUTH_001'
