import type { ComponentProps } from 'react'
import { Alert } from './alert'

interface ErrorAlertProps extends Pick<ComponentProps<typeof Alert>, 'ref' | 'className'> {
  children: string | undefined
}

/** A refusal that belongs to no field. Screen readers announce it when it appears. */
export const ErrorAlert = ({ children, ...rest }: ErrorAlertProps) =>
  children && <Alert tone="danger" role="alert" title={children} {...rest} />
