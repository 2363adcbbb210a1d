import * as z from 'zod'
import { contract } from './define'
import { grantedScopes, isoDateTime, lineName, newPassword, userId } from './fields'
import { SESSION_ID } from './vocabulary'

const MAX_DAYS = 366
const MAX_NAME_LENGTH = 100

export const tokenName = lineName(
  `What the token is for; at most ${MAX_NAME_LENGTH} characters (Unicode code points)`,
  MAX_NAME_LENGTH,
)
const expiresInDays = z
  .int('REQUEST_001: expires_in_days must be a whole number.')
  .min(1, 'REQUEST_001: expires_in_days must be 1 or more.')
  .max(MAX_DAYS, `REQUEST_001: expires_in_days must be ${MAX_DAYS} or less.`)
  .describe(`For how many days the token works, 1 to ${MAX_DAYS}`)

const accessToken = z.object({
  token_id: z.string().describe('The token, `tok_…`; it opens nothing'),
  name: z.string().describe('What the token is for'),
  scopes: z.array(z.string()).describe('What the token may do'),
  created_at: isoDateTime.describe('When it was created'),
  expires_at: isoDateTime.describe('When it stops working'),
  last_used_at: isoDateTime.nullable().describe('To the minute; null while it was never used'),
})
const session = z.object({
  session_id: z.string().describe('The session, `ses_…`'),
  current: z.boolean().describe('The session that asks'),
  user_agent: z.string().describe('What the browser said it is'),
  ip_address: z.string().describe('Where it was signed in from'),
  created_at: isoDateTime.describe('When the person last signed in there, or confirmed who they are'),
  last_seen_at: isoDateTime.describe('When it was used, to the hour'),
})

/** The purpose of a fresh sign-in. */
export const PURPOSES = ['change', 'withdraw', 'token', 'sessions'] as const
export type Purpose = (typeof PURPOSES)[number]

const params = z.object({ userId })
// Text that cannot be an id is answered like an unknown id. PostgreSQL could not even read a NUL.
const accessId = z
  .string()
  .regex(/^tok_[A-Za-z0-9_-]{22}$/, 'REQUEST_005')
  .describe('The access token, `tok_…`')
const sessionId = z.string().regex(SESSION_ID, 'REQUEST_005').describe('The session, `ses_…`')
const common = { scope: 'tokens:manage', forbidden: 'AUTH_002', limit: { bucket: 'read' } } as const
const exampleToken = {
  token_id: 'tok_9sK2mVbQ4xYc7TnLr0ZdPw',
  name: 'Nightly export',
  scopes: ['email:manage'],
  created_at: '2026-11-20T09:00:00.000Z',
  expires_at: '2026-12-20T09:00:00.000Z',
  last_used_at: null,
}

export const createAccessToken = contract({
  ...common,
  name: 'createAccessToken',
  summary: 'Create Access Token',
  description: 'Creates a token with which a program calls the API for this person. The token is in this answer only.',
  method: 'POST',
  path: '/users/{userId}/access-tokens',
  params,
  body: z.object({ name: tokenName, scopes: grantedScopes('What the token may do'), expires_in_days: expiresInDays }),
  data: accessToken.extend({ access_token: z.string().describe('Shown in this answer and never again') }),
  message: 'Copy the token now: it is not shown again.',
  limit: { bucket: 'accessToken' },
  errors: ['REAUTH_001', 'RATE_001'],
  example: {
    body: { name: 'Nightly export', scopes: ['email:manage'], expires_in_days: 30 },
    data: { ...exampleToken, access_token: 'uat_Xc3n0mJ8vQ1tRz5kWb7yLd2hPf9sGa4eUi6oKx0wTqM' },
  },
})

export const listAccessTokens = contract({
  ...common,
  name: 'listAccessTokens',
  summary: 'List Access Tokens',
  description: 'Lists the access tokens of the person that still work, without the tokens themselves.',
  method: 'GET',
  path: '/users/{userId}/access-tokens',
  params,
  data: z.object({ access_tokens: z.array(accessToken).describe('Those that still work, newest first') }),
  errors: ['RATE_001'],
  example: { data: { access_tokens: [exampleToken] } },
})

export const revokeAccessToken = contract({
  ...common,
  name: 'revokeAccessToken',
  summary: 'Revoke Access Token',
  description: 'Ends one access token immediately.',
  method: 'DELETE',
  path: '/users/{userId}/access-tokens/{accessId}',
  params: z.object({ userId, accessId }),
  data: z.object({
    token_id: z.string().describe('The access token, `tok_…`'),
    revoked: z.literal(true).describe('It no longer works'),
  }),
  message: 'The token no longer works.',
  errors: ['REQUEST_005', 'RATE_001'],
  example: { data: { token_id: exampleToken.token_id, revoked: true } },
})

