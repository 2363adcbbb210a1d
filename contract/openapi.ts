import * as z from 'zod'
import {
  type Contract,
  isAccountLinkContract,
  isAdminContract,
  isForPages,
  isLinkContract,
  isTaskContract,
  type Scope,
} from './define'
import { type Blocker, COUNTED_CODES, ERRORS, type ErrorCode, meaningOf } from './errors'
import { authority, blocker } from './fields'
import { operations } from './operations'
import { type Webhook, webhooks } from './webhooks'
import { EXAMPLE_AUTHORITY } from './withdrawal'

type Json = Record<string, unknown>

interface OpenApiDocument extends Json {
  openapi: string
  paths: Record<string, Json>
}

const ANY_ENDPOINT: ErrorCode[] = ['REQUEST_002', 'REQUEST_004', 'SERVER_001', 'SERVER_002']
const WITH_BODY: ErrorCode[] = ['REQUEST_001', 'REQUEST_003']
const WITH_KEY: ErrorCode[] = ['REQUEST_006', 'REQUEST_007']

/** Every code that an operation can answer with. */
const errorsOf = (contract: Contract): ErrorCode[] => [
  ...new Set([
    ...contract.errors,
    ...(contract.forbidden ? [contract.forbidden] : []),
    ...(contract.body ? WITH_BODY : []),
    ...(takesKey(contract) ? WITH_KEY : []),
    ...(isLinkContract(contract) && contract.bearer === 'none' ? [] : ['AUTH_001' as const]),
    ...ANY_ENDPOINT,
  ]),
]

export const refusesRoles = (contract: Contract) => isAdminContract(contract) && contract.refusesRoles === true

/** What a code means as the answer of an operation. */
export const meaningIn = ({ meanings = {} }: Contract, code: ErrorCode) => meanings[code] ?? meaningOf(code)

/** An Idempotency-Key belongs to an account, and the token of most links names none before the verb checks it. A file is not kept. */
const takesKey = (contract: Contract) =>
  contract.method === 'POST' && (!isLinkContract(contract) || isAccountLinkContract(contract)) && !contract.file

const isReplayed = (contract: Contract, code: ErrorCode) =>
  takesKey(contract) && COUNTED_CODES.some((counted) => counted === code)

const TAGS: Record<Scope, string> = { 'email:manage': 'Email', 'account:manage': 'Account', 'tokens:manage': 'Access' }
export const tagOf = (contract: Contract) => {
  if (isLinkContract(contract)) return contract.tag
  if (isTaskContract(contract) || contract.path.startsWith('/admin/tasks')) return 'Tasks'
  if (/^\/admin\/(apps|events)/.test(contract.path)) return 'Applications'
  return isAdminContract(contract) ? 'Users' : TAGS[contract.scope]
}
/** The groups of operations, in the order in which they are described. */
export const GROUPS = [
  { name: 'Email', description: 'Address and verification' },
  { name: 'Account', description: 'Withdrawal and its progress' },
  { name: 'Access', description: 'Access tokens and sessions, from a browser session alone' },
  { name: 'Users', description: 'Accounts, for your own services with a service token' },
  {
    name: 'Applications',
    description: 'Who is told of changes and withdrawals, for your own services with a service token',
  },
  { name: 'Tasks', description: 'Deletion tasks of your own services' },
  { name: 'Mail', description: 'What mail providers and your own mail server tell of messages' },
] as const

const securityOf = (contract: Contract) => {
  if (isLinkContract(contract)) return { security: contract.bearer === 'none' ? [] : [{ linkToken: [] }] }
  if (isTaskContract(contract)) return { security: [{ taskToken: [] }] }
  return isAdminContract(contract) ? { security: [{ serviceToken: [] }] } : {}
}

const BOUNDS: Record<string, Json> = {
  string: { maxLength: 2000 },
  integer: { format: 'int32', minimum: 0, maximum: 2_147_483_647 },
  array: { maxItems: 1000 },
}

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Generated clients in Java do not compile with a constant truth value, nor with a choice between two formats of a text. */
function readable({ const: fixed, anyOf, ...schema }: Json): Json {
  if (typeof fixed === 'boolean') return { ...schema, not: { enum: [!fixed] } }
  const texts = Array.isArray(anyOf) && anyOf.every(({ type, pattern }) => type === 'string' && pattern)
  if (texts) return { ...schema, type: 'string', pattern: anyOf.map(({ pattern }) => pattern).join('|') }
  return { ...schema, ...(fixed !== undefined && { const: fixed }), ...(anyOf !== undefined && { anyOf }) }
}

