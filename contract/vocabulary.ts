/** Words and bounds of the API that pages show as well. No zod in here, so that a page does not load the parser to show them. */

export const VERIFICATION_METHODS = ['email_code', 'email_link'] as const
export const DEFAULT_VERIFICATION_METHOD: (typeof VERIFICATION_METHODS)[number] = 'email_code'

export const CHANGE_REQUEST_ID = /^ecr_[A-Za-z0-9_-]{22}$/
export const VERIFICATION_CODE = /^[0-9]{6}$/

export const REASONS = {
  no_longer_needed: 'I no longer need the service',
  privacy_concerns: 'I am concerned about my privacy',
  switching_service: 'I am switching to another service',
  account_security: 'My account is not secure',
  other: 'Another reason',
} as const

/** In code points. */
export const MAX_FEEDBACK_LENGTH = 500

export const MAX_BODY_BYTES = 16 * 1024
