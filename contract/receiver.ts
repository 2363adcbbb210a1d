import type * as z from 'zod'
import { toApiError } from './client'
import { noAnswer } from './errors'
import type { reportOnTask } from './tasks'

/** The body of a report; see `POST /api/v1/tasks/{taskId}`. */
export type TaskReport = z.input<typeof reportOnTask.body>

/** A deletion task that may be reported on later. Keep it until the deletion is done. */
export interface DeletionTask {
  id: string
  /** ISO 8601: when the deletion should be done. */
  due_by: string
  report_to: string
  report_token: string
}

export interface AccountMessage {
  /** Such as account.withdrawn; a newer service may send types that this code does not know. */
  type: string
  /** ISO 8601: when it happened. */
  timestamp: string
  data: Record<string, unknown> & {
    /** The id by which you know the person. */
    subject: string
    /** The account, `usr_…`. Keep it: whoever comes back after a deletion has another account with the same subject. */
    account: string
    withdrawal_id?: string
    /** Rises with every change of the account. */
    version?: number
    task?: DeletionTask
  }
}

/** `done` ends the task; `later` accepts it, and a report has to end it. A deletion without a task can only be `done`. */
export type Outcome = 'done' | 'later'

/**
 * What holds a withdrawal back, in words for the person. A `url` must be https and of a host that is registered for the
 * application.
 */
export interface HeldBack {
  code: string
  title: string
  url?: string | null
  /** What has to be paid, in the smallest unit of the currency. */
  amount?: { minor_units: number; currency: string } | null
}

export interface ReceiverOptions {
  /** The signing secret, `whsec_…`; after a rotation the old and the new one. */
  secrets: string | readonly string[]
  /** Does what the message asks for. If it throws, the answer is 500, and the message comes again. */
  handle(message: AccountMessage, id: string): Promise<Outcome> | Outcome
  /** For an application that is registered with `checks`: lists what holds the withdrawal of this person back now; changes nothing. */
  check?(subject: string, account: string): Promise<HeldBack[]> | HeldBack[]
  /**
   * For an application that is registered with `confirms`: whether it still has anything of this account. By the account alone, because
   * whoever came back after a deletion has the same subject.
   */
  isPresent?(account: string): Promise<boolean> | boolean
  /** Stores the ids of messages that are done, so that a repeated one is only answered. By default the last 10,000 stay in memory. */
  done?: { has(id: string): Promise<boolean> | boolean; add(id: string): Promise<unknown> | unknown }
  /**
   * `isNewest` keeps the version of an account unless a newer one is known, and returns whether it did. A change of an address that is older
   * than the known one is not handed on. By default the versions of the last 10,000 accounts stay in memory.
   */
  versions?: { isNewest(account: string, version: number): Promise<boolean> | boolean }
  /** The maximum difference between the clocks; five minutes by default. */
  toleranceSeconds?: number
  /** In milliseconds. */
  now?: () => number
}

const NO_TASK =
  "This deletion has no task, so it cannot be answered with 'later'. Register the application with --acknowledges later, or delete at once."
const MAX_REMEMBERED = 10_000
const MAX_BODY_BYTES = 64 * 1024
/** All other messages may come in any order. */
const SETS_ADDRESS = ['account.email_changed', 'account.email_reverted']
const ENDS_ACCOUNT = ['account.withdrawal_started', 'account.withdrawn']

/**
 * The handler for the service's requests. It verifies each message, skips those that are done or set an older address than the known one,
 * and calls `handle` for the others: once for each id, and one after the other for each account. A deletion is handled whenever it comes
 * again, because then its answer was lost, or something of the account was still there.
 */
