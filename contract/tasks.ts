import * as z from 'zod'
import { contract, FOR_SERVICES, isStorable, STORABLE } from './define'
import { dateOrTime, isoDateTime, isWaived, maxLength, minLength, waiveReason } from './fields'
import { MAX_REPORT_BYTES } from './vocabulary'
import { STEPS } from './withdrawal'
import type { Trouble } from './words'

/** The states of a deletion task. `unconfirmed`: its absence check is open. `present`: the operator has to decide. */
export const TASK_STATES = ['pending', 'calling', 'accepted', 'unconfirmed', 'present', 'completed', 'waived'] as const
export type TaskState = (typeof TASK_STATES)[number]

const MAX_COUNT = 2_147_483_647
const MAX_WORD_LENGTH = 64
const MAX_RETAINED = 50
const MAX_TASKS = 100
const MAX_ID_LENGTH = 255
/** Printable ASCII. */
const WORD = `^[ -~]{1,${MAX_WORD_LENGTH}}$`

const count = (name: string) =>
  z
    .int(`REQUEST_001: ${name} must be a whole number.`)
    .min(0, `REQUEST_001: ${name} must not be negative.`)
    .max(MAX_COUNT, `REQUEST_001: ${name} is at most ${MAX_COUNT}.`)
const word = (name: string) =>
  z
    .string(`REQUEST_001: ${name} must be a string.`)
    .regex(new RegExp(WORD), `REQUEST_001: ${name} has 1 to ${MAX_WORD_LENGTH} printable ASCII characters.`)
const taskId = z
  .string()
  .check(maxLength(MAX_ID_LENGTH, 'TASK_001'))
  .refine(isStorable, 'TASK_001')
  .meta({ description: 'The task, `msg_…`', pattern: STORABLE })

const progress = z.object({ done: z.int(), total: z.int() })
/** A deletion task as operators see it, on the pages and from the command. */
export const shownTask = z.object({
  task_id: z.string(),
  withdrawal_id: z.string(),
  app_id: z.string(),
  name: z.string(),
  /** The deletion step that it belongs to. */
  phase: z.string(),
  state: z.enum(TASK_STATES),
  /** Nothing is sent to it, so that `due_at` is null. */
  is_app_disabled: z.boolean(),
  /** It asks for its tasks, and nothing is sent to it. */
  polls: z.boolean(),
  /** When the withdrawal began. */
  started_at: isoDateTime,
  attempts: z.int(),
  due_at: isoDateTime.nullable(),
  accepted_at: isoDateTime.nullable(),
  progress: progress.nullable(),
  last_error: z.string().nullable(),
  /** The first try without a good answer; null where the last answer was good. */
  failing_since: isoDateTime.nullable(),
  /** When somebody last had it tried again; null where it has not failed since. */
  retried_at: isoDateTime.nullable(),
  /** The application's own code of the last failure. */
  failure_code: z.string().nullable(),
  /** When the application said that it is done. */
  completed_at: isoDateTime.nullable(),
  /** How often it answered an absence check that it still has the person. */
  times_present: z.int(),
  /** When it confirmed that it no longer has the person. */
  absent_at: isoDateTime.nullable(),
  waived: isWaived.nullable(),
  /** Those that are registered with the application, each `code=sentence`. */
  waive_reasons: z.array(z.string()),
})
export type ShownTask = z.input<typeof shownTask>

/** Its last call or check had no good answer, also while it is called again. Of the other states each says by itself what is wrong. */
export const isFailing = ({ state, attempts, last_error }: ShownTask) =>
  ['pending', 'calling', 'unconfirmed'].includes(state) && attempts > 0 && last_error !== null

/** Whether it is neither completed nor waived. */
export const isOpen = ({ state }: Pick<ShownTask, 'state'>) => state !== 'completed' && state !== 'waived'

/** Its application fetches its tasks itself, and has left this one. */
export const isLeft = ({ polls, state, due_at }: ShownTask, now: Date) =>
  polls && state === 'pending' && due_at !== null && Date.parse(due_at) <= now.getTime()

/** What is wrong with a deletion task, before its state. */
export function troubleOf(task: ShownTask, now: Date): Trouble | null {
  if (isLeft(task, now)) return 'not_fetched'
  if (task.is_app_disabled && isOpen(task)) return 'app_disabled'
  return isFailing(task) && task.state !== 'calling' ? 'failing' : null
}

