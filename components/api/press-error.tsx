'use client'

import { useEffect, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { ErrorAlert } from '../ui/error-alert'
import { onceBack } from '../ui/service-away'
import { isAway, useErrorTexts } from './error-texts'

/** The refusal of a call; one that says that the service is away ends once it is back. */
export function useUntilBack(error: Error | null): Error | null {
  const [ended, setEnded] = useState<Error>()
  useEffect(() => {
    if (isAway(error)) return onceBack(() => setEnded(error as Error))
  }, [error])
  return error === ended ? null : error
}

interface PressErrorProps {
  error: Error | null
  /** By default the text comes from the catalogue. */
  text?: ((error: Error) => string) | undefined
  className?: string
}

/** The refusal of a press that sends no form, until the service, which was away, is back, and then that it is. */
export function PressError({ error, text, className }: PressErrorProps) {
  const t = useTranslations('Errors')
  const { errorText } = useErrorTexts()
  const isBack = useUntilBack(error) !== error
  const refusal = isBack ? { type: 'back', message: t('back') } : error && { message: (text ?? errorText)(error) }
  return <ErrorAlert className={className} error={refusal} />
}
