import type { Contract } from '@/contract/define'
import type { Blocker } from '@/contract/errors'
import { operations } from '@/contract/operations'
import { api } from '@/server/http/api'
import type { TestUser } from '@/testing/domain'

// Calls of the API as a client makes them.

export const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]
export const OPERATIONS: Record<string, Contract> = Object.fromEntries(
  operations.map((contract) => [contract.name, contract]),
)
/** Well-formed ids that nobody has. */
export const NOBODYS_IDS = {
  changeRequestId: `ecr_${'A'.repeat(22)}`,
  withdrawalId: `wd_${'A'.repeat(22)}`,
  accessId: `tok_${'A'.repeat(22)}`,
  sessionId: `ses_${'A'.repeat(22)}`,
  externalId: 'nobody',
  appId: `app_${'A'.repeat(22)}`,
  taskId: `msg_${'A'.repeat(22)}`,
  transactionId: `txn_${'A'.repeat(22)}`,
  key: 'nothing',
}

export interface Caller extends TestUser {
  token: string
}

export interface Asking {
  body?: unknown
  /** Sent unchanged, instead of `body`. */
  raw?: BodyInit | null
  /** Instead of the caller's token; null sends none. A text with a blank is the whole header. */
  token?: string | null
  /** Instead of the operation's scope; null sends none. */
  scope?: string | null
  /** The media type instead of JSON; null sends none. */
  type?: string | null
  ids?: Record<string, string>
  query?: string
  headers?: Record<string, string> | [string, string][]
  /** The address of the peer. */
  ip?: string
  signal?: AbortSignal
}

export interface Answer {
  status: number
  /** The error code, or `accepted`. */
  code: string
  data: Record<string, unknown>
  details: string
  /** What holds a withdrawal back. */
  blockers?: Blocker[]
  headers: Headers
  text: string
}

export function request(
  caller: { userId: string; token?: string },
  operation: string,
  asking: Asking = {},
): Promise<Response> {
  const { method, path, example, ...contract } = OPERATIONS[operation] as Contract
  const { token = caller.token, scope = contract.scope ?? null, type = 'application/json', ip = '192.0.2.1' } = asking
  const ids: Record<string, string> = { ...NOBODYS_IDS, userId: caller.userId, ...asking.ids }
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => ids[name] ?? '')
  const headers = new Headers(asking.headers)
  if (token) headers.append('Authorization', token.includes(' ') ? token : `Bearer ${token}`)
  if (scope !== null) headers.append('X-Required-Scope', scope)
  const init: RequestInit & { duplex: 'half' } = { method, headers, duplex: 'half', signal: asking.signal ?? null }
  if (contract.body) {
    if (type !== null) headers.set('Content-Type', type)
    const { body = example.body, raw = new TextEncoder().encode(JSON.stringify(body)) } = asking
    init.body = raw
  }
  const url = `http://localhost/api/v1${filled}${asking.query ?? ''}`
  return api(new Request(url, init), ip)
}

export async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text()
  if (response.headers.get('Content-Type') === 'application/zip') {
    return { status: response.status, code: 'accepted', data: {}, details: '', headers: response.headers, text }
  }
  const { success, data = {}, error } = JSON.parse(text)
  const { status, headers } = response
  return {
    status,
    code: success ? 'accepted' : error.code,
    data,
    details: error?.details ?? '',
    blockers: error?.blockers,
    headers,
    text,
  }
}

export const call = async (...args: Parameters<typeof request>): Promise<Answer> => readAnswer(await request(...args))

/** The calls that tests make most. */
export const callsBy = (ask: typeof call) => ({
  change: (caller: Caller, newEmail: unknown, asking: Asking = {}) =>
    ask(caller, 'changeEmail', { body: { new_email: newEmail, current_password: caller.password }, ...asking }),
  verify: (caller: Caller, id: unknown, code: unknown, asking: Asking = {}) =>
    ask(caller, 'verifyEmail', { body: { change_request_id: id, verification_code: code }, ...asking }),
  resend: (caller: Caller, id: unknown, asking: Asking = {}) =>
    ask(caller, 'resendVerification', { body: { change_request_id: id }, ...asking }),
  withdraw: (caller: Caller, asking: Asking = {}) =>
    ask(caller, 'withdrawAccount', { body: { confirmation: 'DELETE_MY_ACCOUNT' }, ...asking }),
})
export const { change, verify, resend, withdraw } = callsBy(call)