/** The answer of an application to an absence check; nothing else counts as an answer. */
export const absenceAnswer = z.discriminatedUnion('present', [
  z.object({ present: z.literal(false), account: z.string() }),
  z.object({ present: z.literal(true), account: z.string().nullish() }),
])

export const reportOnTask = contract({
  name: 'reportOnTask',
  summary: 'Report on a Deletion Task',
  description: 'Says how far the deletion of one person is. The task brings the token for this call.',
  method: 'POST',
  path: '/tasks/{taskId}',
  scope: null,
  forbidden: 'TASK_001',
  maxBodyBytes: MAX_REPORT_BYTES,
  params: z.object({ taskId }),
  body: z.object({
    status: z
      .enum(['processing', 'completed', 'failed'], 'REQUEST_001: status must be processing, completed or failed.')
      .describe('`processing` also says that the task is still worked on; after `failed` it is asked for again'),
    progress: z
      .object(
        {
          done: count('progress.done').describe('How much is done'),
          total: count('progress.total').describe('Of how much'),
        },
        'REQUEST_001: progress must be an object.',
      )
      .refine(({ done, total }) => done <= total, 'REQUEST_001: progress.done must not be above progress.total.')
      .optional()
      .describe('Must not go back within a try'),
    records: count('records').optional().describe('How many records were erased'),
    retained: z
      .array(
        z.object(
          {
            category: word('retained.category').describe(
              'One of the categories that are registered for the application',
            ),
            reason: word('retained.reason').describe('One of the reasons that are registered for the application'),
            until: dateOrTime.optional().describe('The last day, or when it ends'),
          },
          'REQUEST_001: retained must hold objects.',
        ),
        'REQUEST_001: retained must be a list.',
      )
      .check(maxLength(MAX_RETAINED, `REQUEST_001: retained has at most ${MAX_RETAINED} members.`))
      .optional()
      .describe('What has to stay, and why'),
    code: word('code').optional().describe('Your own code of a failure; operators alone read it'),
  }),
  data: z.object({
    task_id: z.string().describe('The task, `msg_…`'),
    status: z.enum(TASK_STATES).describe('How far it is now'),
  }),
  message: 'The report was noted.',
  limit: { bucket: 'report', countedBy: 'verb' },
  errors: ['TASK_001', 'TASK_002', 'RATE_001'],
  example: {
    body: { status: 'completed', records: 12 },
    data: { task_id: 'msg_4Qm9ZsX1cT7uYb2LhKpV0w_app_7Yb3nLhRpV0a5Tq8wZ1cXk', status: 'accepted' },
  },
})

