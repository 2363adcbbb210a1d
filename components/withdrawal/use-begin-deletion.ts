import { type UseMutationOptions, useIsMutating, useMutation } from '@tanstack/react-query'
import type { CallOptions } from '@/contract/client'
import { untilAnswered, useIsRepeating } from '../api/until-answered'

const mutationKey = ['begin-deletion']

interface BeginDeletion<Given, Started>
  extends Pick<UseMutationOptions<Started, Error, Given>, 'onSuccess' | 'onError'> {
  /** Reads something with the same token. */
  reach: () => Promise<unknown>
  send: (given: Given, options: CallOptions) => Promise<Started>
}

/** Begins a deletion, which ends the token of the call: nothing but the call itself can tell whether it has begun. */
export function useBeginDeletion<Given, Started>({ reach, send, ...callbacks }: BeginDeletion<Given, Started>) {
  const mutation = useMutation<Started, Error, Given>({
    mutationKey,
    // Pressed while the service is away, no deletion begins by itself once it is back.
    mutationFn: (given) => reach().then(() => untilAnswered((options) => send(given, options))),
    ...callbacks,
  })
  const isRepeating = useIsRepeating()
  /** An answer was lost, and the deletion may have begun. */
  const isUnsure = mutation.isPending && isRepeating
  return { ...mutation, isUnsure }
}

/** Whether this page waits for the answer. The deletion ends the session, so that every other call would lead to the sign-in. */
export const useIsBeginningDeletion = () => useIsMutating({ mutationKey }) > 0
