import * as z from 'zod'
import { NEW_ADDRESS_PATTERN } from './address'
import { contract, isStorable, STORABLE } from './define'
import { asciiDigits } from './digits'
import { RULES } from './errors'
import { isoDateTime, maxLength, minLength, newPassword, plainAddress, userId } from './fields'
import {
  CHANGE_REQUEST_ID,
  CHANGE_STATES,
  DEFAULT_VERIFICATION_METHOD,
  DELIVERIES,
  VERIFICATION_CODE,
  VERIFICATION_METHODS,
} from './vocabulary'

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
  // A longer text is no code, whatever its digits are.
  .overwrite((text) => (/^\p{Nd}{6}$/u.test(text) ? asciiDigits(text) : text))
  .regex(VERIFICATION_CODE, 'EMAIL_003')
  .describe(
    'The 6 digits from the newest message. The pattern has those of ASCII, which every client can send; the service also takes digits of other scripts, for their value.',
  )

/** In code points. */
export const MAX_PASSWORD_LENGTH = 1024

// The own address is taken in each form that an account may have: while it is not verified, this is how it is.
export const newEmail = plainAddress('The address to change to', {
  wrongType: 'EMAIL_001',
  malformed: 'EMAIL_001',
  incomplete: `EMAIL_001: ${RULES.incompleteEmail}`,
  pattern: NEW_ADDRESS_PATTERN,
})
export const currentPassword = z
  .string('REQUEST_001: current_password must be a string.')
  .check(minLength(1, `REQUEST_001: ${RULES.currentPassword}`))
  .check(maxLength(MAX_PASSWORD_LENGTH, `REQUEST_001: current_password has at most ${MAX_PASSWORD_LENGTH} characters.`))
  .refine(isStorable, 'REQUEST_001: current_password contains characters that no password can have.')
  .meta({
    description: "The user's current password, unmodified",
    pattern: STORABLE,
  })

/** Has one of the two. Their own fields refuse values of a wrong type. */
const hasProof = (body: object) =>
  ('current_password' in body && body.current_password !== undefined) ||
  ('reauthentication' in body && body.reauthentication !== undefined)
const changeBody = z
  .object({
    new_email: newEmail,
    current_password: currentPassword.optional().describe('Needed where the account has a password'),
    verification_method: method.default(DEFAULT_VERIFICATION_METHOD),
    reauthentication: z
      .literal('fresh_sign_in', 'REQUEST_001: reauthentication must be fresh_sign_in.')
      .optional()
      .describe('In place of current_password, for an account that has none'),
  })
  .refine(hasProof, {
    path: ['current_password'],
    message: 'REQUEST_001: current_password must be a string.',
    // Runs even when another field has failed, so that both faults are reported together.
    when: ({ value }) => typeof value === 'object' && value !== null,
  })
  .meta({ if: { required: ['current_password'] }, else: { required: ['reauthentication'] } })

const params = z.object({ userId })
const common = { scope: 'email:manage', forbidden: 'AUTH_002', params } as const
const exampleId = 'ecr_7Yc1fVn0Qk2mXh3rTzB8dA'

