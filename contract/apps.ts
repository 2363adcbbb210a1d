import * as z from 'zod'
import { contract, FOR_SERVICES } from './define'
import { appId, isoDateTime, lineName, listLimit, maxLength, truth, UNRULY, waiveReason } from './fields'
import { ACKNOWLEDGEMENTS, AUDIENCES, EVENT_TYPES, INCLUDES, partsOfReason, WAIVE_REASONS } from './vocabulary'
import { APP_PHASES } from './withdrawal'

const MAX_NAME_LENGTH = 100
const MAX_ENDPOINT_LENGTH = 2000
const MAX_WORDS = 50
const DAY_IN_SECONDS = 24 * 60 * 60
const MIN_ACKNOWLEDGE_SECONDS = 60
const MAX_ACKNOWLEDGE_SECONDS = 30 * DAY_IN_SECONDS
/** Printable ASCII. */
const WORD = '^[ -~]{1,64}$'
/** The host of a URL, without scheme and path. */
const HOST = '^[a-z0-9.:\\[\\]-]{1,255}$'

const oneOf = <const Word extends string>(name: string, words: readonly Word[]) =>
  z.enum(words, `REQUEST_001: ${name} must be one of ${words.join(', ')}.`)
const someOf = <const Word extends string>(name: string, words: readonly Word[]) =>
  z
    .array(oneOf(name, words), `REQUEST_001: ${name} must be an array.`)
    .check(maxLength(words.length, `REQUEST_001: ${name} names each at most once.`))
const wordsOf = (name: string, pattern: string, what: string) =>
  z
    .array(
      z
        .string(`REQUEST_001: ${name} must hold text.`)
        .regex(new RegExp(pattern, 'u'), `REQUEST_001: ${name} has ${what}.`),
      `REQUEST_001: ${name} must be an array.`,
    )
    .check(maxLength(MAX_WORDS, `REQUEST_001: ${name} has at most ${MAX_WORDS} entries.`))
/** A sentence of one line. */
const WAIVE_REASON = String.raw`^(?!(?:${WAIVE_REASONS.join('|')}|other)=)[a-z][a-z0-9_]{0,31}=(?=\S)[^${UNRULY}]{1,200}$`
const words = (name: string) => wordsOf(name, WORD, '1 to 64 printable ASCII characters')

/** The settings of an application. The operator command uses the same rules. */
export const appSettings = z.object({
  name: lineName('As people read it', MAX_NAME_LENGTH),
  endpoint: z
    .string('REQUEST_001: endpoint must be a URL or null.')
    .check(maxLength(MAX_ENDPOINT_LENGTH, `REQUEST_001: endpoint has at most ${MAX_ENDPOINT_LENGTH} characters.`))
    .refine((text) => URL.canParse(text), 'REQUEST_001: endpoint must be a URL.')
    .nullable()
    .meta({ description: 'Where its messages go: https, a public address; null where it polls for its tasks' }),
  audience: oneOf('audience', AUDIENCES).describe(
    '`connected`: told about users that are connected to it; `everyone`: about every user, by your own id, else `usr_…`',
  ),
  acknowledges: oneOf('acknowledges', ACKNOWLEDGEMENTS).describe(
    '`later`: 202 accepts a deletion task, a report ends it',
  ),
  acknowledge_within_seconds: z
    .int('REQUEST_001: acknowledge_within_seconds must be a whole number.')
    .min(MIN_ACKNOWLEDGE_SECONDS, `REQUEST_001: acknowledge_within_seconds is at least ${MIN_ACKNOWLEDGE_SECONDS}.`)
    .max(MAX_ACKNOWLEDGE_SECONDS, `REQUEST_001: acknowledge_within_seconds is at most ${MAX_ACKNOWLEDGE_SECONDS}.`)
    .describe('How long an accepted task may stay without a report'),
  phase: oneOf('phase', APP_PHASES).describe('The deletion step whose window its task belongs to'),
  events: someOf('events', EVENT_TYPES).describe('What it is told; `account.withdrawn` always'),
  includes: someOf('includes', INCLUDES).describe('`addresses`: events of an address change carry both addresses'),
  checks: truth('checks').describe('Whether it is asked before a withdrawal starts'),
  confirms: truth('confirms').describe(
    'Whether it is asked, a day after it was told of a withdrawal, if the person is absent; needs an endpoint',
  ),
  hosts: wordsOf('hosts', HOST, 'hosts such as shop.example.com').describe('Hosts that links of its blockers may name'),
  categories: words('categories').describe('What it may name as kept'),
  reasons: words('reasons').describe('Why it may keep it'),
  waive_reasons: wordsOf(
    'waive_reasons',
    WAIVE_REASON,
    'CODE=SENTENCE such as merged=The shop has its data now., with a code of 32 small letters, digits and _ at most that is none of the common ones, and a sentence of one line with 200 characters at most',
  )
    .refine(
      (reasons) => new Set(reasons.map((reason) => partsOfReason(reason).code)).size === reasons.length,
      'REQUEST_001: waive_reasons has each code once.',
    )
    .describe(
      'Further reasons for which nobody waits for its deletion tasks any more, each `code=sentence`; the person reads the sentence',
    ),
})
export type AppSettings = z.output<typeof appSettings>

