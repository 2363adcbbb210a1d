'use client'

import { ConfirmedButton } from '../confirmed-button'
import { call } from '../load-contract'
import type { Pending } from './email-status'

interface CancelChangeProps {
  userId: string
  pending: Pending
  onCancelled: () => unknown
  onRefused: (error: unknown) => unknown
}

export function CancelChange({ userId, pending, onCancelled, onRefused }: CancelChangeProps) {
  return (
    <ConfirmedButton
      label="Cancel change"
      variant="quiet-danger"
      className="w-full sm:-mr-3 sm:w-auto"
      question="Cancel this change?"
      consequence={
        <p>
          The code and the link sent to <span className="font-medium text-ink">{pending.newEmail}</span> stop working.
          Your current address stays as it is.
        </p>
      }
      keep="Keep it"
      confirm="Yes, cancel the change"
      act={() => call('cancelEmailChange', { userId, changeRequestId: pending.changeRequestId })}
      onDone={onCancelled}
      onRefused={onRefused}
    />
  )
}
