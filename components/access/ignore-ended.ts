import { ApiError } from '@/contract/errors'

/** Swallows the refusal of a session or token that has already ended elsewhere, because that is what was asked for. */
export function ignoreEnded(error: unknown) {
  if (!(error instanceof ApiError && error.code === 'REQUEST_005')) throw error
}
