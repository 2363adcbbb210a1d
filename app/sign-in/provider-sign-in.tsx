'use client'

import { useMutation } from '@tanstack/react-query'
import { providerSignInUrl } from '@/components/auth-calls'
import { keepReturnPath } from '@/components/return-path'
import { Alert } from '@/components/ui/alert'
import { Button } from '@/components/ui/button'

export function ProviderSignIn({ next, provider }: { next: string; provider: string }) {
  const leave = useMutation({
    mutationFn: providerSignInUrl,
    onSuccess: (url) => {
      keepReturnPath(next + window.location.hash)
      window.location.assign(url)
    },
  })
  return (
    <div className="mt-6 space-y-4">
      {leave.isError && (
        <Alert tone="danger" role="alert" title={`We cannot reach ${provider} now. Try again in a moment.`} />
      )}
      <Button
        variant="secondary"
        className="w-full"
        pending={leave.isPending || leave.isSuccess}
        onClick={() => leave.mutate()}
      >
        Sign in with {provider}
      </Button>
    </div>
  )
}
