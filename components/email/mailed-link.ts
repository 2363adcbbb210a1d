import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { Body } from '@/contract/define'
import type { verifyEmail } from '@/contract/email'
import { useHost } from '../host/host'
import { keepInTab, takeFromTab } from '../session/tab-storage'
import { emailStatusKey } from './email-status'
import { parseLink } from './verification-link'

type Secret = Body<typeof verifyEmail>

const MAILED_LINK = 'mailed-link'

const clearFragment = () =>
  window.history.replaceState(window.history.state, '', window.location.pathname + window.location.search)

/** Keeps the secret of a mailed link in this tab until the page can read the account, also while the person signs in. True if there is one. */
export function useKeptLink(): boolean {
  const [isKept, setKept] = useState(false)
  useEffect(() => {
    if (!linkIn(window.location.hash)) return
    keepInTab(MAILED_LINK, window.location.hash)
    clearFragment()
    setKept(true)
  }, [])
  return isKept
}

const linkIn = (fragment: string) => parseLink(new URLSearchParams(fragment.slice(1)))

/**
 * The secret of a mailed link, which leaves the address bar. A page of an adopter has no page of its own for links, may be open already, and
 * must not be reloaded. `onOld` is called with the id of a change that is not pending, and with whether it was verified.
 */
export function useMailedLink(userId: string, onOld: (changeRequestId: string, wasVerified: boolean) => void) {
  const { call } = useHost()
  const client = useQueryClient()
  const [secret, setSecret] = useState<Secret | null>(null)
  useEffect(() => {
    async function take() {
      const inPage = linkIn(window.location.hash)
      const { secret } = inPage ?? linkIn(takeFromTab(MAILED_LINK) ?? '') ?? {}
      if (!secret) return
      if (inPage) clearFragment()
      setSecret(secret)
      const { change_request_id } = secret
      const status = await call('getEmailStatus', { userId, change_request_id })
      // The change may have been asked for since the page was opened.
      client.setQueryData(emailStatusKey(userId), status)
      if (status.pending_change.change_request_id !== change_request_id)
        onOld(change_request_id, status.change_request?.status === 'verified')
    }
    // What could not be read, the next look at the status shows.
    const takeIt = () => void take().catch(() => {})
    takeIt()
    window.addEventListener('hashchange', takeIt)
    return () => window.removeEventListener('hashchange', takeIt)
  }, [userId, call, client, onOld])
  return secret
}
