/**
 * A model of the contract that shares no code with the service. Numbers and rules are written down here a second time.
 * `expected` returns the answer to a call and changes the state. Only the invariants judge a sweep.
 */

const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000]

export const UNDO_WINDOW = 7 * DAY

const LIMITS = {
  change: { places: 3, windowMs: HOUR },
  password: { places: 5, windowMs: 15 * MINUTE },
  passwordDay: { places: 20, windowMs: DAY },
  taken: { places: 5, windowMs: HOUR },
  verify: { places: 30, windowMs: HOUR },
  withdraw: { places: 5, windowMs: HOUR },
  target: { places: 5, windowMs: DAY },
  targetMail: { places: 20, windowMs: DAY },
  signIn: { places: 10, windowMs: 15 * MINUTE },
}
export type BucketName = keyof typeof LIMITS
export const USER_BUCKETS = ['change', 'password', 'passwordDay', 'taken', 'verify', 'withdraw'] as const
export const TARGET_BUCKETS = ['target', 'targetMail'] as const

/** A browser session by its place, or the access token. */
export type Credential = 0 | 1 | 'token'

export interface Pending {
  id: string
  email: string
  /** The session that asked, if it replaced nobody else's request; else null. */
  requestedBy: string | null
  /** Null if no accepted message carries the code. */
  code: string | null
  attempts: number
  requestedAt: number
  sentAt: number
  expiresAt: number
}

export interface Withdrawal {
  id: string
  caller: Credential | null
  /** Credentials that it ended. */
  ended: Credential[]
  completed: boolean
  purged: boolean
}

export interface Account {
  id: string
  email: string
  /** Addresses that it had, which nobody else gets while a change can be undone. */
  held: { email: string; until: number }[]
  password: string
  sessions: { id: string; expiresAt: number; ended: boolean }[]
  token: { expiresAt: number; ended: boolean }
  pending: Pending | null
  hits: Record<(typeof USER_BUCKETS)[number], number[]>
  pendingTransactions: number
  withdrawal: Withdrawal | null
}

export interface State {
  now: number
  mailUp: boolean
  appUp: boolean
  accounts: Account[]
  targets: Record<string, Record<(typeof TARGET_BUCKETS)[number], number[]>>
  /** The times of the calls in the buckets of sign-ins, by address and user. */
  signIns: Record<string, number[]>
  /** The credentials that were accepted before the concurrent calls, by user. */
  admitted?: string[]
}

interface ByUser {
  user: number
  as: Credential
}
export type Call =
  | (ByUser & { do: 'change'; email: string; password: string })
  | (ByUser & { do: 'verify'; request: string; code: string })
  | (ByUser & { do: 'resend'; request: string })
  | (ByUser & { do: 'cancel'; request: string })
  | (ByUser & { do: 'status' })
  | (ByUser & { do: 'withdraw'; confirmation: string })
  | (Omit<ByUser, 'as'> & { do: 'progress'; as: Credential | 'status token'; withdrawal: string })
  | (ByUser & { do: 'endSession'; session: 0 | 1 })
  | (ByUser & { do: 'endOthers' })
  | { do: 'signIn'; user: number; session: 0 | 1; email: string; password: string }
  | { do: 'setPassword'; user: number; password: string; keepTokens: boolean }
  | { do: 'addTransaction'; user: number }
  | { do: 'settle'; user: number }
  | { do: 'sweep' }

export interface Outcome {
  /** `OK` or the error's code. */
  code: string
  retryAfter?: number
  /** Members that `data` must have. */
  data?: Record<string, unknown>
}

const ok = (data?: Record<string, unknown>): Outcome => ({ code: 'OK', ...(data && { data }) })
const refused = (code: string, retryAfter?: number): Outcome => ({ code, ...(retryAfter && { retryAfter }) })
const iso = (time: number) => new Date(time).toISOString()

export const live = (hits: number[], name: BucketName, now: number) =>
  hits.filter((hit) => hit > now - LIMITS[name].windowMs)

const isFull = (hits: number[], name: BucketName, now: number) => live(hits, name, now).length >= LIMITS[name].places

