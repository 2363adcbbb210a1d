import * as z from 'zod'
import { contract, isStorable, STORABLE } from './define'
import { CONFIRMATION, RULES } from './errors'
import { authority, blocker, dateOrTime, hasVisible, isoDateTime, isWaived, maxLength, userId, VISIBLE } from './fields'
import { EXAMPLE_RECEIPT } from './receipt'
import { ABSENCES, CATEGORIES, CHOICES, KEPT_FOR, MAX_FEEDBACK_LENGTH, MAX_PREVIEWED, REASONS } from './vocabulary'

export const STEPS = ['user_profile', 'session_revocation', 'third_party_integrations', 'data_archives'] as const
export type Step = (typeof STEPS)[number]
/** The steps that erase: an application's deletion belongs to the window of one of them. */
export const APP_PHASES = STEPS.filter((step) => step !== 'session_revocation')
export const STEP_STATUSES = ['pending', 'processing', 'completed'] as const
export type StepStatus = (typeof STEP_STATUSES)[number]

const KEPT = {
  transaction_history: 'the transactions, with their amounts and states, stay',
  audit_logs: 'the log of what happened in the account stays',
  analytics: 'the statistics of how the account was used stay',
}
const keep = (what: keyof typeof KEPT) =>
  z
    .boolean(`REQUEST_001: data_retention.${what} must be true or false.`)
    .optional()
    .describe(`Whether ${KEPT[what]} until the retention ends, without the name`)
const feedback = z
  .string('REQUEST_001: feedback must be a string.')
  .refine(isStorable, 'REQUEST_001: feedback contains characters that cannot be stored.')
  .check(maxLength(MAX_FEEDBACK_LENGTH, `REQUEST_001: feedback has at most ${MAX_FEEDBACK_LENGTH} characters.`))
  .meta({ pattern: STORABLE })

/** The rule about reason and feedback runs only on values of these types. */
const withReasonOther = z.object({ reason: z.literal('other'), feedback: z.string().optional() })

export const withdrawBody = z
  .object({
    confirmation: z.literal(CONFIRMATION, 'WITHDRAWAL_001').describe(`Exactly ${CONFIRMATION}`),
    reason: z
      .enum(REASONS, `REQUEST_001: reason must be one of ${REASONS.join(', ')}.`)
      .optional()
      .describe('Why the person leaves'),
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
      .describe(
        'What the person chose to keep, under a pseudonym, until the retention ends; members left out mean: do not keep',
      ),
  })
  .refine(({ feedback }) => hasVisible(feedback ?? ''), {
    path: ['feedback'],
    message: `REQUEST_001: ${RULES.feedback}`,
    // Also runs when another field has failed, so that the form shows both faults at once.
    when: ({ value }) => withReasonOther.safeParse(value).success,
  })
  .meta({
    if: { properties: { reason: { enum: REASONS.filter((reason) => reason !== 'other') } } },
    else: { properties: { feedback: { pattern: VISIBLE } }, required: ['feedback'] },
  })

const step = z.object({
  step: z.enum(STEPS).describe('The deletion step'),
  status: z.enum(STEP_STATUSES).describe('How far it is'),
  completed_at: isoDateTime.optional().describe('Present when the step is completed'),
  estimated_completion: isoDateTime.optional().describe('Present while the step is processing or pending'),
})
const erased = z.object({
  category: z.enum(CATEGORIES).describe('The kind of data'),
  records: z.int().describe('How many records'),
})
const retained = erased.extend({
  reason: z.enum(KEPT_FOR).describe('What asks for it to stay'),
  until: isoDateTime.describe('When the retention purge deletes it'),
})
export const countedStep = step.extend({
  erased: z.array(erased).optional().describe('What a completed step deleted; absent where nobody counted it'),
  retained: z.array(retained).optional().describe('What stays under a pseudonym; absent where nobody counted it'),
})
const application = z.object({
  name: z.string().describe('As people read it'),
  status: z.enum(STEP_STATUSES).describe('How far its deletion is'),
  completed_at: isoDateTime.optional().describe('Present when it has deleted the user'),
  next_attempt_at: isoDateTime
    .optional()
    .describe(
      'When it is asked again, or should have reported by; absent while the application is disabled, or support decides',
    ),
  accepted_at: isoDateTime.optional().describe('Present once it has said that it will report later'),
  progress: z
    .object({
      done: z.int().describe('How much is done'),
      total: z.int().describe('Of how much'),
    })
    .optional()
    .describe('As it reported last; absent until it has'),
  retained: z
    .array(
      z.object({
        category: z.string().describe('The kind of data'),
        reason: z.string().describe('Why it stays'),
        until: dateOrTime.optional().describe('The last day, or when it ends, as it said; absent where it said none'),
      }),
    )
    .optional()
    .describe('What it keeps, as it reported; absent until it has'),
  absence: z
    .enum(ABSENCES)
    .optional()
    .describe(
      'Present once an application that confirms has said that it is done: whether it confirmed that the person is gone',
    ),
  waived: isWaived.optional().describe('Present where nobody waits for it any more; it may still have data'),
})

