import * as z from 'zod'
import { contract } from './define'
import { currentPassword } from './email'
import { accountAddress, isoDateTime, newPassword, userId } from './fields'

export const changePassword = contract({
  name: 'changePassword',
  summary: 'Change Password',
  description:
    'Replaces the password; every other session and every access token ends, and a pending change of the address is cancelled.',
  method: 'POST',
  path: '/users/{userId}/password',
  scope: 'account:manage',
  forbidden: 'AUTH_002',
  params: z.object({ userId }),
  body: z.object({ current_password: currentPassword, new_password: newPassword }),
  data: z.object({ password_changed: z.literal(true).describe('The new password is in effect') }),
  message: 'Your password has been changed. Other browsers are signed out, and access tokens no longer work.',
  errors: ['PASSWORD_001', 'EMAIL_007', 'EMAIL_008'],
  example: {
    body: { current_password: 'one that others know', new_password: 'staple carries a lantern' },
    data: { password_changed: true },
  },
})

export const requestPasswordReset = contract({
  name: 'requestPasswordReset',
  summary: 'Request Password Reset',
  description:
    'Mails a link that sets a new password to the account with this address. The answer is the same when there is no such account.',
  method: 'POST',
  path: '/password-resets',
  bearer: 'none',
  tag: 'Account',
  params: z.object({}),
  body: z.object({ email: accountAddress }),
  data: z.object({
    accepted: z
      .literal(true)
      .describe(
        'True whether there is such an account or not: the mail is sent after the answer, or once the mail server takes it',
      ),
  }),
  message: 'If an account has this address, we sent it a message.',
  status: 202,
  errors: ['REQUEST_005', 'RATE_001'],
  example: { body: { email: 'ada@example.com' }, data: { accepted: true } },
})

/** The link of a reset, which its message alone holds. */
const link = { path: '/password-resets/confirm', bearer: 'link_token', tag: 'Account', params: z.object({}) } as const

export const getPasswordReset = contract({
  ...link,
  name: 'getPasswordReset',
  summary: 'Check Password Reset',
  description: 'Says whether the mailed link still works. Reading does not use it up.',
  method: 'GET',
  data: z.object({
    works_until: isoDateTime.describe('Until when the link works'),
    email: z.string().describe('The address of the account, so that a password manager knows whose password it keeps'),
  }),
  errors: ['REQUEST_005', 'PASSWORD_002', 'RATE_001'],
  example: { data: { works_until: '2026-11-20T09:30:00.000Z', email: 'ada@example.com' } },
})

export const confirmPasswordReset = contract({
  ...link,
  name: 'confirmPasswordReset',
  summary: 'Confirm Password Reset',
  description: 'Sets a new password with the token of the mailed link; every session and access token ends.',
  method: 'POST',
  body: z.object({ new_password: newPassword }),
  // A link that does not work is reported before an invalid password, so the verb checks the password itself.
  accepts: z.object({ new_password: newPassword.nullable().catch(null) }),
  data: z.object({ password_changed: z.literal(true).describe('The new password is in effect') }),
  message: 'Your password has been changed. Sign in with the new one.',
  errors: ['REQUEST_005', 'PASSWORD_001', 'PASSWORD_002'],
  example: { body: { new_password: 'staple carries a lantern' }, data: { password_changed: true } },
})
