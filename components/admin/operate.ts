'use client'

import { createServiceClient } from '@/contract/client'
import type { Answer, Body, Place } from '@/contract/define'
import { ApiError } from '@/contract/errors'
import { OPERATOR_OPERATIONS } from '@/contract/operator-operations'
import { withSession } from '../api/api-client'
import { keepInTab, takeFromTab } from '../session/tab-storage'
import { fetchOnServerClock } from '../ui/server-clock'

type Operations = typeof OPERATOR_OPERATIONS

/** Calls an operation as the operator signed in here. An act needs a fresh sign-in, and the page leads to it. */
export async function operate<Name extends keyof Operations>(
  name: Name,
  params: Place<Operations[Name]>,
  body?: Body<Operations[Name]>,
): Promise<Answer<Operations[Name]>> {
  try {
    return await withSession((serviceToken) =>
      createServiceClient({ serviceToken, fetch: fetchOnServerClock })(OPERATOR_OPERATIONS[name], params, body),
    )
  } catch (error) {
    if (error instanceof ApiError && error.code === 'REAUTH_001') {
      keepInTab(UNDONE, 'yes')
      signInAgain()
    }
    throw error
  }
}

/** Comes back to this page. */
export const signInAgain = () =>
  window.location.assign(`/sign-in?again=1&next=${encodeURIComponent(window.location.pathname)}`)

const UNDONE = 'undone-act'

/** Whether an act led to a sign-in from here and has not been done. */
export const takeUndone = (): boolean => takeFromTab(UNDONE) !== null

/** Operators read the sentences of the API. */
export const sentenceOf = (error: unknown): string =>
  error instanceof ApiError ? error.details || error.message : 'It did not work. Reload the page and try again.'
