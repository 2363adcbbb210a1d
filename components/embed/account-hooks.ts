'use client'

import { useQuery } from '@tanstack/react-query'
import { useErrorTexts } from '../api/error-texts'
import * as email from '../email/email-calls'
import { useReadStatus } from '../email/email-status'
import { useHost } from '../host/host'
import { useIsBeginningDeletion } from '../withdrawal/use-begin-deletion'
import { useWithdrawAccount } from '../withdrawal/use-withdraw-account'
import { useWithdrawalStatus } from '../withdrawal/withdrawal-status'
import { useAccount } from './account-provider'
import type { CancelledChange, OwnAccount, StartedDeletion } from './types'

export function useOwnAccount(): OwnAccount {
  const { userId, call } = useAccount()
  return { userId, call }
}

/** What people read of an error, in the language of the texts. */
export const useErrorText = () => useErrorTexts().errorText

/** Whether the account can be read: no deletion has begun here, and none may have. */
function useIsReadable() {
  const isBeginning = useIsBeginningDeletion()
  return useAccount().started === null && !isBeginning
}

export function useEmailStatus() {
  const { read, ...query } = useReadStatus(useAccount().userId)
  return useQuery({ ...query, queryFn: read, enabled: useIsReadable() })
}

export const useChangeEmail = () => email.useChangeEmail(useAccount().userId)
export const useVerifyEmail = () => email.useVerifyEmail(useAccount().userId)
export const useResendVerification = () => email.useResendVerification(useAccount().userId)

export function useCancelEmailChange() {
  const { userId } = useAccount()
  const { call } = useHost()
  return email.useEmailCall(userId, ({ change_request_id: changeRequestId }: CancelledChange) =>
    call('cancelEmailChange', { userId, changeRequestId }),
  )
}

export function useDeletionPreview() {
  const { userId } = useAccount()
  const { call } = useHost()
  return useQuery({
    queryKey: ['deletion-preview', userId],
    queryFn: () => call('previewWithdrawal', { userId, ask: 'true' }),
    enabled: useIsReadable(),
  })
}

export const useDeleteAccount = () => useWithdrawAccount(useAccount().userId)

export const useDeletionProgress = ({ withdrawalId, statusToken: token }: StartedDeletion) =>
  useWithdrawalStatus({ userId: useAccount().userId, withdrawalId, token })
