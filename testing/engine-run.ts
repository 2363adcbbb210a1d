import { createHmac } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { listening } from './listening'

interface Op {
  id: string
  op: 'StepRun' | 'StepPlanned' | 'Sleep' | 'StepError' | 'StepFailed'
  name?: string
  data?: unknown
  error?: unknown
}

type Stored = { type: 'data'; data: unknown } | { type: 'error'; error: unknown }

/** The state of a run that an engine stores, which is all it needs to continue. */
export interface History {
  steps: Record<string, Stored>
  stack: string[]
}

export interface RunOptions {
  url: string | (() => string)
  functionId: string
  event: { name: string; data: Record<string, string> }
  /** Called with the time at which the function wants to continue; the test moves its clock. */
  sleepUntil: (at: Date) => void | Promise<void>
  /** Called for a sleep of this many milliseconds; without it such a sleep fails the run. */
  sleepFor?: (ms: number) => void | Promise<void>
  /** Called before the next try of a step that failed. */
  onStepError?: () => void
  /** Makes each call twice, as an engine does when an answer is lost. */
  repeatCalls?: boolean
  /** Called before a call without an answer is repeated; without it the run fails. */
  onNoAnswer?: () => Promise<void>
  /** The stored state of the run; the run adds to it. */
  history?: History
  /** The key that signs the calls; without it they are not signed. */
  signingKey?: string | undefined
}

/** The `x-inngest-signature` of a call whose body is `text`. */
export function signatureOf(text: string, signingKey: string, at = new Date()): string {
  const seconds = Math.round(at.getTime() / 1000)
  const key = signingKey.replace(/^signkey-\w+-/, '')
  return `t=${seconds}&s=${createHmac('sha256', key)
    .update(`${canonical(text)}${seconds}`)
    .digest('hex')}`
}

/** The canonical JSON of RFC 8785, for bodies of texts and whole numbers. This form is signed. */
function canonical(text: string): string {
  return JSON.stringify(JSON.parse(text), (_key, value) =>
    value && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )
}

/** The body of a call that goes on with a run. */
const bodyOf = ({ event }: RunOptions, { steps, stack }: History, attempt: number): string =>
  JSON.stringify({
    version: 2,
    event: { id: 'evt', ts: 0, ...event },
    events: [{ id: 'evt', ts: 0, ...event }],
    steps,
    ctx: {
      run_id: 'run',
      attempt,
      max_attempts: 11,
      disable_immediate_execution: false,
      use_api: false,
      stack: { stack, current: stack.length },
    },
  })

async function post({ url, functionId, signingKey }: RunOptions, body: string) {
  const response = await fetch(`${typeof url === 'string' ? url : url()}?fnId=${functionId}&stepId=step`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'x-inngest-req-version': '2',
      ...(signingKey && { 'x-inngest-signature': signatureOf(body, signingKey) }),
    },
    body,
  })
  return { status: response.status, json: (await response.json()) as unknown }
}

/** Drives one run as an Inngest server does, over HTTP and with its protocol (request version 2). */
export async function runFunction(options: RunOptions): Promise<{ result: unknown; steps: string[] }> {
  const history = options.history ?? { steps: {}, stack: [] }
  const names: string[] = []
  let attempt = 0
  for (let calls = 1; calls <= 200; calls++) {
    const body = bodyOf(options, history, attempt)
    const call = () => post(options, body)
    if (options.repeatCalls) await call()
    const { status, json } = await answered(call, options.onNoAnswer)
    if (status === 200) return { result: json, steps: names }
    if (status !== 206) throw new Error(`the function failed with ${status}`)
    for (const op of json as Op[]) {
      if (op.op === 'StepError') {
        attempt++
        options.onStepError?.()
        continue
      }
      if (op.op === 'Sleep') await sleep(options, op.name ?? '')
      history.steps[op.id] =
        op.op === 'StepFailed' ? { type: 'error', error: op.error } : { type: 'data', data: op.data ?? null }
      history.stack.push(op.id)
      names.push(op.name ?? op.op)
      attempt = 0
    }
  }
  throw new Error('the run did not end')
}

const UNIT_MS: Record<string, number> = { w: 604_800_000, d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 }

/** The name of a sleep is its end, or its length such as 1h30m. */
async function sleep({ sleepUntil, sleepFor }: RunOptions, name: string) {
  const parts = [...name.matchAll(/(\d+)([wdhms])/g)]
  if (parts.map(([part]) => part).join('') !== name) return sleepUntil(new Date(name))
  if (!sleepFor) throw new Error(`nothing was said about a sleep of ${name}`)
  return sleepFor(parts.reduce((ms, [, count, unit]) => ms + Number(count) * (UNIT_MS[unit ?? ''] ?? 0), 0))
}

async function answered<T>(call: () => Promise<T>, onNoAnswer: RunOptions['onNoAnswer']): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!onNoAnswer) throw error
      await onNoAnswer()
    }
  }
}

/** Serves the handler on a free port. */
export async function listen(
  handler: (request: Request) => Promise<Response>,
): Promise<{ url: string; server: Server }> {
  const server = createServer(getRequestListener(handler))
  const port = await listening(server)
  return { url: `http://127.0.0.1:${port}/api/inngest`, server }
}
