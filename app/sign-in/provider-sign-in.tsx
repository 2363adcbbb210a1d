'use client'

import { useMutation } from '@tanstack/react-query'
import { useTranslations } from 'use-intl/react'
import { useErrorTexts } from '@/components/api/error-texts'
import { rule } from '@/components/forms/form-rule'
import { providerSignInUrl } from '@/components/session/auth-calls'
import { keepReturnPath } from '@/components/session/return-path'
import { Alert } from '@/components/ui/alert'
import { Button } from '@/components/ui/button'
import { ApiError } from '@/contract/errors'

interface ProviderSignInProps {
  next: string
  provider: string
  /** Whether the provider is the only way to sign in. */
  isOnlyWay: boolean
  /** Further parameters of the request to the provider. */
  asks: Record<string, string>
}

export function ProviderSignIn({ next, provider, isOnlyWay, asks }: ProviderSignInProps) {
  const t = useTranslations('SignIn')
  const { errorText } = useErrorTexts()
  const leave = useMutation({
    mutationFn: () => providerSignInUrl(asks),
    onSuccess: (url) => {
      keepReturnPath(next + window.location.hash)
      window.location.assign(url)
    },
  })
  return (
    <div className="mt-6 space-y-4">
      {leave.isError && (
        <Alert
          tone="danger"
          role="alert"
          title={needsCookies(leave.error) ? errorText(leave.error) : t('providerUnreachable', { provider })}
        />
      )}
      <Button
        variant={isOnlyWay ? 'primary' : 'secondary'}
        className="w-full"
        isPending={leave.isPending || leave.isSuccess}
        onClick={() => leave.mutate()}
      >
        {t('providerButton', { provider })}
      </Button>
    </div>
  )
}

const needsCookies = (error: Error) => error instanceof ApiError && error.details === rule('cookies')