export function createReceiver(options: ReceiverOptions): (request: Request) => Promise<Response> {
  const done = options.done ?? rememberLast(MAX_REMEMBERED)
  const versions = options.versions ?? rememberVersions(MAX_REMEMBERED)
  const active = new Map<string, Promise<Outcome>>()
  const turns = new Map<string, Promise<unknown>>()

  async function isStale({ type, data: { account, version } }: AccountMessage): Promise<boolean> {
    if (ENDS_ACCOUNT.includes(type)) await versions.isNewest(account, Number.MAX_SAFE_INTEGER)
    return SETS_ADDRESS.includes(type) && version !== undefined && !(await versions.isNewest(account, version))
  }
  async function handle(id: string, message: AccountMessage): Promise<Outcome> {
    const outcome = (await isStale(message)) ? 'done' : await options.handle(message, id)
    if (outcome === 'done') await done.add(id)
    return outcome
  }
  /** In the turn of its account, so that an older message cannot end after a newer one. */
  function handleInTurn(id: string, message: AccountMessage): Promise<Outcome> {
    const { account } = message.data
    const before = turns.get(account) ?? Promise.resolve()
    const turn = before.catch(() => {}).then(() => handle(id, message))
    turns.set(account, turn)
    return turn.finally(() => turns.get(account) === turn && turns.delete(account))
  }
  function handleOnce(id: string, message: AccountMessage): Promise<Outcome> {
    const running = active.get(id) ?? handleInTurn(id, message).finally(() => active.delete(id))
    active.set(id, running)
    return running
  }
  return async (request) => {
    const body = await readBody(request)
    if (body === undefined) return new Response(null, { status: 413 })
    if (!(await isSigned(request.headers, body, options))) return new Response(null, { status: 401 })
    const id = request.headers.get('webhook-id') as string
    try {
      const message = JSON.parse(body) as AccountMessage
      if (message.type !== 'account.withdrawn' && (await done.has(id))) return new Response(null, { status: 200 })
      if (message.type === 'account.withdrawal_check') {
        // Without an answer nobody can be withdrawn, but an empty list would say that nothing holds the withdrawal back.
        if (!options.check) return new Response(null, { status: 501 })
        return Response.json({ blockers: await options.check(message.data.subject, message.data.account) })
      }
      if (message.type === 'account.absence_check') {
        // Nobody may say for the application that it has nothing.
        if (!options.isPresent) return new Response(null, { status: 501 })
        const { account } = message.data
        return Response.json({ present: await options.isPresent(account), account })
      }
      const outcome = await handleOnce(id, message)
      // The service would take 202 for the end of it.
      if (outcome === 'later' && message.type === 'account.withdrawn' && !message.data.task) {
        return new Response(NO_TASK, { status: 500 })
      }
      return new Response(null, { status: outcome === 'done' ? 200 : 202 })
    } catch {
      return new Response(null, { status: 500 })
    }
  }
}

/** Reports on a deletion. A refusal throws an ApiError; a report that got no answer can be sent again. */
export async function reportTask(
  task: Pick<DeletionTask, 'report_to' | 'report_token'>,
  report: TaskReport,
  send: typeof fetch = fetch,
): Promise<void> {
  const headers = { Authorization: `Bearer ${task.report_token}`, 'Content-Type': 'application/json' }
  const init: RequestInit = { method: 'POST', headers, body: JSON.stringify(report), redirect: 'error' }
  const response = await send(task.report_to, init).catch(() => undefined)
  if (!response) throw noAnswer()
  if (!response.ok) throw toApiError(response, await response.json().catch(() => undefined))
}

/** Whether one of the secrets has signed this body, by the scheme v1 of Standard Webhooks. */
export async function isSigned(
  headers: Headers,
  body: string,
  { secrets, toleranceSeconds = 300, now = Date.now }: Pick<ReceiverOptions, 'secrets' | 'toleranceSeconds' | 'now'>,
): Promise<boolean> {
  const [id, timestamp] = [headers.get('webhook-id'), headers.get('webhook-timestamp') ?? '']
  const isInTime = /^\d{1,12}$/.test(timestamp) && Math.abs(now() / 1000 - Number(timestamp)) <= toleranceSeconds
  if (!id || !isInTime) return false
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  const signatures = (headers.get('webhook-signature') ?? '').split(' ').flatMap((one) => {
    const [, text] = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(one) ?? []
    return text ? [toBytes(text)] : []
  })
  for (const secret of [secrets].flat()) {
    const bytes = toBytes(secret.replace(/^whsec_/, ''))
    const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
    for (const signature of signatures) if (await crypto.subtle.verify('HMAC', key, signature, signed)) return true
  }
  return false
}

/** Nobody has signed anything yet, so that a longer body is not read to its end. */
async function readBody({ body }: Request): Promise<string | undefined> {
  const decoder = new TextDecoder()
  let [text, size] = ['', 0]
  for await (const part of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += part.length
    if (size > MAX_BODY_BYTES) return undefined
    text += decoder.decode(part, { stream: true })
  }
  return text + decoder.decode()
}

const toBytes = (base64: string) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))

function rememberLast(count: number) {
  const ids = new Set<string>()
  return {
    has: (id: string) => ids.has(id),
    add: (id: string) => forgetOldest(ids.add(id), count),
  }
}

function rememberVersions(count: number) {
  const newest = new Map<string, number>()
  return {
    isNewest(account: string, version: number) {
      const known = newest.get(account) ?? version
      newest.delete(account)
      forgetOldest(newest.set(account, Math.max(known, version)), count)
      return version >= known
    },
  }
}

function forgetOldest(known: Set<string> | Map<string, unknown>, count: number) {
  const [oldest] = known.keys()
  if (known.size > count && oldest !== undefined) known.delete(oldest)
}
