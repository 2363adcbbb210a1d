import { useQueryClient } from '@tanstack/react-query'
import type { Body } from '@/contract/define'
import type { withdrawAccount } from '@/contract/withdrawal'
import { useHost } from '../host/host'
import { useBeginDeletion } from './use-begin-deletion'

/** Begins the deletion, and then shows its progress. */
export function useWithdrawAccount(userId: string, { onError }: { onError?: (error: Error) => void } = {}) {
  const { call, showProgress } = useHost()
  const queryClient = useQueryClient()
  return useBeginDeletion({
    reach: () => call('previewWithdrawal', { userId }),
    send: (body: Body<typeof withdrawAccount>, options) => call('withdrawAccount', { userId }, body, options),
    onSuccess: async (answer) => {
      await showProgress(answer)
      // Only now, because what still stands on the page would be read again without an account.
      queryClient.clear()
    },
    onError,
  })
}
