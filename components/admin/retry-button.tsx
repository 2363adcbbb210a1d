'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { Button } from '../ui/button'
import { FieldError } from '../ui/field'
import { sentenceOf } from './operate'

interface RetryProps {
  act: () => Promise<unknown>
  /** What is tried again, as screen readers say it. */
  of: string
  /** The attempts so far. Another number shows that the retry has run. */
  attempts: number
  lastError: string | null
  /** There is something to retry. */
  isOpen?: boolean
  /** What is said once nothing is left to retry. */
  done?: string
  onRetried?: (() => void) | undefined
}

/** Makes what has failed due now, so that the next sweep tries it, and tells what came of it once the page knows. */
export function Retry({ act, of, attempts, lastError, isOpen = true, done = 'it is done', onRetried }: RetryProps) {
  const router = useRouter()
  const retry = useMutation({
    mutationFn: async () => {
      await act()
      return attempts
    },
    onSuccess: () => {
      onRetried?.()
      router.refresh()
    },
  })
  const outcome = () => {
    if (retry.data === undefined) return null
    if (!isOpen) return `Tried again: ${done}.`
    if (retry.data === attempts) return 'Will be tried within a minute.'
    return lastError ? `Tried again: it failed, ${lastError}.` : 'Tried again: nothing fails any more.'
  }
  return (
    <>
      {isOpen && (
        <Button variant="secondary" size="small" isPending={retry.isPending} onClick={() => retry.mutate()}>
          <span>
            Retry<span className="sr-only"> {of}</span>
          </span>
        </Button>
      )}
      <p className="order-last w-full text-ink-muted text-sm empty:sr-only sm:text-end" role="status">
        {outcome()}
      </p>
      <div className="order-last has-[>:empty]:sr-only">
        <FieldError>{retry.error ? sentenceOf(retry.error) : undefined}</FieldError>
      </div>
    </>
  )
}