export const listSessions = contract({
  ...common,
  name: 'listSessions',
  summary: 'List Sessions',
  description: 'Lists the browsers in which the person is signed in.',
  method: 'GET',
  path: '/users/{userId}/sessions',
  params,
  data: z.object({ sessions: z.array(session).describe('Those that are signed in, last seen first') }),
  errors: ['RATE_001'],
  example: {
    data: {
      sessions: [
        {
          session_id: 'ses_4hTq8vXb1nKc6YzRw2LmPd',
          current: true,
          user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
          ip_address: '203.0.113.7',
          created_at: '2026-11-20T08:00:00.000Z',
          last_seen_at: '2026-11-20T09:00:00.000Z',
        },
      ],
    },
  },
})

export const endSession = contract({
  ...common,
  name: 'endSession',
  summary: 'End Session',
  description: 'Signs one browser out immediately; another one than the own needs a fresh sign-in.',
  method: 'DELETE',
  path: '/users/{userId}/sessions/{sessionId}',
  params: z.object({ userId, sessionId }),
  data: z.object({
    session_id: z.string().describe('The session, `ses_…`'),
    ended: z.literal(true).describe('It is signed out'),
  }),
  message: 'This browser is signed out.',
  errors: ['REAUTH_001', 'REQUEST_005', 'RATE_001'],
  example: { data: { session_id: 'ses_4hTq8vXb1nKc6YzRw2LmPd', ended: true } },
})

export const endOtherSessions = contract({
  ...common,
  name: 'endOtherSessions',
  summary: 'End Other Sessions',
  description: 'Signs every other browser out and cancels a pending change of the address. Needs a fresh sign-in.',
  method: 'DELETE',
  path: '/users/{userId}/sessions',
  params,
  data: z.object({ ended: z.int().describe('How many were signed out') }),
  message: 'All other browsers are signed out, and a pending email change is cancelled.',
  errors: ['REAUTH_001', 'RATE_001'],
  example: { data: { ended: 2 } },
})

export const startReauthentication = contract({
  name: 'startReauthentication',
  summary: 'Start Re-authentication',
  description:
    'Starts a fresh sign-in at the identity provider, for a person without a password. The browser goes to the answered URL.',
  method: 'POST',
  path: '/users/{userId}/reauthentication',
  scope: 'account:manage',
  forbidden: 'AUTH_002',
  params,
  body: z.object({
    purpose: z
      .enum(PURPOSES, `REQUEST_001: purpose must be one of ${PURPOSES.join(', ')}.`)
      .describe('What the fresh sign-in is for; it serves nothing else'),
  }),
  data: z.object({
    authorization_url: z.string().describe('Where the browser that asked goes next, at the identity provider'),
  }),
  message: 'Sign in at the identity provider, in this browser, within ten minutes.',
  limit: { bucket: 'reauthentication' },
  errors: ['REQUEST_005', 'RATE_001'],
  example: {
    body: { purpose: 'withdraw' },
    data: {
      authorization_url:
        'https://login.example.com/authorize?response_type=code&client_id=accounts&prompt=login&max_age=0',
    },
  },
})

/** The link in the mail about a sign-in from a new device. */
const signInLink = {
  path: '/sessions/{sessionId}/not-me',
  bearer: 'link_token',
  tag: 'Account',
  params: z.object({
    sessionId: z.string().regex(SESSION_ID, 'EMAIL_006').describe('The session that the mail tells of, `ses_…`'),
  }),
} as const
const EXAMPLE_SESSION = 'ses_4hTq8vXb1nKc6YzRw2LmPd'

export const getSignIn = contract({
  ...signInLink,
  name: 'getSignIn',
  summary: 'Show a Sign-in to Its Account',
  description:
    'Shows whoever reads the mailbox of the account which sign-in its link is about. Reading changes nothing.',
  method: 'GET',
  data: z.object({
    session_id: z.string().describe('The session, `ses_…`'),
    signed_in_at: isoDateTime.describe('When it was'),
    user_agent: z.string().describe('What the browser said it is'),
    ip_address: z.string().describe('Where it was signed in from'),
    email: z.string().describe('The address of the account, to which the mail went'),
    has_password: z.boolean().describe('Whether a new password has to be set'),
    works_until: isoDateTime.describe('Until when the link works'),
  }),
  errors: ['EMAIL_006', 'EMAIL_008', 'RATE_001'],
  example: {
    data: {
      session_id: EXAMPLE_SESSION,
      signed_in_at: '2026-11-20T09:00:00.000Z',
      user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
      ip_address: '203.0.113.7',
      email: 'ada@example.com',
      has_password: true,
      works_until: '2026-11-27T09:00:00.000Z',
    },
  },
})

export const disownSignIn = contract({
  ...signInLink,
  name: 'disownSignIn',
  summary: 'Disown a Sign-in',
  description: 'Ends every session and access token of the account, and sets a new password where it has one.',
  method: 'POST',
  body: z.object({
    new_password: newPassword.optional().describe('The password from now on; required where the account has one'),
  }),
  data: z.object({
    session_id: z.string().describe('The session, `ses_…`'),
    ended: z.literal(true).describe('It is signed out, as is every other one'),
  }),
  message: 'Everyone is signed out.',
  errors: ['EMAIL_006', 'EMAIL_008', 'PASSWORD_001'],
  example: {
    body: { new_password: 'a new horse battery' },
    data: { session_id: EXAMPLE_SESSION, ended: true },
  },
})
