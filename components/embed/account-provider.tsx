'use client'

import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import colors from 'account-parts/colors'
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useLayoutEffect,
  useMemo,
  useState,
  useSyncExternalStore,
} from 'react'
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

let adopted: CSSStyleSheet | undefined

/** The colors come by script, because build tools of a page rewrite `light-dark()` in its style sheets for older browsers. */
function adoptColors() {
  // An element brings them in its own sheet.
  if (adopted || colors === '') return
  adopted = new CSSStyleSheet()
  adopted.replaceSync(colors)
  document.adoptedStyleSheets.push(adopted)
}

/** Another person gets a new provider, so that neither answers nor a token are kept. */
export const AccountProvider = (props: AccountProviderProps): ReactNode => (
  <OneAccount key={`${props.baseUrl} ${props.userId}`} {...props} />
)

function OneAccount(props: AccountProviderProps) {
  const { baseUrl, userId, pageToken, signInAgain, hasPassword = false, product, supportEmail, children } = props
  useLayoutEffect(adoptColors, [])
  const { client, started, setStarted } = useShared(`${baseUrl} ${userId}`)
  const [authenticatedAt, setAuthenticatedAt] = useState<string>()
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
      hasSessions: false,
      receiptPage: `${baseUrl}/receipt`,
    }),
    [calls, client, signIn, baseUrl, product, setStarted],
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

interface Shared {
  client: QueryClient
  started: StartedDeletion | null
  listeners: Set<() => void>
}
const people = new Map<string, Shared>()

const createShared = (): Shared => {
  const options = { mutations: { networkMode: 'always' }, queries: { networkMode: 'always' } } as const
  return { client: new QueryClient({ defaultOptions: options }), started: null, listeners: new Set() }
}

/** All parts of a page show the same of a person, also those that have a provider each. When the last one is gone, nothing is kept. */
function useShared(person: string) {
  const [shared] = useState(() => people.get(person) ?? createShared())
  // Now, so that the next part of the same page finds it; never on a server, whose pages belong to many people.
  if (typeof window !== 'undefined') people.set(person, shared)
  const subscribe = useCallback(
    (listener: () => void) => {
      people.set(person, shared)
      shared.listeners.add(listener)
      return () => {
        shared.listeners.delete(listener)
        if (shared.listeners.size === 0) people.delete(person)
      }
    },
    [person, shared],
  )
  const started = useSyncExternalStore(
    subscribe,
    () => shared.started,
    () => null,
  )
  const setStarted = useCallback(
    (deletion: StartedDeletion) => {
      shared.started = deletion
      for (const notify of shared.listeners) notify()
    },
    [shared],
  )
  return { client: shared.client, started, setStarted }
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
