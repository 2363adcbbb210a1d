'use client'

import type { FieldValues, Resolver } from 'react-hook-form'
import { noAnswer } from '@/contract/errors'

type Calls = typeof import('./calls')

/** The contract, its parser and the client: nothing of them is needed before something is typed or asked. */
export const loadCalls = (): Promise<Calls> =>
  import('./calls').catch(() => {
    throw noAnswer()
  })

/** Where the rules cannot be loaded every value passes, and the call that follows says what is wrong. */
export const rulesOf =
  <Values extends FieldValues>(pick: (calls: Calls) => Resolver<Values>): Resolver<Values> =>
  async (values, context, options) => {
    const calls = await loadCalls().catch(() => null)
    return calls ? pick(calls)(values, context, options) : { values, errors: {} }
  }
