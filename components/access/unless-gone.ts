import { ApiError } from '@/contract/errors'

/** What ended meanwhile, in another place or by itself, is as it was asked to be. */
export function unlessGone(error: unknown) {
  if (!(error instanceof ApiError && error.code === 'REQUEST_005')) throw error
}
