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
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { IntlProvider } from 'use-intl/react'
import type { Purpose } from '@/contract/access'
import type { WaysToConfirm } from '../access/confirm-identity'
import { keepDraft, takeDraft } from '../forms/draft'
import { type Host, HostProvider } from '../host/host'
import { keepInTab, keptInTab } from '../session/tab-storage'
import { serverNow } from '../ui/server-clock'
import { PartsUse } from '../ui/use-focus-on-mount'
import { createCalls } from './embedded-host'
import type { AccountProviderProps, OwnAccount, StartedDeletion } from './types'

/** How long a sign-in counts as fresh. */
const FRESH_MS = 10 * 60_000

interface Account extends OwnAccount {
  supportEmail: string
  waysTo(purpose: Purpose): WaysToConfirm
  /** Lets the person sign in again on the adopter's page. Undefined if that page has no way to. */
  signIn: (() => Promise<unknown>) | undefined
  /** The deletion that has begun in this tab. */
  started: StartedDeletion | null
  /** It has begun since the page was loaded. */
  isNew: boolean
  /** The service does not have the account, or no longer. */
  isGone: boolean
  notices: Notices
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
export function AccountProvider(props: AccountProviderProps): ReactNode {
  const baseUrl = props.baseUrl.replace(/\/+$/, '')
  return <OneAccount key={`${baseUrl} ${props.userId}`} {...props} baseUrl={baseUrl} />
}

function OneAccount(props: AccountProviderProps) {
  const { baseUrl, userId, pageToken, signInAgain, hasPassword = false, product, supportEmail, children } = props
  useLayoutEffect(adoptColors, [])
  const { client, started, isNew, isGone, start, found, notices } = useShared(`${baseUrl} ${userId}`)
  const [use] = useState(() => ({ hasHadFocus: false }))
  const newest = useRef(pageToken)
  useLayoutEffect(() => {
    newest.current = pageToken
  }, [pageToken])
  const [authenticatedAt, setAuthenticatedAt] = useState<string>()
  const [calls] = useState(() =>
    createCalls({
      baseUrl,
      pageToken: () => newest.current(),
      onProof: setAuthenticatedAt,
      onFound: found,
    }),
  )
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
        start({ withdrawalId: withdrawal_id, statusToken: status_token }),
      progressLink: () => null,
      exportPath: null,
      hasSessions: false,
      mayHavePassword: hasPassword,
      receiptPage: `${baseUrl}/receipt`,
    }),
    [calls, client, signIn, baseUrl, product, hasPassword, start],
  )
  const until = authenticatedAt ? Date.parse(authenticatedAt) + FRESH_MS : 0
  const account: Account = {
    userId,
    call: calls.callContract,
    supportEmail,
    started,
    isNew,
    isGone,
    notices,
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
          <AccountContext value={account}>
            <PartsUse value={use}>{children}</PartsUse>
          </AccountContext>
        </HostProvider>
      </QueryClientProvider>
    </IntlProvider>
  )
}

/** What is true of a person on all parts of a page. */
type Known = Pick<Account, 'started' | 'isNew' | 'isGone'>

/** One that a part would show: what it tells, and where. */
interface Notice {
  notice: string
  place: Element | null
}

/** By these a page says once what is true of all its parts. */
interface Notices {
  join(own: Notice, listener: () => void): () => void
  /** Whether no part before tells the same, of those that can be seen. */
  isFirst(own: Notice): boolean
  /** Called when a part may have come into view, or have left it. */
  moved(): void
}

interface Shared {
  client: QueryClient
  known: Known
  notices: Set<Notice>
  listeners: Set<() => void>
}
const people = new Map<string, Shared>()
const NOTHING_KNOWN: Known = { started: null, isNew: false, isGone: false }
const keptAs = (person: string) => `account-deletion ${person}`

const createShared = (person: string): Shared => {
  const options = { mutations: { networkMode: 'always' }, queries: { networkMode: 'always' } } as const
  const client = new QueryClient({ defaultOptions: options })
  // A reloaded page shows the progress again.
  const started = JSON.parse(keptInTab(keptAs(person)) ?? 'null')
  return { client, known: { ...NOTHING_KNOWN, started }, notices: new Set(), listeners: new Set() }
}

/** All parts of a page show the same of a person, also those that have a provider each. When the last one is gone, nothing is kept. */
function useShared(person: string) {
  const [shared] = useState(() => people.get(person) ?? createShared(person))
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
  const known = useSyncExternalStore(
    subscribe,
    () => shared.known,
    () => NOTHING_KNOWN,
  )
  const [{ start, found, notices }] = useState(() => changesOf(person, shared, subscribe))
  return { client: shared.client, ...known, start, found, notices }
}

/** A custom element draws in a shadow root; its place in the page is that of its host. */
function hostOf({ place }: Notice): Element {
  const root = place?.getRootNode()
  return root instanceof ShadowRoot ? root.host : (place as Element)
}
const byPlace = (one: Notice, other: Notice) =>
  hostOf(one).compareDocumentPosition(hostOf(other)) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1

function changesOf(person: string, shared: Shared, subscribe: (listener: () => void) => () => void) {
  const notify = () => {
    for (const listener of shared.listeners) listener()
  }
  const change = (facts: Partial<Known>) => {
    shared.known = { ...shared.known, ...facts }
    notify()
  }
  const notices: Notices = {
    join(own, listener) {
      const leave = subscribe(listener)
      shared.notices.add(own)
      return () => {
        shared.notices.delete(own)
        leave()
        notify()
      }
    },
    isFirst: (own) =>
      [...shared.notices]
        .filter(({ notice, place }) => notice === own.notice && place?.checkVisibility())
        .sort(byPlace)[0] === own,
    moved: notify,
  }
  const start = (started: StartedDeletion) => {
    keepInTab(keptAs(person), JSON.stringify(started))
    change({ started, isNew: true })
  }
  const found = (isFound: boolean) => {
    if (shared.known.isGone === isFound) change({ isGone: !isFound })
  }
  return { start, found, notices }
}

function leaveFor(url: string): Promise<never> {
  window.location.assign(url)
  // The page is being left.
  return new Promise(() => {})
}

function messagesOf({ texts: { texts }, ownTexts }: AccountProviderProps) {
  const own: Record<string, object> = { ...ownTexts }
  const areas = Object.entries(texts as Record<string, object>)
  return Object.fromEntries(areas.map(([area, ours]) => [area, { ...ours, ...own[area] }]))
}
