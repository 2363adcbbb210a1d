import type { Answer } from '@/contract/define'
import type { changeEmail } from '@/contract/email'
import type { WaysToConfirm } from '../access/confirm-identity'
import { needsFreshSignIn } from '../api/error-texts'
import { useHost } from '../host/host'
import { useChangeEmail } from './email-calls'

export interface OwnAddress {
  userId: string
  email: string
  ways: WaysToConfirm
  onSent: (answer: Answer<typeof changeEmail>) => void
}

/** Sends a code to the address that the account has already. */
export function useVerifyOwn({ userId, email, ways, onSent }: OwnAddress, onError?: (error: unknown) => void) {
  const { refresh } = useHost()
  const send = useChangeEmail(userId, {
    onSuccess: onSent,
    onError: (error) => {
      onError?.(error)
      if (needsFreshSignIn(error)) refresh()
    },
  })
  const sendWith = (password?: string) =>
    send.mutate({
      new_email: email,
      ...(ways.hasPassword ? { current_password: password } : { reauthentication: 'fresh_sign_in' }),
    })
  return { send, sendWith }
}
