import type { ShownTask } from '@/contract/tasks'

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

/** Why a call got no answer, by the code of its failure. */
const CAUSES: [code: RegExp, sentence: (host: string) => string][] = [
  [/^ECONNREFUSED$/, (host) => `Connection refused: nothing listens at ${host}`],
  [/^(ENOTFOUND|EAI_AGAIN)$/, (host) => `Unknown host: no address was found for ${host}`],
  [/^(ETIMEDOUT|timeout)$/, (host) => `No answer in time from ${host}`],
  [/CERT|VERIFY/, (host) => `The certificate of ${host} is not trusted`],
]

export function noAnswer(code: string, host: string): string {
  const sentence = CAUSES.find(([pattern]) => pattern.test(code))?.[1](host)
  return sentence ? `${sentence} (${code})` : `It did not answer: ${code}`
}

/** Whether the application has heard of the task, or was tried. */
export const isAsked = ({ state, attempts }: ShownTask) => state !== 'pending' || attempts > 0

/** Whether it is asked for the first time without anybody doing anything: not where it is disabled, or has to ask for its tasks itself. */
export const willBeCalled = (task: ShownTask) => !isAsked(task) && task.due_at !== null && !task.polls
