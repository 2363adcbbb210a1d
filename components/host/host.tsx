'use client'

import { createContext, type ReactNode, useContext } from 'react'
import type { Purpose } from '@/contract/access'
import type { Answer } from '@/contract/define'
import type { withdrawAccount } from '@/contract/withdrawal'
import type { Calls } from '../api/load-contract'

/** What a part needs of the page around it, which belongs to this service or to the adopter. */
export interface Host {
  /** Calls an operation as the person. */
  call: Calls['call']
  /** Calls an operation with another token than the person's. */
  callWith: Calls['callWith']
  /** Makes the page read its data again. */
  refresh(): void
  /** Leads the person to a fresh sign-in. The page does nothing more until then. */
  reauthenticate(userId: string, purpose: Purpose, leave: Leave): Promise<void>
  /** Checks the password, so that the next calls count as a fresh sign-in. */
  confirmPassword(userId: string, password: string): Promise<void>
  /** The name of the product, and its own site if there is one. */
  product: string
  productUrl: string | undefined
  /** Shows the progress of the deletion that has begun. */
  showProgress(answer: Answer<typeof withdrawAccount>): Promise<void>
  /** A button that copies the link to the progress, null if the page has no link of its own. */
  progressLink(): ReactNode
  /** The page of the data export, null if there is none. */
  exportPath: string | null
  /** A sentence in the form of a change, where the limit of changes is near. */
  changesLeft?(): ReactNode
  /** Whether people sign in to this service with a browser, and so have sessions that it can end. */
  hasSessions: boolean
  /** Whether the account may have a password of this service. */
  mayHavePassword: boolean
  /** The page that verifies receipts. */
  receiptPage: string
}

/** The state that a page keeps while the person is at the identity provider. */
export interface Leave {
  /** The typed text, which is kept until the person comes back. */
  values: () => Record<string, unknown>
  /** The page to come back to, if it is not the usual one of this purpose. */
  comesBackTo?: string | undefined
}

const HostContext = createContext<Host | null>(null)
export const HostProvider = HostContext

export function useHost(): Host {
  const host = useContext(HostContext)
  if (!host) throw new Error('Put it inside an AccountProvider.')
  return host
}
