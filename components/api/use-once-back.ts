import { useEffect } from 'react'
import { onceBack } from '../ui/service-away'
import { isAway } from './error-texts'

/** Calls `then` once the service is back, where the error says that it was away. */
export function useOnceBack(error: unknown, then: () => unknown) {
  useEffect(() => {
    if (isAway(error)) return onceBack(then)
  }, [error, then])
}
