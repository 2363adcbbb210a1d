import { useIsMutating, useMutation } from '@tanstack/react-query'
import { useRef } from 'react'
import type { CallOptions } from '@/contract/client'
import { ApiError } from '@/contract/errors'
import { isUnanswered } from '../api/error-texts'

const mutationKey = ['begin-deletion']
const REPEAT_MS = 3_000

interface BeginDeletion<Given, Begun> {
  send: (given: Given, options: CallOptions) => Promise<Begun>
  onSuccess: (begun: Begun) => unknown
  onError?: ((error: Error) => void) | undefined
}

/**
 * Begins a deletion. A call whose answer was lost may have begun it, and only the same call with the same key gets that answer, because the
 * deletion has ended the token: so the call is repeated until there is an answer.
 */
export function useBeginDeletion<Given, Begun>({ send, onSuccess, onError }: BeginDeletion<Given, Begun>) {
  const press = useRef({ idempotencyKey: '', isOnline: true })
  const mutation = useMutation({
    mutationKey,
    mutationFn: (given: Given) => send(given, { idempotencyKey: press.current.idempotencyKey }),
    onMutate: () => {
      press.current = { idempotencyKey: newKey(), isOnline: navigator.onLine }
    },
    // What a browser without a network could not send must not have its effect later.
    retry: (_times, error) => press.current.isOnline && (isUnanswered(error) || isUnderWay(error)),
    retryDelay: REPEAT_MS,
    onSuccess,
    onError,
  })
  /** The first call got no answer, and the deletion may have begun. */
  const isUnsure = mutation.isPending && mutation.failureCount > 0
  return { ...mutation, isUnsure }
}

/** Whether this page waits for the answer. The deletion ends the session, so that every other call would lead to the sign-in. */
export const useIsBeginningDeletion = () => useIsMutating({ mutationKey }) > 0

/** Not randomUUID(), which pages without TLS lack. */
const newKey = () => crypto.getRandomValues(new Uint32Array(4)).join('-')

/** The call before this one has not finished. */
const isUnderWay = (error: unknown) => error instanceof ApiError && error.code === 'REQUEST_007'