/** Gives every string, number and list an upper bound, because readers of the document size their buffers by it. */
function bounded(original: Json): Json {
  const schema = readable(original)
  const nested = Object.entries(schema).map(([key, value]): [string, unknown] => [
    key,
    Array.isArray(value)
      ? value.map((item) => (isJson(item) ? bounded(item) : item))
      : isJson(value)
        ? bounded(value)
        : value,
  ])
  // A text that is one of listed values is bounded by them.
  const isBounded = (type: unknown) => type === 'string' && ('enum' in schema || 'const' in schema)
  const bounds = [schema.type].flat().map((type) => (isBounded(type) ? {} : BOUNDS[String(type)]))
  return Object.assign({}, ...bounds, Object.fromEntries(nested))
}

const header = (description: string, schema: Json = { type: 'string' }) => ({ description, schema: bounded(schema) })
const HEADERS = {
  'X-Request-Id': header('Names this call in the log; the one sent in is kept.'),
  'RateLimit-Policy': header('The limits that concern this call: "name";q=places;w=window in seconds.'),
  RateLimit: header('What is left of them: "name";r=places left;t=seconds until a place comes free.'),
  'Retry-After': header('Whole seconds. After a 429, waiting exactly that long makes the next call pass.', {
    type: 'integer',
    minimum: 1,
  }),
  'Access-Control-Allow-Origin': header('The origin of the page that calls, if the operator allows it.'),
  Vary: header('The answer depends on the origin of the page that calls.', { type: 'string', const: 'Origin' }),
  'WWW-Authenticate': header(
    'RFC 6750 and RFC 9470: Bearer, with error, scope, max_age and acr_values where they apply.',
  ),
  Allow: header('The methods of this path.'),
  'Idempotency-Replayed': header('Present where an Idempotency-Key gets the first answer again.', {
    type: 'string',
    const: 'true',
  }),
  Location: header('Where the progress is read.'),
  'Content-Disposition': header('The name of the file.'),
}
const COMMON_HEADERS = ['X-Request-Id', 'RateLimit-Policy', 'RateLimit'] as const
const PAGE_HEADERS = ['Access-Control-Allow-Origin', 'Vary'] as const

/** The headers of every answer of this operation, and the additional headers of this one. */
const refs = ({ path }: Contract, ...more: (keyof typeof HEADERS)[]) =>
  Object.fromEntries(
    [...COMMON_HEADERS, ...(isForPages(path) ? PAGE_HEADERS : []), ...more].map((name) => [
      name,
      { $ref: `#/components/headers/${name}` },
    ]),
  )

/** What the document says of the installation. */
export interface Installation {
  product: string
  /** Where the API is. */
  appUrl: string
  /** The product's own site. */
  productUrl?: string
  supportUrl?: string
  supportEmail: string
  termsUrl?: string
}

/** The OpenAPI 3.1 document, made from the contracts. */
export function openApiDocument(installation: Installation): OpenApiDocument {
  const { product, appUrl, productUrl, supportUrl, supportEmail, termsUrl } = installation
  const contactUrl = supportUrl ?? productUrl
  const paths: Record<string, Json> = {}
  for (const contract of operations) {
    const path = `/api/v1${contract.path}`
    paths[path] = { ...paths[path], [contract.method.toLowerCase()]: toOperation(contract) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: product,
      version: '1.0.0',
      description: 'Change and verify an email address; withdraw an account and follow it to the end.',
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: product, email: supportEmail, ...(contactUrl && { url: contactUrl }) },
      ...(termsUrl && { termsOfService: termsUrl }),
    },
    servers: [{ url: appUrl, description: 'This service, in production or local', 'x-internal': false }],
    security: [{ accessToken: [] }],
    tags: [...GROUPS, { name: 'Webhooks', description: 'What the service sends to connected applications' }],
    paths,
    // A generated client in Python does not compile with a webhook that is written down right here.
    webhooks: Object.fromEntries(webhooks.map(({ name }) => [name, { $ref: `#/components/pathItems/${name}` }])),
    components: {
      pathItems: Object.fromEntries(webhooks.map((webhook) => [webhook.name, { post: toWebhook(webhook) }])),
      securitySchemes: {
        accessToken: { type: 'http', scheme: 'bearer', description: 'An access token, `uat_…`.' },
        serviceToken: { type: 'http', scheme: 'bearer', description: 'A service token, `svc_…`.' },
        taskToken: { type: 'http', scheme: 'bearer', description: 'The token of one deletion task, `dtk_…`.' },
        linkToken: { type: 'http', scheme: 'bearer', description: 'The token of a link in a mail.' },
      },
      headers: HEADERS,
      schemas: { Error: errorSchema() },
    },
  }
}

