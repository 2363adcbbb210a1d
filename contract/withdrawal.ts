import { z } from 'zod'
import { contract, isStorable, lengthOf, STORABLE } from './define'
import { CONFIRMATION } from './errors'
import { isoDateTime, userId } from './fields'
import { MAX_FEEDBACK_LENGTH, REASONS } from './vocabulary'

export type Reason = keyof typeof REASONS
const REASON_CODES = Object.keys(REASONS) as [Reason, ...Reason[]]

export const STEPS = ['user_profile', 'session_revocation', 'third_party_integrations', 'data_archives'] as const
export type Step = (typeof STEPS)[number]
export const STEP_STATUSES = ['pending', 'processing', 'completed'] as const
export type StepStatus = (typeof STEP_STATUSES)[number]

const keep = (what: string) =>
  z.boolean(`REQUEST_001: data_retention.${what} must be true or false.`).optional().describe(`Keep ${what}`)
const feedback = z
  .string('REQUEST_001: feedback must be a string.')
  .refine(isStorable, 'REQUEST_001: feedback contains characters that cannot be stored.')
  .refine(
    (text) => lengthOf(text) <= MAX_FEEDBACK_LENGTH,
    `REQUEST_001: feedback has at most ${MAX_FEEDBACK_LENGTH} characters.`,
  )
  .meta({ maxLength: MAX_FEEDBACK_LENGTH, pattern: STORABLE })
/** Neither white space nor a formatting character, for the API description. */
const VISIBLE = String.raw`[^\s\u00AD\u0600-\u0605\u061C\u06DD\u070F\u0890-\u0891\u08E2\u180E\u200B-\u200F\u202A-\u202E\u2060-\u2064\u2066-\u206F\uFEFF\uFFF9-\uFFFB]`

/** The rule about reason and feedback runs only on values of these types. */
const withReasonOther = z.object({ reason: z.literal('other'), feedback: z.string().optional() })

export const withdrawBody = z
  .object({
    confirmation: z.literal(CONFIRMATION, 'WITHDRAWAL_001').describe(`Exactly ${CONFIRMATION}`),
    reason: z.enum(REASON_CODES, `REQUEST_001: reason must be one of ${REASON_CODES.join(', ')}.`).optional(),
    feedback: feedback
      .optional()
      .describe(`At most ${MAX_FEEDBACK_LENGTH} characters (Unicode code points); required when reason is other`),
    data_retention: z
      .object(
        {
          analytics: keep('analytics'),
          audit_logs: keep('audit_logs'),
          transaction_history: keep('transaction_history'),
        },
        'REQUEST_001: data_retention must be an object.',
      )
      .optional()
      .describe('What to keep, under a pseudonym, until the retention ends; members left out mean: do not keep'),
  })
  .refine(({ feedback }) => /[^\s\p{Cf}]/u.test(feedback ?? ''), {
    path: ['feedback'],
    message: 'REQUEST_001: feedback is required when reason is other.',
    // Also runs when another field has failed, so that the form shows both faults at once.
    when: ({ value }) => withReasonOther.safeParse(value).success,
  })
  .meta({
    anyOf: [
      {
        type: 'object',
        properties: { reason: { type: 'string', enum: REASON_CODES.filter((reason) => reason !== 'other') } },
      },
      {
        type: 'object',
        properties: { reason: { type: 'string', const: 'other' }, feedback: { type: 'string', pattern: VISIBLE } },
        required: ['reason', 'feedback'],
      },
    ],
  })

const step = z.object({
  step: z.enum(STEPS),
  status: z.enum(STEP_STATUSES),
  completed_at: isoDateTime.optional().describe('Present when the step is completed'),
  estimated_completion: isoDateTime.optional().describe('Present while the step is processing or pending'),
})
const application = z.object({
  name: z.string(),
  status: z.enum(STEP_STATUSES),
  completed_at: isoDateTime.optional(),
  next_attempt_at: isoDateTime.optional(),
})

const common = { scope: 'account:manage', forbidden: 'WITHDRAWAL_005' } as const
const exampleId = 'wd_4Qm9ZsX1cT7uYb2LhKpV0w'
const EXAMPLE_STEPS: Record<Step, Omit<z.output<typeof step>, 'step'>> = {
  user_profile: { status: 'processing', estimated_completion: '2026-11-20T10:00:00.000Z' },
  session_revocation: { status: 'completed', completed_at: '2026-11-20T09:00:00.000Z' },
  third_party_integrations: { status: 'pending', estimated_completion: '2026-11-21T09:00:00.000Z' },
  data_archives: { status: 'pending', estimated_completion: '2026-11-27T09:00:00.000Z' },
}
const exampleSteps = STEPS.map((name) => ({ step: name, ...EXAMPLE_STEPS[name] }))

export const withdrawAccount = contract({
  ...common,
  name: 'withdrawAccount',
  summary: 'Withdraw Account',
  method: 'POST',
  path: '/users/{userId}/withdraw',
  params: z.object({ userId }),
  body: withdrawBody,
  data: z.object({
    withdrawal_id: z.string(),
    status: z.enum(['processing', 'completed']),
    scheduled_completion: isoDateTime,
    data_retention_period: z.int().describe('Days'),
    deletion_steps: z.array(step),
    status_token: z.string().describe('Reads the progress after everything else has ended, until the retention purge'),
  }),
  message: 'Your account is being deleted. This cannot be undone.',
  status: 202,
  location: '/users/{userId}/withdrawal/{withdrawal_id}',
  limit: { bucket: 'withdraw', takenBy: 'verb' },
  withdrawn: 'refused',
  errors: ['WITHDRAWAL_001', 'WITHDRAWAL_002', 'WITHDRAWAL_003', 'REAUTH_001', 'RATE_001'],
  example: {
    body: { confirmation: CONFIRMATION, reason: 'no_longer_needed', data_retention: { audit_logs: true } },
    data: {
      withdrawal_id: exampleId,
      status: 'processing',
      scheduled_completion: '2026-11-27T09:00:00.000Z',
      data_retention_period: 30,
      deletion_steps: exampleSteps,
      status_token: 'wst_k2Jr0m3bUuVn6cXeQyHf8zTgPa5dSw1LiO7vEqBxN4M',
    },
  },
})

export const getWithdrawalStatus = contract({
  ...common,
  name: 'getWithdrawalStatus',
  summary: 'Check Withdrawal Status',
  method: 'GET',
  path: '/users/{userId}/withdrawal/{withdrawalId}',
  params: z.object({ userId, withdrawalId: z.string().describe('The withdrawal, `wd_…`') }),
  data: z.object({
    withdrawal_id: z.string(),
    status: z.enum(['processing', 'completed']),
    completed_at: isoDateTime.optional().describe('Absent until completed'),
    data_retention: z.object({ audit_logs: z.boolean(), retention_period: z.int().describe('Days') }),
    scheduled_completion: isoDateTime,
    deletion_steps: z.array(step),
    applications: z.array(application).describe('How far each connected application is'),
  }),
  timestamp: false,
  limit: { bucket: 'read' },
  withdrawn: 'reads',
  errors: ['WITHDRAWAL_004', 'RATE_001'],
  example: {
    data: {
      withdrawal_id: exampleId,
      status: 'processing',
      data_retention: { audit_logs: true, retention_period: 30 },
      scheduled_completion: '2026-11-27T09:00:00.000Z',
      deletion_steps: exampleSteps,
      applications: [{ name: 'Calendar', status: 'pending' }],
    },
  },
})
