import { type UseMutationOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type { CallOptions } from '@/contract/client'
import type { Answer, Body } from '@/contract/define'
import type { changeEmail, resendVerification, verifyEmail } from '@/contract/email'
import { untilAnswered } from '../api/until-answered'
import { useHost } from '../host/host'
import { type EmailStatus, emailStatusKey, statusAfterChange } from './email-status'

type Callbacks<Data, Values> = Pick<UseMutationOptions<Data, Error, Values>, 'onMutate' | 'onSuccess' | 'onError'>

/** A call about the address. After its success the status is what `statusAfter` says, until it is read again. */
export function useEmailCall<Data, Values>(
  userId: string,
  ask: (values: Values, options: CallOptions) => Promise<Data>,
  { onSuccess, ...others }: Callbacks<Data, Values> = {},
  statusAfter: (answer: Data) => Partial<EmailStatus> = () => ({}),
) {
  const queryClient = useQueryClient()
  const queryKey = emailStatusKey(userId)
  return useMutation<Data, Error, Values>({
    mutationFn: (values) => untilAnswered((options) => ask(values, options)),
    onSuccess: async (answer, ...args) => {
      await onSuccess?.(answer, ...args)
      queryClient.setQueryData<EmailStatus>(queryKey, (status) => status && { ...status, ...statusAfter(answer) })
      await queryClient.invalidateQueries({ queryKey })
    },
    ...others,
  })
}

export function useChangeEmail(
  userId: string,
  callbacks?: Callbacks<Answer<typeof changeEmail>, Body<typeof changeEmail>>,
) {
  const { call } = useHost()
  return useEmailCall(
    userId,
    (body, options) => call('changeEmail', { userId }, body, options),
    callbacks,
    statusAfterChange,
  )
}

export function useVerifyEmail(
  userId: string,
  callbacks?: Callbacks<Answer<typeof verifyEmail>, Body<typeof verifyEmail>>,
) {
  const { call } = useHost()
  return useEmailCall(
    userId,
    (body, options) => call('verifyEmail', { userId }, body, options),
    callbacks,
    (answer) => ({
      current_email: answer.new_email,
      email_verified: true,
      verified_at: answer.changed_at,
      email_undeliverable: false,
    }),
  )
}

export function useResendVerification(
  userId: string,
  callbacks?: Callbacks<Answer<typeof resendVerification>, Body<typeof resendVerification>>,
) {
  const { call } = useHost()
  return useEmailCall(userId, (body, options) => call('resendVerification', { userId }, body, options), callbacks)
}
