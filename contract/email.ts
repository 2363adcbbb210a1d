import { z } from 'zod'
import { ADDRESS_PATTERN, MAX_ADDRESS_LENGTH, parseAddress } from './address'
import { contract, isStorable, lengthOf, STORABLE } from './define'
import { isoDateTime, userId } from './fields'
import { CHANGE_REQUEST_ID, DEFAULT_VERIFICATION_METHOD, VERIFICATION_CODE, VERIFICATION_METHODS } from './vocabulary'

export type VerificationMethod = (typeof VERIFICATION_METHODS)[number]

const method = z
  .enum(VERIFICATION_METHODS, `REQUEST_001: verification_method must be ${VERIFICATION_METHODS.join(' or ')}.`)
  .describe('Which of the two comes first in the message. Every message carries both.')
const changeRequestId = z
  .string('EMAIL_006')
  .regex(CHANGE_REQUEST_ID, 'EMAIL_006')
  .describe('The change request, `ecr_…`')
const verificationCode = z
  .string('EMAIL_003')
  .regex(VERIFICATION_CODE, 'EMAIL_003')
  .describe('The 6 digits from the newest message')

/** In code points. */
export const MAX_PASSWORD_LENGTH = 1024

export const newEmail = z
  .string('EMAIL_001')
  .max(MAX_ADDRESS_LENGTH, 'EMAIL_001')
  .refine((text) => parseAddress(text) !== null, 'EMAIL_001')
  .meta({
    description: `The address to change to; at most ${MAX_ADDRESS_LENGTH} characters`,
    format: 'idn-email',
    minLength: 'a@b.c'.length,
    pattern: ADDRESS_PATTERN,
  })
export const currentPassword = z
  .string('REQUEST_001: current_password must be a string.')
  .min(1, 'REQUEST_001: current_password must not be empty.')
  .refine(
    (text) => lengthOf(text) <= MAX_PASSWORD_LENGTH,
    `REQUEST_001: current_password has at most ${MAX_PASSWORD_LENGTH} characters.`,
  )
  .refine(isStorable, 'REQUEST_001: current_password contains characters that no password can have.')
  .meta({
    description: "The user's current password, unmodified",
    maxLength: MAX_PASSWORD_LENGTH,
    pattern: STORABLE,
  })

/** One of the two; a value of a wrong type has been refused by its own field. */
const hasProof = (body: object) =>
  ('current_password' in body && body.current_password !== undefined) ||
  ('reauthentication' in body && body.reauthentication !== undefined)
const changeBody = z
  .object({
    new_email: newEmail,
    current_password: currentPassword.optional(),
    verification_method: method.default(DEFAULT_VERIFICATION_METHOD),
    reauthentication: z
      .literal('fresh_sign_in', 'REQUEST_001: reauthentication must be fresh_sign_in.')
      .optional()
      .describe('In place of current_password, for an account that has none'),
  })
  .refine(hasProof, {
    path: ['current_password'],
    message: 'REQUEST_001: current_password must be a string.',
    // Reported together with the faults of other fields, so it also runs when one of them has failed.
    when: ({ value }) => typeof value === 'object' && value !== null,
  })
  .meta({
    anyOf: [
      { type: 'object', required: ['current_password'] },
      { type: 'object', required: ['reauthentication'] },
    ],
  })

const params = z.object({ userId })
const common = { scope: 'email:manage', forbidden: 'AUTH_002', params } as const
const exampleId = 'ecr_7Yc1fVn0Qk2mXh3rTzB8dA'

export const changeEmail = contract({
  ...common,
  name: 'changeEmail',
  summary: 'Change Email Address',
  method: 'POST',
  path: '/users/{userId}/email/change',
  body: changeBody,
  data: z.object({
    change_request_id: z.string(),
    status: z.literal('pending_verification'),
    new_email: z.string(),
    verification_method: z.enum(VERIFICATION_METHODS),
    verification_expires_at: isoDateTime,
    current_email_retained: z.literal(true),
  }),
  message: 'We sent a message to the new address. Your current address stays in effect until you verify the new one.',
  errors: ['EMAIL_001', 'EMAIL_002', 'EMAIL_007', 'EMAIL_008', 'EMAIL_009', 'REAUTH_001'],
  example: {
    body: {
      new_email: 'ada.new@example.com',
      current_password: 'correct horse battery',
      verification_method: DEFAULT_VERIFICATION_METHOD,
    },
    data: {
      change_request_id: exampleId,
      status: 'pending_verification',
      new_email: 'ada.new@example.com',
      verification_method: DEFAULT_VERIFICATION_METHOD,
      verification_expires_at: '2026-11-20T21:00:00.000Z',
      current_email_retained: true,
    },
  },
})