/** Whole seconds until each of the buckets has room. */
function waitFor(state: State, buckets: [number[], BucketName][]): number {
  const waits = buckets
    .filter(([hits, name]) => isFull(hits, name, state.now))
    .map(([hits, name]) => (live(hits, name, state.now).at(-LIMITS[name].places) ?? 0) + LIMITS[name].windowMs)
  return Math.max(1, Math.ceil((Math.max(...waits) - state.now) / SECOND))
}

const isLive = (account: Account, as: Credential, { now, admitted }: Pick<State, 'now' | 'admitted'>) => {
  if (admitted?.includes(`${account.id} ${as}`)) return true
  if (account.withdrawal) return false
  const credential = as === 'token' ? account.token : account.sessions[as]
  return credential !== undefined && !credential.ended && credential.expiresAt > now
}
const wasEnded = (account: Account, as: Credential, now: number) =>
  account.withdrawal !== null &&
  !account.withdrawal.purged &&
  account.withdrawal.ended.includes(as) &&
  ((as === 'token' ? account.token.expiresAt : account.sessions[as]?.expiresAt) ?? 0) > now

/** One order of refusals for verify, resend and cancel. */
function refusalOf(account: Account, request: string, now: number): Outcome | null {
  const { pending } = account
  if (pending?.id !== request) return refused('EMAIL_006')
  if (pending.expiresAt <= now) return refused('EMAIL_004')
  return pending.attempts >= 5 ? refused('EMAIL_005') : null
}

const holderOf = (state: State, email: string) =>
  state.accounts.find((account) => !account.withdrawal && account.email === email)

const isInUse = (state: State, requester: Account, email: string) =>
  holderOf(state, email) !== undefined ||
  state.accounts.some(
    (account) =>
      account !== requester &&
      !account.withdrawal &&
      account.held.some((held) => held.email === email && held.until > state.now),
  )

/** Changes `state` to what is true after the call. */
export function expected(state: State, call: Exclude<Call, { do: 'sweep' }>): Outcome {
  const account = state.accounts[call.user]
  if (!account) throw new Error('no such user')
  switch (call.do) {
    case 'signIn':
      return signIn(state, account, call)
    case 'setPassword':
      if (account.withdrawal) return refused('USER_001')
      Object.assign(account, { password: call.password, pending: null })
      for (const session of account.sessions) session.ended = true
      if (!call.keepTokens) account.token.ended = true
      return ok()
    case 'addTransaction':
      if (account.withdrawal) return refused('USER_001')
      account.pendingTransactions++
      return ok()
    case 'settle':
      account.pendingTransactions = 0
      return ok()
    case 'withdraw':
      return withdraw(state, account, call)
    case 'progress':
      return progress(state, account, call)
  }
  if (!isLive(account, call.as, state)) return refused('AUTH_001')
  switch (call.do) {
    case 'change':
      return change(state, account, call)
    case 'verify':
      return verify(state, account, call)
    case 'resend':
      return resend(state, account, call)
    case 'status':
      return ok(describe(state, account))
    case 'cancel': {
      const refusal = refusalOf(account, call.request, state.now)
      if (refusal) return refusal
      account.pending = null
      return ok({ change_request_id: call.request, status: 'cancelled' })
    }
    case 'endSession': {
      const session = account.sessions[call.session]
      if (call.as === 'token') return refused('AUTH_002')
      if (call.session !== call.as && !isFresh(account.sessions[call.as], state.now)) return refused('REAUTH_001')
      if (!session || session.ended) return refused('REQUEST_005')
      session.ended = true
      return ok()
    }
    case 'endOthers':
      if (call.as === 'token') return refused('AUTH_002')
      if (!isFresh(account.sessions[call.as], state.now)) return refused('REAUTH_001')
      endSessionsBut(state, account, call.as)
      account.pending = null
      return ok()
  }
}

function endSessionsBut(state: State, account: Account, as: Credential) {
  for (const [place, session] of account.sessions.entries()) {
    if (place !== as && session.expiresAt > state.now) session.ended = true
  }
}

