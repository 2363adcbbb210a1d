'use client'

import type { FieldValues, Resolver } from 'react-hook-form'
import { noAnswer } from '@/contract/errors'
import { lookUntilBack } from '../ui/service-away'

// zod, the contract and its client come in chunks of their own: with the first call, or when a form gets the focus. A first visit is
// lighter without them.
/** A part that does not arrive is told like a call that is not answered. */
export const orNoAnswer = <Module>(loading: Promise<Module>): Promise<Module> =>
  loading.catch(() => {
    lookUntilBack(window.location.href)
    throw noAnswer()
  })

export const loadCalls = () => orNoAnswer(import('./api-client'))
const loadRules = () => import('../forms/form-rules')

export const preloadContract = () => void Promise.all([import('./api-client'), loadRules()]).catch(() => {})

export type Calls = typeof import('./api-client')
type Rules = typeof import('../forms/form-rules')

/** Calls an operation as the person signed in here: `call('changeEmail', { userId }, body)`. */
export const call: Calls['call'] = async (...args) => (await loadCalls()).call(...args)

/** The same with another token, such as that of a mailed link, or with none. */
export const callWith: Calls['callWith'] = async (...args) => (await loadCalls()).callWith(...args)

/** A form's rules. If they cannot be loaded, every value passes, and the call that follows reports the fault. */
export const rulesOf =
  <Values extends FieldValues>(pick: (rules: Rules) => Resolver<Values>): Resolver<Values> =>
  async (values, context, options) => {
    const rules = await loadRules().catch(() => null)
    return rules ? pick(rules)(values, context, options) : { values, errors: {} }
  }