const dueBy = isoDateTime.describe(
  'The end of the period of the law, one calendar month unless the operator says otherwise',
)

const common = { scope: 'account:manage', forbidden: 'WITHDRAWAL_005' } as const
const exampleId = 'wd_4Qm9ZsX1cT7uYb2LhKpV0w'
const EXAMPLE_STEPS: Record<Step, Omit<z.output<typeof step>, 'step'>> = {
  user_profile: { status: 'processing', estimated_completion: '2026-11-20T10:00:00.000Z' },
  session_revocation: { status: 'completed', completed_at: '2026-11-20T09:00:00.000Z' },
  third_party_integrations: { status: 'pending', estimated_completion: '2026-11-21T09:00:00.000Z' },
  data_archives: { status: 'pending', estimated_completion: '2026-11-27T09:00:00.000Z' },
}
const EXAMPLE_PLAN: Record<Step, { begins_at: string; estimated_completion: string }> = {
  user_profile: { begins_at: '2026-11-20T09:05:00.000Z', estimated_completion: '2026-11-20T10:00:00.000Z' },
  session_revocation: { begins_at: '2026-11-20T09:00:00.000Z', estimated_completion: '2026-11-20T09:05:00.000Z' },
  third_party_integrations: {
    begins_at: '2026-11-20T10:00:00.000Z',
    estimated_completion: '2026-11-21T09:00:00.000Z',
  },
  data_archives: { begins_at: '2026-11-21T09:00:00.000Z', estimated_completion: '2026-11-27T09:00:00.000Z' },
}
const exampleSteps = STEPS.map((name) => ({ step: name, ...EXAMPLE_STEPS[name] }))

export const withdrawAccount = contract({
  ...common,
  name: 'withdrawAccount',
  summary: 'Withdraw Account',
  description:
    'Withdraws the account for good: it is off immediately, and its data is deleted step by step. The status token in the answer reads the progress from then on.',
  method: 'POST',
  path: '/users/{userId}/withdraw',
  params: z.object({ userId }),
  body: withdrawBody,
  data: z.object({
    withdrawal_id: z.string().describe('The withdrawal, `wd_…`'),
    status: z.enum(['processing', 'completed']).describe('`completed` once every step is'),
    scheduled_completion: isoDateTime.describe('When the last step should be done'),
    due_by: dueBy,
    data_retention_period: z.int().describe('Days until what is kept is purged'),
    deletion_steps: z.array(step).describe('Every deletion step'),
    receipt: z
      .string()
      .check(maxLength(200_000))
      .optional()
      .describe('The signed receipt of the acceptance, a JWS in compact form; absent with `LEDGER_BEFORE_ANSWER=0`'),
    status_token: z.string().describe('Reads the progress after everything else has ended, until the retention purge'),
  }),
  message: 'Your account is being deleted. This cannot be undone.',
  status: 202,
  location: '/users/{userId}/withdrawal/{withdrawal_id}',
  limit: { bucket: 'withdraw', countedBy: 'verb' },
  withdrawn: 'refused',
  waitsForLedger: true,
  errors: ['WITHDRAWAL_001', 'WITHDRAWAL_002', 'WITHDRAWAL_003', 'REAUTH_001', 'RATE_001'],
  example: {
    body: { confirmation: CONFIRMATION },
    data: {
      withdrawal_id: exampleId,
      status: 'processing',
      scheduled_completion: '2026-11-27T09:00:00.000Z',
      due_by: '2026-12-20T09:00:00.000Z',
      data_retention_period: 30,
      deletion_steps: exampleSteps,
      receipt: EXAMPLE_RECEIPT,
      status_token: 'wst_k2Jr0m3bUuVn6cXeQyHf8zTgPa5dSw1LiO7vEqBxN4M',
    },
  },
})

const truth = (name: string, what: string) =>
  z
    .enum(['true', 'false'], `REQUEST_001: ${name} must be true or false.`)
    .optional()
    .describe(`${what}; without it: false`)
const counted = z.object({
  category: z.enum(CATEGORIES).describe('The kind of data'),
  records: z.int().describe(`How many records; counts to ${MAX_PREVIEWED}`),
  more: z.literal(true).optional().describe('Present where there are more than `records`'),
})

export const EXAMPLE_AUTHORITY = { name: 'Data Protection Commission', url: 'https://authority.example.com/complain' }

