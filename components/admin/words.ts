import type { ShownTask } from '@/contract/tasks'
import { capitalized } from '@/contract/words'

/** The values that are states, and their colors. */
export const TONES = {
  accepted: 'accent',
  calling: 'accent',
  completed: 'success',
  dead: 'danger',
  delivered: 'success',
  pending: 'neutral',
  present: 'danger',
  processing: 'accent',
  purged: 'neutral',
  unconfirmed: 'accent',
  waived: 'neutral',
} as const

export const attemptsOf = (tried: readonly { attempts: number }[]) =>
  tried.reduce((sum, { attempts }) => sum + attempts, 0)

/** Why a call got no answer, by the code of its failure, and what that has to do with the host. */
const CAUSES: [code: RegExp, cause: string, at: (host: string) => string][] = [
  [/^ECONNREFUSED$/, 'connection refused', (host) => `: nothing listens at ${host}`],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'unknown host', (host) => `: no address was found for ${host}`],
  [/^(ETIMEDOUT|timeout)$/, 'no answer in time', (host) => ` from ${host}`],
  [/CERT|VERIFY/, 'untrusted certificate', (host) => ` of ${host}`],
]
const causeOf = (code: string) => CAUSES.find(([pattern]) => pattern.test(code)) ?? []

export function noAnswer(code: string, host: string): string {
  const [, cause, at] = causeOf(code)
  return cause && at ? `${capitalized(cause)}${at(host)} (${code})` : `It did not answer: ${code}`
}

/** Of a task that failed without a bad answer. */
const RESULTS: Record<string, string> = {
  no_answer: 'no answer',
  no_report: 'no report in time',
  private_address: 'the endpoint has a private address, which is not called (private_address)',
  reported_failed: 'the app reported that it failed',
}

/** What came of the last attempt, in words; what is none of our codes says it itself. */
export function resultOf(lastError: string): string {
  const [, cause] = causeOf(lastError)
  return cause ? `${cause} (${lastError})` : (RESULTS[lastError] ?? lastError)
}

/** What to do where an application, or a step, fails. */
export const TRIES_ITSELF = 'It is tried again by itself; once the cause is fixed, a retry tries it at once.'

/** Whether the application has heard of the task, or was tried. */
export const isAsked = ({ state, attempts }: ShownTask) => state !== 'pending' || attempts > 0

/** Whether it is asked for the first time without anybody doing anything: not where it is disabled, or has to ask for its tasks itself. */
export const willBeCalled = (task: ShownTask) => !isAsked(task) && task.due_at !== null && !task.polls