function change(state: State, account: Account, call: Extract<Call, { do: 'change' }>): Outcome {
  const { now } = state
  const { hits } = account
  state.targets[call.email] ??= { target: [], targetMail: [] }
  const target = state.targets[call.email] as State['targets'][string]
  const all: [number[], BucketName][] = [
    [hits.password, 'password'],
    [hits.passwordDay, 'passwordDay'],
    [hits.change, 'change'],
    [hits.taken, 'taken'],
    [target.target, 'target'],
    [target.targetMail, 'targetMail'],
  ]
  if (all.some(([list, name]) => isFull(list, name, now))) return refused('EMAIL_008', waitFor(state, all))
  if (call.password !== account.password) {
    hits.password.push(now)
    hits.passwordDay.push(now)
    return refused('EMAIL_007')
  }
  if (isInUse(state, account, call.email)) {
    hits.taken.push(now)
    return refused('EMAIL_002')
  }
  if (!state.mailUp) return refused('EMAIL_009', 60)
  hits.change.push(now)
  target.target.push(now)
  target.targetMail.push(now)
  const expiresAt = now + 12 * HOUR
  const requester = call.as === 'token' ? null : (account.sessions[call.as]?.id ?? null)
  const requestedBy = account.pending && account.pending.requestedBy !== requester ? null : requester
  const times = { requestedAt: now, sentAt: now, expiresAt }
  account.pending = { id: 'new', email: call.email, requestedBy, code: null, attempts: 0, ...times }
  return ok({
    status: 'pending_verification',
    verification_expires_at: iso(expiresAt),
    current_email_retained: true,
  })
}

function verify(state: State, account: Account, call: Extract<Call, { do: 'verify' }>): Outcome {
  const { now } = state
  const { verify: calls } = account.hits
  if (isFull(calls, 'verify', now)) return refused('RATE_001', waitFor(state, [[calls, 'verify']]))
  calls.push(now)
  const refusal = refusalOf(account, call.request, now)
  if (refusal) return refusal
  const pending = account.pending as Pending
  if (!/^[0-9]{6}$/.test(call.code)) return refused('EMAIL_003')
  pending.attempts++
  if (call.code !== pending.code) return refused('EMAIL_003')
  if (isInUse(state, account, pending.email)) return refused('EMAIL_002')
  account.held.push({ email: account.email, until: now + UNDO_WINDOW })
  Object.assign(account, { email: pending.email, pending: null })
  for (const [place, session] of account.sessions.entries()) {
    if (place !== call.as && session.id !== pending.requestedBy) session.ended = true
  }
  return ok({ email_verified: true, changed_at: iso(now), notification_sent: state.mailUp })
}

function resend(state: State, account: Account, call: Extract<Call, { do: 'resend' }>): Outcome {
  const { now } = state
  const refusal = refusalOf(account, call.request, now)
  if (refusal) return refusal
  const pending = account.pending as Pending
  const mails = state.targets[pending.email]?.targetMail ?? []
  const waits = [
    Math.ceil((pending.sentAt + 5 * MINUTE - now) / SECOND),
    isFull(mails, 'targetMail', now) ? waitFor(state, [[mails, 'targetMail']]) : 0,
  ]
  if (waits.some((wait) => wait > 0)) return refused('EMAIL_008', Math.max(...waits))
  if (!state.mailUp) return refused('EMAIL_009', 60)
  mails.push(now)
  Object.assign(pending, {
    code: null,
    sentAt: now,
    expiresAt: Math.min(now + 12 * HOUR, pending.requestedAt + 24 * HOUR),
  })
  return ok({ expires_at: iso(pending.expiresAt), resend_available_at: iso(now + 5 * MINUTE) })
}

function describe({ now }: State, { email, pending }: Account): Record<string, unknown> {
  const isOpen = pending && pending.expiresAt > now && pending.attempts < 5
  return {
    current_email: email,
    pending_change: isOpen
      ? {
          has_pending: true,
          new_email: pending.email,
          requested_at: iso(pending.requestedAt),
          expires_at: iso(pending.expiresAt),
          change_request_id: pending.id,
          verification_method: 'email_code',
          attempts_remaining: 5 - pending.attempts,
          resend_available_at: iso(pending.sentAt + 5 * MINUTE),
        }
      : {
          has_pending: false,
          new_email: null,
          requested_at: null,
          expires_at: null,
          change_request_id: null,
          verification_method: null,
          attempts_remaining: null,
          resend_available_at: null,
        },
  }
}