const deliveries = z
  .object({
    waiting: z.int().describe('How many wait for an answer'),
    dead: z.int().describe('How many were given up'),
  })
  .describe('Messages about events')
export const app = appSettings.extend({
  app_id: z.string().describe('The application, `app_…`'),
  created_at: isoDateTime.describe('When it was registered'),
  disabled_at: isoDateTime.nullable().describe('Since when it is told nothing; null while it is not disabled'),
  previous_secret_until: isoDateTime
    .nullable()
    .describe('Until then messages are signed with the secret before as well; null where there is none'),
  last_asked_at: isoDateTime
    .nullable()
    .describe('When it last asked for deletion tasks with its token, to the minute; null if it never has'),
  deliveries,
  open_tasks: z.int().describe('Deletion tasks that it has not finished'),
})

const common = { ...FOR_SERVICES, scope: 'apps:manage' } as const
const exampleApp = {
  app_id: 'app_7Yb3nLhRpV0a5Tq8wZ1cXk',
  name: 'Shop',
  endpoint: 'https://shop.example.com/hooks/accounts',
  audience: 'everyone',
  acknowledges: 'later',
  acknowledge_within_seconds: DAY_IN_SECONDS,
  phase: 'third_party_integrations',
  events: ['account.email_changed', 'account.withdrawal_started', 'account.withdrawn'],
  includes: ['addresses'],
  checks: false,
  confirms: false,
  hosts: [],
  categories: ['invoices'],
  reasons: ['tax_law'],
  waive_reasons: ['merged=The shop was closed, and its data is deleted with it.'],
  created_at: '2026-11-20T09:00:00.000Z',
  disabled_at: null,
  previous_secret_until: null,
  last_asked_at: null,
  deliveries: { waiting: 0, dead: 0 },
  open_tasks: 0,
}

export const listApps = contract({
  ...common,
  name: 'listApps',
  summary: 'List Applications',
  description: 'Lists the connected applications with their settings and what waits for them.',
  method: 'GET',
  path: '/admin/apps',
  params: z.object({}),
  data: z.object({ apps: z.array(app).describe('Every connected application') }),
  errors: ['RATE_001'],
  example: { data: { apps: [exampleApp] } },
})

export const getApp = contract({
  ...common,
  name: 'getApp',
  summary: 'Get Application',
  description: 'Shows one connected application.',
  method: 'GET',
  path: '/admin/apps/{appId}',
  params: z.object({ appId }),
  data: app,
  errors: ['REQUEST_005', 'RATE_001'],
  example: { data: exampleApp },
})

export const setApp = contract({
  ...common,
  name: 'setApp',
  operator: 'fresh',
  summary: 'Change Application',
  description: 'Changes settings of an application; settings that the body leaves out stay as they are.',
  method: 'PUT',
  path: '/admin/apps/{appId}',
  params: z.object({ appId }),
  body: appSettings.partial().extend({
    disabled: truth('disabled').optional().describe('A disabled application is told nothing, and its messages wait'),
  }),
  data: app,
  message: 'The application is as described. What was left out stays as it was.',
  errors: ['REQUEST_001', 'REQUEST_005', 'RATE_001'],
  example: { body: { name: 'Shop', includes: ['addresses'] }, data: exampleApp },
})

export const removeApp = contract({
  ...common,
  name: 'removeApp',
  summary: 'Remove Application',
  description:
    'Removes an application. It is refused while deletion tasks are open, unless `waive` says why nobody waits for them.',
  method: 'DELETE',
  path: '/admin/apps/{appId}',
  params: z.object({ appId }),
  query: z.object({
    waive: waiveReason
      .optional()
      .describe(
        'Why nobody waits for its open deletion tasks any more: `gone`, `refused`, `unreachable`, or a code of its `waive_reasons`',
      ),
  }),
  data: z.object({
    app_id: z.string().describe('The application, `app_…`'),
    removed: z.boolean().describe('Whether it was there'),
    waived_tasks: z.int().describe('Open deletion tasks that nobody waits for any more'),
  }),
  message: 'The application is removed.',
  errors: ['REQUEST_001', 'REQUEST_005', 'TASK_002', 'RATE_001'],
  example: { data: { app_id: exampleApp.app_id, removed: true, waived_tasks: 0 } },
})

export const rotateAppSecret = contract({
  ...common,
  name: 'rotateAppSecret',
  operator: 'fresh',
  summary: 'Rotate Signing Secret',
  description: 'Makes a new signing secret; for a day messages are signed with the old one too.',
  method: 'POST',
  path: '/admin/apps/{appId}/rotate-secret',
  params: z.object({ appId }),
  data: z.object({
    app_id: z.string().describe('The application, `app_…`'),
    signing_secret: z.string().describe('The new secret, `whsec_…`; shown in this answer and never again'),
    previous_secret_until: isoDateTime.describe('Until then messages are signed with the secret before as well'),
  }),
  message: 'The new secret is shown this once. Until the given time messages are signed with both.',
  errors: ['REQUEST_005', 'RATE_001'],
  example: {
    data: {
      app_id: exampleApp.app_id,
      signing_secret: 'whsec_c2lnbnMtZm9yLXRoZS1kZW1vLWNhbGVuZGFy',
      previous_secret_until: '2026-11-21T09:00:00.000Z',
    },
  },
})

