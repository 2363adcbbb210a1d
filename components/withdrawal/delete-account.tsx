'use client'

import { useEffect } from 'react'
import type { WaysToConfirm } from '../access/confirm-identity'
import { useHost } from '../host/host'
import { takeReturnPath } from '../session/return-path'
import { type Known, useBlockers } from './blockers'
import type { CountedDetailsProps } from './deletion-details'
import { WithdrawAccountForm } from './withdraw-account-form'

export interface DeleteAccountProps extends Omit<CountedDetailsProps, 'renderedAt'> {
  email: string
  /** “7 days”: the time in which all steps should be done. */
  deletedWithin: string
  ways: WaysToConfirm
  known: Known
  supportEmail: string
}

/** One screen: the form, or in its place what holds the deletion back. */
export function DeleteAccount({ ways, known, supportEmail, ...shown }: DeleteAccountProps) {
  const { exportPath } = useHost()
  const held = useBlockers(shown.userId, known)
  // The identity provider leads back to this page also for the download of one's data.
  useEffect(() => {
    const path = takeReturnPath()
    if (path === null || path.split('?')[0] !== exportPath) return
    // What the provider's answer says stands in the query of this page.
    const { search } = window.location
    window.location.replace(path.includes('?') ? path + search.replace('?', '&') : path + search)
  }, [exportPath])
  return <WithdrawAccountForm {...shown} {...{ ways, held, supportEmail, renderedAt: known.renderedAt }} />
}