function signIn(state: State, account: Account, call: Extract<Call, { do: 'signIn' }>): Outcome {
  const key = `${call.email} ${call.user}`
  state.signIns[key] ??= []
  const hits = state.signIns[key] as number[]
  if (isFull(hits, 'signIn', state.now)) return refused('RATE_001')
  const holder = holderOf(state, call.email)
  if (holder !== account || call.password !== account.password) {
    hits.push(state.now)
    return refused('wrong')
  }
  account.sessions[call.session] = { id: 'new', expiresAt: state.now + SESSION_LIFETIME, ended: false }
  return ok()
}

const SESSION_LIFETIME = 30 * DAY
const isFresh = (session: { expiresAt: number } | undefined, now: number) =>
  session !== undefined && now - (session.expiresAt - SESSION_LIFETIME) <= 10 * MINUTE

function withdraw(state: State, account: Account, call: Extract<Call, { do: 'withdraw' }>): Outcome {
  const { now } = state
  const isActive = isLive(account, call.as, state) && !account.withdrawal
  if (!isActive && !wasEnded(account, call.as, now)) return refused('AUTH_001')
  if (call.confirmation !== 'DELETE_MY_ACCOUNT') return refused('WITHDRAWAL_001')
  if (isActive && call.as !== 'token' && !isFresh(account.sessions[call.as], now)) return refused('REAUTH_001')
  const { withdraw: calls } = account.hits
  if (isFull(calls, 'withdraw', now)) return refused('RATE_001', waitFor(state, [[calls, 'withdraw']]))
  calls.push(now)
  if (!isActive) return refused('WITHDRAWAL_002')
  if (account.pendingTransactions > 0) return refused('WITHDRAWAL_003')
  const credentials: Credential[] = [0, 1, 'token']
  const ended = credentials.filter((as) => isLive(account, as, { now }))
  for (const one of [...account.sessions, account.token]) if (one.expiresAt > now) one.ended = true
  account.pending = null
  account.withdrawal = {
    id: 'new',
    caller: call.as,
    ended,
    completed: false,
    purged: false,
  }
  return ok({ status: 'processing', scheduled_completion: iso(now + 7 * DAY), data_retention_period: 30 })
}

function progress(state: State, account: Account, call: Extract<Call, { do: 'progress' }>): Outcome {
  const { withdrawal } = account
  if (call.as !== 'status token' && isLive(account, call.as, state)) return refused('WITHDRAWAL_004')
  if (!withdrawal || withdrawal.purged || withdrawal.id !== call.withdrawal) return refused('AUTH_001')
  const mayRead = call.as === 'status token' || (withdrawal.caller === call.as && wasEnded(account, call.as, state.now))
  if (!mayRead) return refused('AUTH_001')
  return ok({ status: withdrawal.completed ? 'completed' : 'processing', withdrawal_id: withdrawal.id })
}

/** Refusals that a call may also meet because of what runs beside it, and that then change nothing. */
const CAUTIOUS = /^(?:EMAIL_00[25678]|RATE_001|AUTH_001|REAUTH_001|WITHDRAWAL_002|REQUEST_005|USER_001|wrong)$/

/** Whether calls that ran side by side could have ended so one after the other, in some order. */
export function isExplained(state: State, calls: Call[], codes: string[]): boolean {
  const credentials: Credential[] = [0, 1, 'token']
  const admitted = state.accounts.flatMap((account) =>
    credentials.filter((as) => isLive(account, as, state)).map((as) => `${account.id} ${as}`),
  )
  return orders(calls.map((_, index) => index)).some((order) => {
    const after = structuredClone({ ...state, admitted })
    return order.every((index) => {
      const before = structuredClone(after)
      const { code } = expected(after, calls[index] as Exclude<Call, { do: 'sweep' }>)
      if (code === codes[index]) return true
      Object.assign(after, before)
      return CAUTIOUS.test(codes[index] ?? '')
    })
  })
}

function orders(items: number[]): number[][] {
  if (items.length === 0) return [[]]
  return items.flatMap((item) => orders(items.filter((other) => other !== item)).map((rest) => [item, ...rest]))
}