export const previewWithdrawal = contract({
  ...common,
  name: 'previewWithdrawal',
  summary: 'Preview Withdrawal',
  description: 'Counts what a withdrawal would delete and keep, and says what holds it back. It starts nothing.',
  method: 'GET',
  path: '/users/{userId}/withdraw/preview',
  params: z.object({ userId }),
  query: z.object({
    analytics: truth('analytics', 'Whether analytics would be kept'),
    audit_logs: truth('audit_logs', 'Whether audit logs would be kept'),
    transaction_history: truth('transaction_history', 'Whether the transaction history would be kept'),
    ask: truth('ask', 'Whether applications that may hold a withdrawal back are asked'),
  }),
  data: z.object({
    address: z.string().describe('The address of the account; with the token of a mailed link it is masked'),
    allowed: z.boolean().describe('Whether nothing holds a withdrawal back now'),
    blockers: z.array(blocker).describe('What holds it back; all pending transactions are one entry'),
    deletion_steps: z
      .array(
        z.object({
          step: z.enum(STEPS).describe('The deletion step'),
          begins_at: isoDateTime.describe('When it would begin'),
          estimated_completion: isoDateTime.describe('When it should be done'),
        }),
      )
      .describe('When each step would run, if the withdrawal started now'),
    erased: z
      .array(counted.extend({ step: z.enum(STEPS).describe('The step that deletes it') }))
      .describe('What would be deleted'),
    retained: z
      .array(
        counted.extend({
          reason: z.enum(KEPT_FOR).describe('What asks for it to stay'),
          until: isoDateTime.describe('When the retention purge deletes it'),
        }),
      )
      .describe('What would stay, under a pseudonym'),
    data_retention_period: z.int().describe('Days until what is kept is purged'),
    applications: z
      .array(
        z.object({
          name: z.string().describe('As people read it'),
          acknowledges: z.enum(['at_once', 'later']).describe('Whether its answer ends its task, or a later report'),
        }),
      )
      .describe('Who would be asked to delete the user'),
    authority: authority.optional(),
    address_changed_at: isoDateTime
      .nullable()
      .describe('When the address was changed last; null for not in the last 30 days'),
    counted_at: isoDateTime.describe('A preview is no promise: what comes later is not counted'),
  }),
  limit: { bucket: 'preview' },
  errors: ['REQUEST_001', 'RATE_001'],
  example: {
    query: { audit_logs: 'true' },
    data: {
      address: 'ada@example.com',
      allowed: true,
      blockers: [],
      deletion_steps: STEPS.map((name) => ({ step: name, ...EXAMPLE_PLAN[name] })),
      erased: [
        { category: 'profile', records: 1, step: 'user_profile' },
        { category: 'sessions', records: 4, step: 'user_profile' },
        { category: 'analytics', records: MAX_PREVIEWED, more: true, step: 'data_archives' },
      ],
      retained: [{ category: 'security_incidents', records: 2, reason: 'law', until: '2026-12-20T09:00:00.000Z' }],
      data_retention_period: 30,
      applications: [{ name: 'Calendar', acknowledges: 'at_once' }],
      authority: EXAMPLE_AUTHORITY,
      address_changed_at: null,
      counted_at: '2026-11-20T09:00:00.000Z',
    },
  },
})

export const getWithdrawalStatus = contract({
  ...common,
  name: 'getWithdrawalStatus',
  summary: 'Check Withdrawal Status',
  description:
    'Shows how far each deletion step and each connected application is. The status token still reads it when every other token has ended.',
  method: 'GET',
  path: '/users/{userId}/withdrawal/{withdrawalId}',
  params: z.object({ userId, withdrawalId: z.string().describe('The withdrawal, `wd_…`') }),
  data: z.object({
    withdrawal_id: z.string().describe('The withdrawal, `wd_…`'),
    status: z.enum(['processing', 'completed']).describe('`completed` once every step is'),
    completed_at: isoDateTime.optional().describe('Absent until completed'),
    data_retention: z
      .object({
        audit_logs: z.boolean().describe('Whether audit logs are kept'),
        retention_period: z.int().describe('Days until what is kept is purged'),
      })
      .describe('What the person chose to keep'),
    kept_by_choice: z.array(z.enum(CHOICES)).describe('What the person chose to keep'),
    scheduled_completion: isoDateTime.describe('When the last step should be done'),
    due_by: dueBy,
    deletion_steps: z.array(countedStep).describe('Every deletion step, with what it counted'),
    applications: z.array(application).describe('How far each connected application is'),
    authority: authority.optional(),
  }),
  timestamp: false,
  limit: { bucket: 'read' },
  withdrawn: 'reads',
  errors: ['WITHDRAWAL_004', 'RATE_001'],
  example: {
    data: {
      withdrawal_id: exampleId,
      status: 'processing',
      data_retention: { audit_logs: false, retention_period: 30 },
      kept_by_choice: [],
      scheduled_completion: '2026-11-27T09:00:00.000Z',
      due_by: '2026-12-20T09:00:00.000Z',
      deletion_steps: exampleSteps.map((one) =>
        one.status === 'completed' ? { ...one, erased: [], retained: [] } : one,
      ),
      applications: [
        {
          name: 'Orders',
          status: 'processing',
          accepted_at: '2026-11-20T10:00:00.000Z',
          next_attempt_at: '2026-11-21T10:00:00.000Z',
          progress: { done: 3, total: 10 },
        },
      ],
      authority: EXAMPLE_AUTHORITY,
    },
  },
})
