'use client'

/** The rules of all forms, in the chunk that `load-contract.ts` loads. */
export { createTokenRules } from '../access/create-token-rules'
export { changeEmailRules, codeRules, notMeRules } from '../email/email-rules'
export { changePasswordRules, forgotPasswordRules, resetPasswordRules } from '../password/password-rules'
export { withdrawRules } from '../withdrawal/withdraw-rules'
