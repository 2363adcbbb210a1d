'use client'

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../ui/button'
import { Dialog } from '../ui/dialog'
import { emailStatusKey, type Pending } from './email-status'
import { loadCalls } from './load-calls'

interface CancelChangeProps {
  userId: string
  pending: Pending
  onCancelled: () => void
  onError: (error: unknown) => Promise<void>
}

export function CancelChange({ userId, pending, onCancelled, onError }: CancelChangeProps) {
  const queryClient = useQueryClient()
  const [asking, setAsking] = useState(false)
  const cancel = useMutation({
    mutationFn: async () => (await loadCalls()).cancel(userId, pending.changeRequestId),
    onSuccess: async () => {
      setAsking(false)
      onCancelled()
      await queryClient.invalidateQueries({ queryKey: emailStatusKey(userId) })
    },
    onError: (error) => {
      setAsking(false)
      return onError(error)
    },
  })

  return (
    <>
      <Button variant="quiet-danger" size="small" className="w-full sm:-mr-3 sm:w-auto" onClick={() => setAsking(true)}>
        Cancel change
      </Button>
      <Dialog
        open={asking}
        onClose={() => setAsking(false)}
        title="Cancel this change?"
        description={
          <p>
            The code and the link sent to <span className="font-medium text-ink">{pending.newEmail}</span> stop working.
            Your current address stays as it is.
          </p>
        }
      >
        <Button variant="secondary" onClick={() => setAsking(false)}>
          Keep it
        </Button>
        <Button variant="danger" pending={cancel.isPending} onClick={() => cancel.mutate()}>
          Yes, cancel the change
        </Button>
      </Dialog>
    </>
  )
}