export const changeEmail = contract({
  ...common,
  name: 'changeEmail',
  summary: 'Change Email Address',
  description:
    'Starts a change of the address and mails a code and a link to the new one; the current address stays in effect until one of them is used. A newer change replaces a pending one.',
  method: 'POST',
  path: '/users/{userId}/email/change',
  body: changeBody,
  data: z.object({
    change_request_id: z.string().describe('The change request, `ecr_…`'),
    status: z.literal('pending_verification').describe('The new address has to be verified first'),
    new_email: z.string().describe('The address that the message went to'),
    verification_method: z.enum(VERIFICATION_METHODS).describe('Which of the two comes first in the message'),
    verification_expires_at: isoDateTime.describe('Until when code and link work'),
    current_email_retained: z.literal(true).describe('The current address stays in effect until then'),
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
  description:
    'Ends a pending change with the code from the message: the new address takes effect, both addresses are notified, and other sessions end, except the one that asked. A wrong code uses one of its attempts, five unless the operator sets otherwise.',
  method: 'POST',
  path: '/users/{userId}/email/verify',
  body: z.object({ change_request_id: changeRequestId, verification_code: verificationCode }),
  // The verb reports an expired or exhausted request before a wrong code, so it receives a malformed code as '' and judges it itself.
  accepts: z.object({ change_request_id: changeRequestId, verification_code: verificationCode.catch('') }),
  data: z.object({
    email_verified: z.literal(true).describe('The address of the account is verified'),
    new_email: z.string().describe('The address of the account from now on'),
    changed_at: isoDateTime.describe('When it took effect'),
    notification_sent: z.boolean().describe('Whether both addresses were notified already; if not, it is tried again'),
  }),
  message: 'Your email address has been changed.',
  limit: { bucket: 'verify', countedBy: 'verb', countsInvalidCalls: true },
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

/** The `pending_change` of an account without one. */
export const NOTHING_PENDING = {
  has_pending: false,
  new_email: null,
  requested_at: null,
  expires_at: null,
  change_request_id: null,
  verification_method: null,
  attempts_remaining: null,
  resend_available_at: null,
  delivery: null,
}

export const getEmailStatus = contract({
  ...common,
  name: 'getEmailStatus',
  summary: 'Check Email Status',
  description: 'Shows the address of the account and the change that is pending, if there is one.',
  method: 'GET',
  path: '/users/{userId}/email/status',
  query: z.object({
    change_request_id: z
      .string('REQUEST_001: change_request_id must be one id.')
      .regex(CHANGE_REQUEST_ID, 'REQUEST_001: change_request_id must be the id of a change request.')
      .optional()
      .describe("One of the user's own change requests, to be told what became of it"),
  }),
  data: z.object({
    current_email: z.string().describe('The address of the account'),
    email_verified: z.boolean().describe('Whether somebody who reads that mailbox has confirmed it'),
    verified_at: isoDateTime.nullable().describe('When it was verified last; null where it is not verified'),
    email_undeliverable: z
      .boolean()
      .describe('Whether messages to it come back; then it may be verified once more, and a right code ends this'),
    pending_change: z
      .object({
        has_pending: z.boolean().describe('Whether a change is pending; if not, every other member is null'),
        new_email: z.string().nullable().describe('The address to change to'),
        requested_at: isoDateTime.nullable().describe('When the change was started'),
        expires_at: isoDateTime.nullable().describe('Until when code and link work'),
        change_request_id: z.string().nullable().describe('The change request, `ecr_…`'),
        verification_method: z.enum(VERIFICATION_METHODS).nullable().describe('Which comes first in the message'),
        attempts_remaining: z.int().nullable().describe('How many more codes may be tried'),
        resend_available_at: isoDateTime.nullable().describe('From when a new message can be sent'),
        delivery: z
          .enum(DELIVERIES)
          .nullable()
          .describe('What became of the newest message; `undeliverable`: it will not arrive'),
      })
      .describe('The change that waits for its verification'),
    change_request: z
      .object({
        change_request_id: z.string().describe('The change request that was asked about'),
        status: z.enum(CHANGE_STATES).describe('What became of it'),
        new_email: z.string().describe('The address that it was to change to'),
      })
      .nullable()
      .optional()
      .describe('Only where it was asked for; null where this user has no such change request, or no longer'),
  }),
  limit: { bucket: 'read' },
  errors: ['REQUEST_001', 'RATE_001'],
  example: {
    data: {
      current_email: 'ada@example.com',
      email_verified: true,
      verified_at: '2026-01-05T10:00:00.000Z',
      email_undeliverable: false,
      pending_change: {
        has_pending: true,
        new_email: 'ada.new@example.com',
        requested_at: '2026-11-20T09:00:00.000Z',
        expires_at: '2026-11-20T21:00:00.000Z',
        change_request_id: exampleId,
        verification_method: DEFAULT_VERIFICATION_METHOD,
        attempts_remaining: 5,
        resend_available_at: '2026-11-20T09:05:00.000Z',
        delivery: 'sent',
      },
    },
  },
})

export const resendVerification = contract({
  ...common,
  name: 'resendVerification',
  summary: 'Resend Verification',
  description: 'Sends a new code and a new link for the pending change; earlier ones stop working.',
  method: 'POST',
  path: '/users/{userId}/email/resend-verification',
  body: z.object({ change_request_id: changeRequestId, verification_method: method.optional() }),
  data: z.object({
    verification_sent: z.literal(true).describe('The mail server took the message'),
    method: z.enum(VERIFICATION_METHODS).describe('Which of the two comes first in the message'),
    expires_at: isoDateTime.describe('Until when the new code and link work'),
    resend_available_at: isoDateTime.describe('From when the next message can be sent'),
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
  description: 'Cancels the pending change; its code and its link stop working.',
  method: 'DELETE',
  path: '/users/{userId}/email/change/{changeRequestId}',
  params: z.object({ userId, changeRequestId }),
  data: z.object({
    change_request_id: z.string().describe('The change request, `ecr_…`'),
    status: z.literal('cancelled').describe('Its code and link no longer work'),
  }),
  message: 'The change has been cancelled. Your current address stays in effect.',
  errors: ['EMAIL_004', 'EMAIL_005', 'EMAIL_006'],
  example: { data: { change_request_id: exampleId, status: 'cancelled' } },
})

// Text that cannot be an id is answered like an unknown one, by the same rules.
const anyChange = z.object({
  changeRequestId: z.string().meta({ description: 'The change request, `ecr_…`', pattern: CHANGE_REQUEST_ID.source }),
})

export const getEmailChange = contract({
  bearer: 'none',
  tag: 'Email',
  path: '/email-changes/{changeRequestId}',
  params: anyChange,
  name: 'getEmailChange',
  summary: 'Show What Became of a Change',
  description:
    'Says whether the link of a verification message can still be used, so that its page says so before it asks anybody to sign in. Whoever knows the id may ask.',
  method: 'GET',
  data: z.object({
    change_request_id: z.string().describe('The change request, `ecr_…`'),
    status: z.enum(CHANGE_STATES).describe('What became of it'),
  }),
  errors: ['EMAIL_006', 'RATE_001'],
  example: { data: { change_request_id: exampleId, status: 'verified' } },
})

const link = {
  bearer: 'link_token',
  tag: 'Email',
  path: '/email-changes/{changeRequestId}/not-me',
  params: anyChange,
} as const

export const getNotMe = contract({
  ...link,
  name: 'getNotMe',
  summary: 'Show a Change to Its Old Address',
  description: 'Shows the owner of the old address which change its link can stop or undo. Reading changes nothing.',
  method: 'GET',
  data: z.object({
    change_request_id: z.string().describe('The change request, `ecr_…`'),
    status: z.enum(['pending_verification', 'verified']).describe('Whether the new address is in effect already'),
    old_email: z.string().describe('The address that the link was sent to'),
    new_email: z.string().describe('Masked'),
    changed_to: z
      .string()
      .nullable()
      .describe('Null until the new address is verified; then it, as the message about the change named it'),
    requested_at: isoDateTime.describe('When the change was started'),
    expires_at: isoDateTime.describe('Until when the new address can be verified'),
    can_be_verified: z.boolean().describe('Whether the new address can still be verified now'),
    changed_at: isoDateTime.nullable().describe('Null until the new address is verified'),
    ip_address: z.string().describe('Of the request, or of its verification'),
    user_agent: z
      .string()
      .optional()
      .describe(
        'What the browser of the request, or of its verification, said it is; absent from an instance of the last release',
      ),
    has_password: z.boolean().describe('Whether a new password has to be set'),
    works_until: isoDateTime.describe('Until when the link works'),
  }),
  errors: ['EMAIL_006', 'EMAIL_008', 'RATE_001'],
  example: {
    data: {
      change_request_id: exampleId,
      status: 'verified',
      old_email: 'ada@example.com',
      new_email: 'a••••@example.com',
      changed_to: 'ada.new@example.com',
      requested_at: '2026-11-20T09:00:00.000Z',
      expires_at: '2026-11-20T21:00:00.000Z',
      can_be_verified: false,
      changed_at: '2026-11-20T09:12:00.000Z',
      ip_address: '203.0.113.7',
      user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
      has_password: true,
      works_until: '2026-11-27T09:12:00.000Z',
    },
  },
})

export const undoEmailChange = contract({
  ...link,
  name: 'undoEmailChange',
  summary: 'Undo a Change from Its Old Address',
  description:
    'Stops a pending change, or undoes a verified one with all later ones; every session and access token ends.',
  method: 'POST',
  body: z.object({
    new_password: newPassword.optional().describe('The password from now on; required where the account has one'),
  }),
  data: z.object({
    change_request_id: z.string().describe('The change request, `ecr_…`'),
    status: z.enum(['cancelled', 'reverted']).describe('`reverted` where the change had taken effect'),
    email: z.string().describe('The address of the account from now on'),
  }),
  message: 'This was stopped, and everyone is signed out.',
  errors: ['EMAIL_006', 'EMAIL_008', 'PASSWORD_001'],
  example: {
    body: { new_password: 'a new horse battery' },
    data: { change_request_id: exampleId, status: 'reverted', email: 'ada@example.com' },
  },
})
