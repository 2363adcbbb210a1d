import type { ComponentProps } from 'react'
import { useTranslations } from 'use-intl/react'
import { Alert } from './alert'

interface ErrorAlertProps extends Pick<ComponentProps<typeof Alert>, 'ref' | 'className'> {
  children: string | undefined
}

/** A refusal that belongs to no field. Screen readers announce it when it appears. */
export function ErrorAlert({ children, ...rest }: ErrorAlertProps) {
  const t = useTranslations('Errors')
  // In the place of the refusal stands the good news that the service is back.
  const tone = children === t('back') ? 'success' : 'danger'
  return children && <Alert tone={tone} role="alert" title={children} {...rest} />
}