/** A user's path may hold `~` and an external id. */
const MAX_PATH_MEMBER = 256

/** The properties as they are, without the bounds of bodies. */
const propertiesOf = (schema: z.ZodObject) =>
  (z.toJSONSchema(schema, { io: 'input' }).properties ?? {}) as Record<string, Json>

/** The form is that of the source. */
const RAW: Record<string, Json> = { 'application/json': {} }

function toOperation(contract: Contract): Json {
  const properties = propertiesOf(contract.params)
  const parameters = [...contract.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const { description, ...schema } = properties[name] ?? {}
    return {
      name,
      in: 'path',
      required: true,
      ...(description !== undefined && { description }),
      schema: { minLength: 1, maxLength: MAX_PATH_MEMBER, ...schema },
    }
  })
  const query = Object.entries(contract.query ? propertiesOf(contract.query) : {}).map(
    ([name, { description, ...schema }]) => ({
      name,
      in: 'query',
      required: !contract.query?.shape[name]?.safeParse(undefined).success,
      description,
      schema: bounded(schema),
    }),
  )
  const scope = {
    name: 'X-Required-Scope',
    in: 'header',
    required: true,
    description: 'Says for which scope the token is used; the token has to hold it.',
    schema: { type: 'string', const: contract.scope },
  }
  const idempotencyKey = {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'For 24 hours the same key and body get the first answer again, without a second effect. A refusal other than EMAIL_003 and EMAIL_007 leaves the key free.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]{1,255}$' },
  }
  return {
    operationId: contract.name,
    summary: contract.summary,
    description: [
      contract.description,
      ...(refusesRoles(contract) ? ['An account that has a role is refused.'] : []),
      ...(contract.scope ? [`Scope ${contract.scope}.`] : []),
    ].join(' '),
    tags: [tagOf(contract)],
    ...securityOf(contract),
    parameters: [
      ...parameters,
      ...query,
      ...(contract.scope ? [scope] : []),
      ...(takesKey(contract) ? [idempotencyKey] : []),
    ],
    ...(contract.body && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: toSchema(contract.body, 'input'), example: contract.example.body } },
      },
    }),
    ...(contract.rawBody && {
      requestBody: {
        required: true,
        content: Object.fromEntries(
          Object.entries(contract.rawBody).map(([type, maxLength]) => [
            type,
            { schema: RAW[type] ?? { type: 'string', maxLength } },
          ]),
        ),
      },
    }),
    responses: {
      [contract.status ?? 200]: successResponse(contract),
      ...(contract.isCreated && { 201: successResponse(contract) }),
      ...errorResponses(contract),
    },
  }
}

const WEBHOOK_HEADERS = {
  'webhook-id': 'Names the message; a repeated try has the same one, so that it can be recognised.',
  'webhook-timestamp': 'When it was sent, in seconds since 1970; refuse what is older than five minutes.',
  'webhook-signature': 'Standard Webhooks, scheme v1: HMAC-SHA-256 of id, timestamp and body with the signing secret.',
}
const WEBHOOK_ANSWERS = {
  200: 'It is done.',
  202: 'Accepted: a report follows. For a message with `data.task`; otherwise the same as 200.',
  401: 'The signature does not fit. Like every answer that is not listed here, it has the message sent again.',
  404: 'The application does not know the person; that counts as done.',
  410: 'The application does not know the person any more; that counts as done.',
}

function toWebhook({ name, summary, description, message, examples }: Webhook): Json {
  return {
    operationId: name,
    summary,
    description,
    tags: ['Webhooks'],
    security: [],
    parameters: Object.entries(WEBHOOK_HEADERS).map(([header, text]) => ({
      name: header,
      in: 'header',
      required: true,
      description: text,
      schema: bounded({ type: 'string' }),
    })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: toSchema(message, 'output'), examples } },
    },
    responses: Object.fromEntries(
      Object.entries(WEBHOOK_ANSWERS).map(([status, text]) => [status, { description: text }]),
    ),
  }
}

