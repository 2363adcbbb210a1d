'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { Button } from '../ui/button'
import { FieldError } from '../ui/field'

interface RetryButtonProps {
  withdrawalId: string
  /** The attempts so far. One more shows that the retry has run. */
  attempts: number
}

/** Makes the failed steps and deliveries due now, so that the next sweep tries them. */
export function RetryButton({ withdrawalId, attempts }: RetryButtonProps) {
  const router = useRouter()
  const retry = useMutation({
    mutationFn: async () => {
      await askToRetry(withdrawalId)
      return attempts
    },
    onSuccess: () => router.refresh(),
  })
  return (
    <div className="flex w-full flex-col gap-1.5 sm:w-auto sm:items-end">
      <Button variant="secondary" size="small" pending={retry.isPending} onClick={() => retry.mutate()}>
        <span>
          Retry<span className="sr-only"> {withdrawalId}</span>
        </span>
      </Button>
      <p className="text-ink-muted text-sm empty:sr-only" role="status">
        {retry.data === attempts && 'Will be tried within a minute.'}
      </p>
      <FieldError id={`${withdrawalId}-retry-error`}>{retry.error?.message}</FieldError>
    </div>
  )
}

async function askToRetry(withdrawalId: string) {
  const path = `/admin/withdrawals/${encodeURIComponent(withdrawalId)}/retry`
  const response = await fetch(path, { method: 'POST' }).catch(() => null)
  if (response?.status === 401) window.location.assign('/sign-in?ended=1&next=/admin')
  if (!response?.ok) throw new Error('It could not be asked for. Reload the page and try again.')
}
