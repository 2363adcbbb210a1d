import * as z from 'zod'
import { externalId } from './admin'
import { contract, FOR_SERVICES_ON_ACCOUNT } from './define'
import { givenTime, grantedScopes, isoDateTime, maxLength } from './fields'

const MAX_ORIGIN_LENGTH = 255
const MAX_PAGE_TOKEN_SECONDS = 15 * 60
const ACR = /^[\x20-\x7e]{1,255}$/

const PERIOD = /^PT(?:(\d{1,2})M)?(?:(\d{1,3})S)?$/
/** Seconds of a duration such as PT15M; NaN for any other text. */
export function secondsOf(text: string): number {
  const [, minutes, seconds] = PERIOD.exec(text) ?? []
  return minutes || seconds ? Number(minutes ?? 0) * 60 + Number(seconds ?? 0) : Number.NaN
}
const isLifetime = (text: string) => secondsOf(text) >= 1 && secondsOf(text) <= MAX_PAGE_TOKEN_SECONDS

export const issuePageToken = contract({
  ...FOR_SERVICES_ON_ACCOUNT,
  name: 'issuePageToken',
  summary: 'Issue Page Token',
  description:
    'Makes a token with which a page of yours calls the API for this person. It works for one origin, for 15 minutes at most, and ends with all access of the account and with the service token that made it.',
  method: 'POST',
  path: '/admin/users/{externalId}/page-tokens',
  scope: 'pages:issue',
  params: z.object({ externalId }),
  body: z.object({
    scopes: grantedScopes('What the page may do'),
    origin: z
      .string('REQUEST_001: origin must be a string.')
      .check(maxLength(MAX_ORIGIN_LENGTH, 'ORIGIN_001'))
      .describe('The origin of the page, one of ALLOWED_ORIGINS; calls of any other are refused'),
    authenticated_at: givenTime('REQUEST_001: authenticated_at must be a time such as 2026-11-20T09:00:00Z.')
      .optional()
      .describe('When the person last proved to you who they are; without it the token is no fresh sign-in'),
    acr: z
      .string('REQUEST_001: acr must be a string.')
      .regex(ACR, 'REQUEST_001: acr must be 1 to 255 printable ASCII characters.')
      .optional()
      .describe(
        'What that sign-in reached; where AUTH_REQUIRED_ACR is set, a token without that value is no fresh sign-in',
      ),
    expires_in: z
      .string('REQUEST_001: expires_in must be a string.')
      .refine(isLifetime, 'REQUEST_001: expires_in must be a duration of PT15M at most, such as PT5M.')
      .default('PT15M')
      .meta({ description: 'ISO 8601, PT15M at most', pattern: PERIOD.source }),
  }),
  data: z.object({
    page_token: z.string().describe('`pgt_…`; in this answer only'),
    expires_at: isoDateTime.describe('When it stops working'),
  }),
  status: 201,
  errors: ['USER_001', 'ORIGIN_001', 'RATE_001'],
  example: {
    body: {
      scopes: ['email:manage'],
      origin: 'https://app.example.com',
      authenticated_at: '2026-11-20T08:58:00.000Z',
      expires_in: 'PT15M',
    },
    data: {
      page_token:
        'pgt_eyJ1IjoidXNyXzRkTjh2UTF0UnozS2I3eUxjMmhQZjkifQ.1795000000.vJ0Qb5m8xTzq3n1rW7yKc2LdPf9sGa4eUi6oHx0wTqM',
      expires_at: '2026-11-20T09:15:00.000Z',
    },
  },
})