export const verifyEmail = contract({
  ...common,
  name: 'verifyEmail',
  summary: 'Verify Email Address',
  method: 'POST',
  path: '/users/{userId}/email/verify',
  body: z.object({ change_request_id: changeRequestId, verification_code: verificationCode }),
  // The verb reports an expired or exhausted request before a wrong code, so it receives a malformed code as '' and judges it itself.
  accepts: z.object({ change_request_id: changeRequestId, verification_code: verificationCode.catch('') }),
  data: z.object({
    email_verified: z.literal(true),
    new_email: z.string(),
    changed_at: isoDateTime,
    notification_sent: z.boolean(),
  }),
  message: 'Your email address has been changed.',
  limit: { bucket: 'verify', takenBy: 'verb', countsMalformed: true },
  errors: ['EMAIL_002', 'EMAIL_003', 'EMAIL_004', 'EMAIL_005', 'EMAIL_006', 'RATE_001'],
  example: {
    body: { change_request_id: exampleId, verification_code: '042137' },
    data: {
      email_verified: true,
      new_email: 'ada.new@example.com',
      changed_at: '2026-11-20T09:12:00.000Z',
      notification_sent: true,
    },
  },
})

export const getEmailStatus = contract({
  ...common,
  name: 'getEmailStatus',
  summary: 'Check Email Status',
  method: 'GET',
  path: '/users/{userId}/email/status',
  data: z.object({
    current_email: z.string(),
    email_verified: z.boolean(),
    verified_at: isoDateTime.nullable(),
    pending_change: z.object({
      has_pending: z.boolean(),
      new_email: z.string().nullable(),
      requested_at: isoDateTime.nullable(),
      expires_at: isoDateTime.nullable(),
      change_request_id: z.string().nullable(),
      verification_method: z.enum(VERIFICATION_METHODS).nullable(),
      attempts_remaining: z.int().nullable(),
      resend_available_at: isoDateTime.nullable(),
    }),
  }),
  limit: { bucket: 'read' },
  errors: ['RATE_001'],
  example: {
    data: {
      current_email: 'ada@example.com',
      email_verified: true,
      verified_at: '2026-01-05T10:00:00.000Z',
      pending_change: {
        has_pending: true,
        new_email: 'ada.new@example.com',
        requested_at: '2026-11-20T09:00:00.000Z',
        expires_at: '2026-11-20T21:00:00.000Z',
        change_request_id: exampleId,
        verification_method: DEFAULT_VERIFICATION_METHOD,
        attempts_remaining: 5,
        resend_available_at: '2026-11-20T09:05:00.000Z',
      },
    },
  },
})

export const resendVerification = contract({
  ...common,
  name: 'resendVerification',
  summary: 'Resend Verification',
  method: 'POST',
  path: '/users/{userId}/email/resend-verification',
  body: z.object({ change_request_id: changeRequestId, verification_method: method.optional() }),
  data: z.object({
    verification_sent: z.literal(true),
    method: z.enum(VERIFICATION_METHODS),
    expires_at: isoDateTime,
    resend_available_at: isoDateTime,
  }),
  message: 'We sent a new message. Earlier codes and links no longer work.',
  errors: ['EMAIL_004', 'EMAIL_005', 'EMAIL_006', 'EMAIL_008', 'EMAIL_009'],
  example: {
    body: { change_request_id: exampleId, verification_method: DEFAULT_VERIFICATION_METHOD },
    data: {
      verification_sent: true,
      method: DEFAULT_VERIFICATION_METHOD,
      expires_at: '2026-11-20T21:10:00.000Z',
      resend_available_at: '2026-11-20T09:15:00.000Z',
    },
  },
})

export const cancelEmailChange = contract({
  ...common,
  name: 'cancelEmailChange',
  summary: 'Cancel Email Change',
  method: 'DELETE',
  path: '/users/{userId}/email/change/{changeRequestId}',
  params: z.object({ userId, changeRequestId }),
  data: z.object({ change_request_id: z.string(), status: z.literal('cancelled') }),
  message: 'The change has been cancelled. Your current address stays in effect.',
  errors: ['EMAIL_004', 'EMAIL_005', 'EMAIL_006'],
  example: { data: { change_request_id: exampleId, status: 'cancelled' } },
})
