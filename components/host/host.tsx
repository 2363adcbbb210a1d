'use client'

import { createContext, useContext } from 'react'
import type { Purpose } from '@/contract/access'
import type { Answer } from '@/contract/define'
import type { withdrawAccount } from '@/contract/withdrawal'
import type { Calls } from '../api/load-contract'

/** What the settings need of the page in which they stand: a page of this service, or one of the adopter. */
export interface Host {
  /** Calls an operation as the person. */
  call: Calls['call']
  /** Calls an operation with another token than the person's. */
  callWith: Calls['callWith']
  /** Has the page show anew what it read before. */
  refresh(): void
  /** Has the person show once more that they are there; until then nothing more happens on the page. */
  reauthenticate(userId: string, purpose: Purpose, leave: Leave): Promise<void>
  /** Checks the password, so that the next calls count as a fresh sign-in. */
  confirmPassword(userId: string, password: string): Promise<void>
  /** The name of the product, and its own site if there is one. */
  product: string
  productUrl: string | undefined
  /** Shows the progress of the deletion that has begun. */
  showProgress(answer: Answer<typeof withdrawAccount>): Promise<void>
  /** Where the person finds the progress again; null where the page has no link of its own. */
  progressLink(): string | null
  /** The page that gives the person their data; null where there is none. */
  exportPath: string | null
  /** The page that verifies receipts. */
  receiptPage: string
}

/** What a page does before it leaves for the identity provider. */
export interface Leave {
  /** What was typed, to be kept until the person comes back. */
  values: () => Record<string, unknown>
  /** The page, where it is not the one that the provider leads back to. */
  comesBackTo?: string | undefined
}

const HostContext = createContext<Host | null>(null)
export const HostProvider = HostContext

export function useHost(): Host {
  const host = useContext(HostContext)
  if (!host) throw new Error('Put it inside an AccountProvider.')
  return host
}
