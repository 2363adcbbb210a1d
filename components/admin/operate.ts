'use client'

import { createServiceClient } from '@/contract/client'
import type { Answer, Body, Place } from '@/contract/define'
import { ApiError, ERRORS } from '@/contract/errors'
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
    if (error instanceof ApiError && error.code === 'REAUTH_001') signInFor(name, params, body)
    throw error
  }
}

/** An operation, its parameters and its body. */
export type Act = [name: string, params: unknown, body?: unknown]

const UNDONE = 'act'

/** Comes back to this page, where the button of the act asks again. */
export function signInFor(...act: Act) {
  const { pathname } = window.location
  keepInTab(UNDONE, JSON.stringify({ pathname, act }))
  window.location.assign(`/sign-in?again=1&next=${encodeURIComponent(pathname)}`)
}

/** The act that led to a sign-in from this page and has not been done; forgotten where the operator goes on without that sign-in. */
export function takeUndone(isFresh: boolean): Act | null {
  const kept = JSON.parse(takeFromTab(UNDONE) ?? 'null') as { pathname: string; act: Act } | null
  return isFresh && kept?.pathname === window.location.pathname ? kept.act : null
}

/** Operators read the sentences of the API. Of the parts that it can miss, their calls need the database alone. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof ApiError)) return 'It did not work. Reload the page and try again.'
  const { details, message } = error
  return details === ERRORS.SERVER_002.details ? DATABASE_AWAY : details || message
}
const DATABASE_AWAY = 'The database does not answer, so nothing was done. Try again once it is back.'