export const takeTasks = contract({
  ...FOR_SERVICES,
  name: 'takeTasks',
  summary: 'Take Due Deletion Tasks',
  description:
    'Takes due deletion tasks of an application that polls, with a service token that was made for it. They are its own for 60 seconds.',
  method: 'GET',
  path: '/admin/tasks',
  scope: 'tasks:work',
  params: z.object({}),
  query: z.object({
    app: z
      .string('REQUEST_001: app must be the id of one application.')
      .check(minLength(1, 'REQUEST_001: app must be the id of one application.'))
      .check(maxLength(MAX_ID_LENGTH, 'REQUEST_001: app must be the id of one application.'))
      .refine(isStorable, 'REQUEST_001: app must be the id of one application.')
      .meta({ description: 'The application, `app_…`', pattern: STORABLE }),
    limit: z
      .string(`REQUEST_001: limit must be a whole number from 1 to ${MAX_TASKS}.`)
      .regex(/^([1-9]\d?|100)$/, `REQUEST_001: limit must be a whole number from 1 to ${MAX_TASKS}.`)
      .optional()
      .describe(`How many at most, from 1 to ${MAX_TASKS}; 10 when left out`),
  }),
  data: z.object({
    tasks: z
      .array(
        z.object({
          id: z.string().describe('The task, `msg_…`'),
          withdrawal_id: z.string().describe('The withdrawal, `wd_…`'),
          subject: z.string().describe('By what the application knows the person'),
          account: z.string().describe('The account, `usr_…`; another account may have the same subject later'),
          phase: z.enum(STEPS).describe('The deletion step that it belongs to'),
          due_by: isoDateTime.describe('When the deletion should be done'),
          report_to: z.string().describe('Where its reports go'),
          report_token: z.string().describe('The token for them, `dtk_…`'),
          attempt: z.int().describe('Counts the tries of this task'),
        }),
      )
      .describe('Yours for 60 seconds; a report keeps them'),
  }),
  errors: ['REQUEST_001', 'RATE_001'],
  meanings: {
    AUTH_002: `${FOR_SERVICES.meanings.AUTH_002} The token has to be that of this application, registered with --poll.`,
  },
  example: {
    query: { app: 'app_7Yb3nLhRpV0a5Tq8wZ1cXk', limit: '10' },
    data: {
      tasks: [
        {
          id: 'msg_4Qm9ZsX1cT7uYb2LhKpV0w_app_7Yb3nLhRpV0a5Tq8wZ1cXk',
          withdrawal_id: 'wd_4Qm9ZsX1cT7uYb2LhKpV0w',
          subject: 'customer-42',
          account: 'usr_5Tq8wZ1cXk7Yb3nLhRpV0a',
          phase: 'third_party_integrations',
          due_by: '2026-11-21T09:00:00.000Z',
          report_to: 'https://accounts.example.com/api/v1/tasks/msg_4Qm9ZsX1cT7uYb2LhKpV0w_app_7Yb3nLhRpV0a5Tq8wZ1cXk',
          report_token: 'dtk_k2Jr0m3bUuVn6cXeQyHf8zTgPa5dSw1LiO7vEqBxN4M',
          attempt: 1,
        },
      ],
    },
  },
})

export const waiveTask = contract({
  ...FOR_SERVICES,
  name: 'waiveTask',
  operator: 'fresh',
  summary: 'Waive a Deletion Task',
  description: 'Stops waiting for a deletion task; the withdrawal goes on without it.',
  method: 'POST',
  path: '/admin/tasks/{taskId}/waive',
  scope: 'apps:manage',
  params: z.object({ taskId }),
  body: z.object({
    reason: waiveReason.describe(
      'Why nobody waits for the application any more, as the person reads it: `gone`, `refused`, `unreachable`, or a code of its `waive_reasons`',
    ),
  }),
  data: z.object({
    task_id: z.string().describe('The task, `msg_…`'),
    status: z.enum(TASK_STATES).describe('How far it is now'),
    waived: isWaived.describe('That nobody waits for it any more'),
  }),
  message: 'Nobody waits for this task any more.',
  errors: ['TASK_001', 'TASK_002', 'RATE_001'],
  example: {
    body: { reason: 'gone' },
    data: {
      task_id: 'msg_4Qm9ZsX1cT7uYb2LhKpV0w_app_7Yb3nLhRpV0a5Tq8wZ1cXk',
      status: 'waived',
      waived: { reason: 'gone', at: '2026-11-25T09:00:00.000Z' },
    },
  },
})

/** Optional, because an instance of the last release does not tell it. */
export const retried = z
  .boolean()
  .optional()
  .describe(
    'False where nothing has failed: what was never tried keeps its time; absent from an instance of the last release',
  )
/** The message of a retry, whatever came of it. */
export const RETRIED =
  'What has failed is tried within a minute; a disabled application is asked once it is enabled. What was never tried keeps its time.'

export const retryTask = contract({
  ...FOR_SERVICES,
  name: 'retryTask',
  operator: 'any',
  summary: 'Retry a Deletion Task',
  description:
    'Asks the application again at once, whatever it has reported. A task whose time has not come keeps its time.',
  method: 'POST',
  path: '/admin/tasks/{taskId}/retry',
  scope: 'apps:manage',
  params: z.object({ taskId }),
  data: z.object({ task_id: z.string().describe('The task, `msg_…`'), retried }),
  message: RETRIED,
  errors: ['TASK_001', 'TASK_002', 'RATE_001'],
  example: { data: { task_id: 'msg_4Qm9ZsX1cT7uYb2LhKpV0w_app_7Yb3nLhRpV0a5Tq8wZ1cXk', retried: true } },
})
