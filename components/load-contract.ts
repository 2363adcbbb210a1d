'use client'

import type { FieldValues, Resolver } from 'react-hook-form'
import { noAnswer } from '@/contract/errors'

type Loaded = typeof import('./contract')

/** zod, the contract and its client. A page loads them with its first call or when a form gets the focus, so that a first visit is light. */
export const loadContract = (): Promise<Loaded> =>
  import('./contract').catch(() => {
    throw noAnswer()
  })

export const preloadContract = () => void loadContract().catch(() => {})

/** Calls an operation as the person signed in here: `call('changeEmail', { userId }, body)`. */
export const call: Loaded['call'] = async (name, params, body) => (await loadContract()).call(name, params, body)

/** A form's rules. If they cannot be loaded, every value passes, and the call that follows reports the fault. */
export const rulesOf =
  <Values extends FieldValues>(pick: (contract: Loaded) => Resolver<Values>): Resolver<Values> =>
  async (values, context, options) => {
    const contract = await loadContract().catch(() => null)
    return contract ? pick(contract)(values, context, options) : { values, errors: {} }
  }
