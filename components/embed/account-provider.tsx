'use client'

import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useMemo, useState } from 'react'
import { IntlProvider } from 'use-intl/react'
import type { Purpose } from '@/contract/access'
import type { WaysToConfirm } from '../access/confirm-identity'
import { keepDraft, takeDraft } from '../forms/draft'
import { type Host, HostProvider } from '../host/host'
import { serverNow } from '../ui/server-clock'
import { createCalls } from './embedded-host'
import type { AccountProviderProps, OwnAccount, StartedDeletion } from './types'

/** How long a sign-in counts as fresh. */
const FRESH_MS = 10 * 60_000

interface Account extends OwnAccount {
  supportEmail: string
  waysTo(purpose: Purpose): WaysToConfirm
  /** Lets the person sign in again on the adopter's page. Undefined if that page has no way to. */
  signIn: (() => Promise<unknown>) | undefined
  /** The deletion that has begun on this page. */
  started: StartedDeletion | null
}

const AccountContext = createContext<Account | null>(null)

export function useAccount(): Account {
  const account = useContext(AccountContext)
  if (!account) throw new Error('Put it inside an AccountProvider.')
  return account
}

/** Another person gets a new provider, so that neither answers nor a token are kept. */
export const AccountProvider = (props: AccountProviderProps): ReactNode => (
  <OneAccount key={`${props.baseUrl} ${props.userId}`} {...props} />
)

function OneAccount(props: AccountProviderProps) {
  const { baseUrl, userId, pageToken, signInAgain, hasPassword = false, product, supportEmail, children } = props
  const [client] = useState(
    () =>
      new QueryClient({ defaultOptions: { mutations: { networkMode: 'always' }, queries: { networkMode: 'always' } } }),
  )
  const [authenticatedAt, setAuthenticatedAt] = useState<string>()
  const [started, setStarted] = useState<StartedDeletion | null>(null)
  const [calls] = useState(() => createCalls({ baseUrl, pageToken, onProof: setAuthenticatedAt }))
  const signIn = useMemo(
    () => (typeof signInAgain === 'string' ? () => leaveFor(signInAgain) : signInAgain),
    [signInAgain],
  )
  const host = useMemo<Host>(
    () => ({
      call: calls.call,
      callWith: calls.callWith,
      refresh: () => void client.invalidateQueries(),
      async reauthenticate(userId, purpose, { values }) {
        keepDraft(purpose, userId, values())
        await signIn?.()
        takeDraft(purpose, userId)
        await calls.renew()
      },
      confirmPassword: async () => {},
      product,
      productUrl: undefined,
      showProgress: async ({ withdrawal_id, status_token }) =>
        setStarted({ withdrawalId: withdrawal_id, statusToken: status_token }),
      progressLink: () => null,
      exportPath: null,
      receiptPage: `${baseUrl}/receipt`,
    }),
    [calls, client, signIn, baseUrl, product],
  )
  const until = authenticatedAt ? Date.parse(authenticatedAt) + FRESH_MS : 0
  const account: Account = {
    userId,
    call: calls.callContract,
    supportEmail,
    started,
    signIn,
    waysTo: (purpose) => ({
      hasPassword: purpose === 'change' && hasPassword,
      provider: signInAgain ? product : null,
      confirmedUntil: until > serverNow() ? new Date(until).toISOString() : null,
    }),
  }
  return (
    <IntlProvider locale={props.texts.language} timeZone="UTC" messages={messagesOf(props)}>
      <QueryClientProvider client={client}>
        <HostProvider value={host}>
          <AccountContext value={account}>{children}</AccountContext>
        </HostProvider>
      </QueryClientProvider>
    </IntlProvider>
  )
}

function leaveFor(url: string): Promise<never> {
  window.location.assign(url)
  // The page is being left.
  return new Promise(() => {})
}

function messagesOf({ texts: { texts }, ownTexts = {} }: AccountProviderProps) {
  const areas = Object.entries(texts as Record<string, object>)
  return Object.fromEntries(areas.map(([area, ours]) => [area, { ...ours, ...ownTexts[area] }]))
}
