import type { ComponentProps } from 'react'
import { Alert } from './alert'

export interface Refusal {
  /** `back`: in place of the refusal stands the good news that the service is back. */
  type?: unknown
  message?: string
}

interface ErrorAlertProps extends Pick<ComponentProps<typeof Alert>, 'ref' | 'className'> {
  error: Refusal | null | undefined
}

/** A refusal that belongs to no field. Screen readers announce it when it appears. */
export const ErrorAlert = ({ error, ...rest }: ErrorAlertProps) =>
  error?.message && (
    <Alert tone={error.type === 'back' ? 'success' : 'danger'} role="alert" title={error.message} {...rest} />
  )
