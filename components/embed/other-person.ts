import { ANOTHER_USER, ApiError } from '@/contract/errors'

/** Whether the page and its token name two people. */
export const isOtherPerson = (error: unknown) => error instanceof ApiError && error.details === ANOTHER_USER
