'use client'

import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { Button } from '../ui/button'
import { FieldError } from '../ui/field'
import { operate, sentenceOf } from './operate'
import { useNoteOutcome } from './outcomes'

interface RetryProps {
  /** The deletion task or the withdrawal. */
  id: string
  kind: 'task' | 'withdrawal'
  /** What is tried again, as screen readers say it. */
  of: string
  /** The attempts so far. Another number shows that the retry has run. */
  attempts: number
  lastError: string | null
  /** There is something to retry. */
  isOpen?: boolean
}

/** Makes what has failed due now, so that the next sweep tries it, and tells what came of it once the page knows. */
export function Retry({ id, kind, of, attempts, lastError, isOpen = true }: RetryProps) {
  const router = useRouter()
  const noteOutcome = useNoteOutcome()
  const retry = useMutation({
    mutationFn: async () => {
      await (kind === 'task' ? operate('retryTask', { taskId: id }) : operate('retryWithdrawal', { withdrawalId: id }))
      return attempts
    },
    onSuccess: () => {
      noteOutcome(id, `Tried again: ${of} does not fail any more.`)
      router.refresh()
    },
  })
  const outcome = () => {
    if (retry.data === undefined) return null
    if (isOpen && retry.data === attempts) return 'Will be tried within a minute.'
    return isOpen && lastError ? `Tried again: it failed, ${lastError}.` : 'Tried again: nothing fails any more.'
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
      <p className="order-last w-full text-ink-muted text-sm empty:sr-only md:text-end" role="status">
        {outcome()}
      </p>
      <div className="order-last has-[>:empty]:sr-only">
        <FieldError>{retry.error ? sentenceOf(retry.error) : undefined}</FieldError>
      </div>
    </>
  )
}
