import { type UseMutationOptions, useIsMutating, useMutation } from '@tanstack/react-query'
import type { CallOptions } from '@/contract/client'
import { untilAnswered, useIsRepeating } from '../api/until-answered'

const mutationKey = ['begin-deletion']

interface BeginDeletion<Given, Begun> extends Pick<UseMutationOptions<Begun, Error, Given>, 'onSuccess' | 'onError'> {
  send: (given: Given, options: CallOptions) => Promise<Begun>
}

/** Begins a deletion, which ends the token of the call: nothing but the call itself can tell whether it has begun. */
export function useBeginDeletion<Given, Begun>({ send, ...callbacks }: BeginDeletion<Given, Begun>) {
  const mutation = useMutation<Begun, Error, Given>({
    mutationKey,
    mutationFn: (given) => untilAnswered((options) => send(given, options)),
    ...callbacks,
  })
  const isRepeating = useIsRepeating()
  /** An answer was lost, and the deletion may have begun. */
  const isUnsure = mutation.isPending && isRepeating
  return { ...mutation, isUnsure }
}

/** Whether this page waits for the answer. The deletion ends the session, so that every other call would lead to the sign-in. */
export const useIsBeginningDeletion = () => useIsMutating({ mutationKey }) > 0