export const pingApp = contract({
  ...common,
  name: 'pingApp',
  operator: 'any',
  summary: 'Ping Application',
  description: 'Sends a signed `ping` to the application and says what came back.',
  method: 'POST',
  path: '/admin/apps/{appId}/ping',
  params: z.object({ appId }),
  data: z.object({
    app_id: z.string().describe('The application, `app_…`'),
    webhook_id: z.string().describe('The header `webhook-id` of the call'),
    status: z.int().describe('Of HTTP; 0 where there was no answer'),
    took_ms: z.int().describe('Milliseconds until the answer'),
    problem: z.string().nullable().describe('Why there was no answer; null where there was one'),
  }),
  message: 'The application was called with a signed `ping`.',
  errors: ['REQUEST_001', 'REQUEST_005', 'RATE_001'],
  example: {
    data: {
      app_id: exampleApp.app_id,
      webhook_id: 'png_4Qm9ZsX1cT7uYb2LhKpV0w',
      status: 204,
      took_ms: 41,
      problem: null,
    },
  },
})

export const resendDeadLetters = contract({
  ...common,
  name: 'resendDeadLetters',
  operator: 'fresh',
  summary: 'Resend Dead Letters',
  description: 'Delivers the events that were given up for this application again, under their old ids.',
  method: 'POST',
  path: '/admin/apps/{appId}/resend',
  params: z.object({ appId }),
  data: z.object({
    app_id: z.string().describe('The application, `app_…`'),
    resent: z.int().describe('How many will be delivered again'),
  }),
  message: 'The dead letters will be delivered again.',
  errors: ['REQUEST_005', 'RATE_001'],
  example: { data: { app_id: exampleApp.app_id, resent: 3 } },
})

export const DELIVERY_STATES = ['pending', 'delivered', 'dead'] as const

/** The delivery of an event to an application, as operators and services see it. */
export const delivery = z.object({
  webhook_id: z.string().describe('The header `webhook-id` of every try'),
  event_id: z.string().describe('The event, `evt_…`; its deliveries share it'),
  type: z.enum(EVENT_TYPES).describe('What happened'),
  app_id: z.string().describe('The application, `app_…`'),
  app_name: z.string().describe('As people read it'),
  status: z.enum(DELIVERY_STATES).describe('`dead` once it was given up'),
  attempts: z.int().describe('How often it was tried'),
  created_at: isoDateTime.describe('When the event happened'),
  tried_at: isoDateTime.nullable().describe('When it was tried last; null before the first try'),
  due_at: isoDateTime
    .nullable()
    .describe('When it is tried next; null once it is over, and while the application is disabled'),
  last_status: z.int().nullable().describe('The HTTP status of the last answer; null where none came'),
  last_error: z.string().nullable().describe('Why the last try failed; null where it did not'),
  took_ms: z.int().nullable().describe('Milliseconds until the last answer; null before the first try'),
  delivered_at: isoDateTime.nullable().describe('When the application took it; null until it does'),
  dead_at: isoDateTime.nullable().describe('When it was given up; null unless it was'),
})

export const listEvents = contract({
  ...common,
  name: 'listEvents',
  summary: 'List Event Deliveries',
  description: 'Lists the deliveries of events to applications, without what the events say.',
  method: 'GET',
  path: '/admin/events',
  params: z.object({}),
  query: z.object({
    app: appId.optional(),
    status: oneOf('status', DELIVERY_STATES).optional().describe('Only deliveries in this state'),
    limit: listLimit(1000),
  }),
  data: z.object({
    deliveries: z.array(delivery).describe('The newest first; kept for thirty days'),
  }),
  errors: ['REQUEST_001', 'REQUEST_005', 'RATE_001'],
  example: {
    query: { status: 'dead', limit: '10' },
    data: {
      deliveries: [
        {
          webhook_id: 'dlv_4Qm9ZsX1cT7uYb2LhKpV0w_app_7Yb3nLhRpV0a5Tq8wZ1cXk',
          event_id: 'evt_4Qm9ZsX1cT7uYb2LhKpV0w',
          type: 'account.email_changed',
          app_id: exampleApp.app_id,
          app_name: exampleApp.name,
          status: 'dead',
          attempts: 14,
          created_at: '2026-11-20T09:00:00.000Z',
          tried_at: '2026-11-27T09:00:00.000Z',
          due_at: null,
          last_status: 503,
          last_error: 'HTTP 503',
          took_ms: 87,
          delivered_at: null,
          dead_at: '2026-11-27T09:00:00.000Z',
        },
      ],
    },
  },
})