function successResponse(contract: Contract): Json {
  if (contract.file) {
    return {
      description: contract.summary,
      headers: refs(contract, 'Content-Disposition'),
      content: { [contract.file]: {} },
    }
  }
  const properties: Json = { success: { type: 'boolean', const: true }, data: toSchema(contract.data, 'output') }
  const example: Json = { success: true, data: contract.example.data }
  if (contract.message) {
    properties.message = { type: 'string' }
    example.message = contract.message
  }
  if (contract.timestamp !== false) {
    properties.timestamp = { type: 'string', format: 'date-time' }
    example.timestamp = '2026-11-20T09:00:00.000Z'
  }
  const schema = bounded({ type: 'object', required: Object.keys(properties), properties })
  return {
    description: contract.message ?? contract.summary,
    headers: refs(
      contract,
      ...(contract.location ? ['Location' as const] : []),
      ...(takesKey(contract) ? ['Idempotency-Replayed' as const] : []),
    ),
    content: { 'application/json': { schema, example } },
  }
}

function errorResponses(contract: Contract): Json {
  const byStatus = Map.groupBy(errorsOf(contract), (code) => ERRORS[code].status)
  const responses = [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, codes]) => [status, errorResponse(contract, status, codes)])
  return Object.fromEntries(responses)
}

/** Conflicts that end by themselves. */
const MAY_PASS_LATER: readonly ErrorCode[] = ['REQUEST_007', 'USER_002']

function errorResponse(contract: Contract, status: number, codes: ErrorCode[]): Json {
  const names: (keyof typeof HEADERS)[] = []
  if (status === 401 || status === 403) names.push('WWW-Authenticate')
  if (status === 405) names.push('Allow')
  if (status === 429 || status === 503 || codes.some((code) => MAY_PASS_LATER.includes(code))) names.push('Retry-After')
  if (codes.some((code) => isReplayed(contract, code))) names.push('Idempotency-Replayed')
  const examples = codes.map((code) => [
    code,
    {
      value: {
        success: false,
        error: {
          code,
          message: ERRORS[code].message,
          details: contract.meanings?.[code] ?? ERRORS[code].details,
          ...(code === 'WITHDRAWAL_003' && { blockers: EXAMPLE_BLOCKERS, authority: EXAMPLE_AUTHORITY }),
        },
        timestamp: '2026-11-20T09:00:00.000Z',
      },
    },
  ])
  return {
    description: codes.map((code) => `${code}: ${ERRORS[code].message}`).join('; '),
    headers: refs(contract, ...names),
    content: {
      'application/json': { schema: { $ref: '#/components/schemas/Error' }, examples: Object.fromEntries(examples) },
    },
  }
}

const EXAMPLE_BLOCKERS: Blocker[] = [
  {
    code: 'pending_transactions',
    title: '1 pending transaction',
    url: null,
    source: 'account',
    ids: ['txn_5Tq8wZ1cXk7Yb3nLhRpV0a'],
    transactions: [
      {
        id: 'txn_5Tq8wZ1cXk7Yb3nLhRpV0a',
        title: 'Order 7',
        url: 'https://shop.example.com/orders/7',
        amount: { minor_units: 900, currency: 'EUR' },
        created_at: '2026-11-19T08:00:00.000Z',
      },
    ],
  },
  {
    code: 'unpaid_invoice',
    title: 'Invoice 4711 is not paid',
    url: 'https://billing.example.com/4711',
    amount: { minor_units: 1250, currency: 'EUR' },
    source: 'billing',
  },
]

function errorSchema(): Json {
  return bounded({
    type: 'object',
    required: ['success', 'error', 'timestamp'],
    properties: {
      success: { type: 'boolean', const: false },
      error: {
        type: 'object',
        required: ['code', 'message', 'details'],
        properties: {
          code: { type: 'string', enum: Object.keys(ERRORS) },
          message: { type: 'string' },
          details: { type: 'string' },
          blockers: {
            ...toSchema(z.array(blocker), 'output'),
            description: 'Of WITHDRAWAL_003: what holds the withdrawal back',
          },
          authority: toSchema(authority, 'output'),
        },
      },
      timestamp: { type: 'string', format: 'date-time' },
    },
  })
}

function toSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io })
  return bounded(json)
}
