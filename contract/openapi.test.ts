import Ajv from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { type Contract, isAccountLinkContract } from './define'
import { ERRORS, type ErrorCode } from './errors'
import { authority, blocker } from './fields'
import { meaningIn, openApiDocument } from './openapi'
import { adminOperations, OPERATIONS, operations } from './operations'
import { EVENT_TYPES } from './vocabulary'
import { webhooks } from './webhooks'

type Json = Record<string, unknown>

const media = z.object({
  schema: z.record(z.string(), z.unknown()),
  example: z.unknown().optional(),
  examples: z.record(z.string(), z.object({ value: z.unknown() })).optional(),
})
const headers = z.record(z.string(), z.object({ $ref: z.string() }))
const operationSchema = z.object({
  description: z.string(),
  operationId: z.string(),
  tags: z.array(z.string()),
  security: z.unknown().optional(),
  parameters: z.array(
    z.object({
      name: z.string(),
      in: z.string(),
      required: z.boolean().optional(),
      description: z.string().optional(),
      schema: z.looseObject({}),
    }),
  ),
  requestBody: z.object({ required: z.literal(true), content: z.object({ 'application/json': media }) }).optional(),
  responses: z.record(
    z.string(),
    z.object({
      description: z.string().min(1),
      headers,
      // A file has none; the test below says which answers are files.
      content: z.object({ 'application/json': media.default({ schema: {} }) }),
    }),
  ),
})
const envelope = z.strictObject({
  success: z.literal(false),
  error: z.strictObject({
    code: z.string(),
    message: z.string(),
    details: z.string().min(1),
    blockers: z.array(blocker).min(1).optional(),
    authority: authority.optional(),
  }),
  timestamp: z.iso.datetime({ precision: 3 }),
})

const ACME = {
  product: 'Acme',
  appUrl: 'https://accounts.acme.test',
  productUrl: 'https://acme.test/',
  supportEmail: 'help@acme.test',
  termsUrl: 'https://acme.test/terms',
}
const document = JSON.parse(JSON.stringify(openApiDocument(ACME))) as Json & {
  paths: Record<string, Json>
}
const described = operations.map((contract) => ({
  contract,
  operation: operationSchema.parse(document.paths[`/api/v1${contract.path}`]?.[contract.method.toLowerCase()]),
}))
type Described = (typeof described)[number]

const named = ({ operation }: Described): string[] =>
  Object.values(operation.responses).flatMap(({ content }) => Object.keys(content['application/json'].examples ?? {}))

const ANYWHERE: ErrorCode[] = ['REQUEST_002', 'REQUEST_004', 'SERVER_001', 'SERVER_002']
const WITH_SCOPE: ErrorCode[] = ['AUTH_001']
const WITH_BODY: ErrorCode[] = ['REQUEST_001', 'REQUEST_003']
const WITH_KEY: ErrorCode[] = ['REQUEST_006', 'REQUEST_007']
/** An Idempotency-Key belongs to an account. */
const takesKey = (contract: Contract) =>
  contract.method === 'POST' && (contract.scope !== undefined || isAccountLinkContract(contract)) && !contract.file

test('the document names the URL of the API and the contact', () => {
  expect(document.servers).toMatchObject([{ url: 'https://accounts.acme.test' }])
  expect(document.info).toMatchObject({
    title: 'Acme',
    contact: { name: 'Acme', email: 'help@acme.test', url: 'https://acme.test/' },
    termsOfService: 'https://acme.test/terms',
  })
  const supported = openApiDocument({ ...ACME, supportUrl: 'https://acme.test/help' })
  expect(supported.info).toMatchObject({ contact: { url: 'https://acme.test/help' } })
})

test('a text that is one of listed values has no other bound', () => {
  const listed = JSON.stringify(document, (_key, value) =>
    value && typeof value === 'object' && ('enum' in value || 'const' in value) ? { ...value, listed: true } : value,
  ).match(/\{[^{}]*"listed":true\}/g)
  expect(listed?.length).toBeGreaterThan(20)
  expect(listed?.filter((schema) => schema.includes('"maxLength":2000'))).toEqual([])
})

test('every operation is described exactly once, those of the description first', () => {
  expect(operations.slice(0, 7).map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /users/{userId}/email/change',
    'POST /users/{userId}/email/verify',
    'GET /users/{userId}/email/status',
    'POST /users/{userId}/email/resend-verification',
    'DELETE /users/{userId}/email/change/{changeRequestId}',
    'POST /users/{userId}/withdraw',
    'GET /users/{userId}/withdrawal/{withdrawalId}',
  ])
  const all = Object.entries(document.paths).flatMap(([path, item]) => Object.keys(item).map((m) => `${m} ${path}`))
  expect(all.sort()).toEqual(operations.map(({ method, path }) => `${method.toLowerCase()} /api/v1${path}`).sort())
  const ids = described.map(({ operation }) => operation.operationId)
  expect(ids).toEqual(operations.map(({ name }) => name))
  expect(new Set(ids).size).toBe(ids.length)
})

test.each(described.map((one) => [one.operation.operationId, one] as const))(
  '%s names every error code that it can answer, under its status, in an error envelope',
  (_name, one) => {
    const { contract } = one
    const byKind = [
      ...(contract.scope ? WITH_SCOPE : []),
      ...(contract.body ? WITH_BODY : []),
      ...(takesKey(contract) ? WITH_KEY : []),
    ]
    const expected = [...contract.errors, ...ANYWHERE, ...byKind]
    expect(expected.filter((code) => !named(one).includes(code))).toEqual([])
    for (const [status, { content }] of Object.entries(one.operation.responses)) {
      for (const [code, { value }] of Object.entries(content['application/json'].examples ?? {})) {
        expect(String(ERRORS[code as ErrorCode].status)).toBe(status)
        expect(envelope.parse(value).error).toMatchObject({ code, message: ERRORS[code as ErrorCode].message })
      }
    }
  },
)

test('every answer is JSON, except a file', () => {
  for (const { method, path, status = 200, file = 'application/json' } of operations) {
    const item = document.paths[`/api/v1${path}`] as Record<string, { responses: Record<string, { content: object }> }>
    const types = Object.entries(item[method.toLowerCase()]?.responses ?? {}).map(([code, { content }]) => [
      code,
      Object.keys(content).join(),
    ])
    expect(types.filter(([code, type]) => type !== (code === String(status) ? file : 'application/json'))).toEqual([])
  }
})

/** The verbs of these operations count the calls, because no account makes them. */
const COUNTED_BY_VERB = [
  'getEmailChange',
  'getNotMe',
  'getSignIn',
  'getPasswordReset',
  'requestPasswordReset',
  'requestWithdrawal',
]

test('RATE_001 is described exactly where a general limit counts', () => {
  const limited = described.filter((one) => named(one).includes('RATE_001')).map(({ contract }) => contract.name)
  expect(limited).toEqual(
    operations.filter(({ limit, name }) => limit || COUNTED_BY_VERB.includes(name)).map(({ name }) => name),
  )
})

test('the schema of an error names every code of the service', () => {
  const schema = at(document, '#/components/schemas/Error/properties/error/properties/code') as Json
  expect(schema.enum).toEqual(Object.keys(ERRORS))
})

const answeredAsJson = described.filter(({ contract }) => !contract.file)

test.each(answeredAsJson.map((one) => [one.operation.operationId, one] as const))(
  'the examples of %s fit the rules of its contract and its JSON schemas, which refuse them with a member missing',
  (_, { contract, operation }) => {
    const answer = operation.responses[String(contract.status ?? 200)]?.content['application/json']
    expect(answerOf(contract).parse(answer?.example)).toEqual(answer?.example)
    const body = operation.requestBody?.content['application/json']
    if (contract.body) expect(contract.body.parse(body?.example)).toEqual(body?.example)
    else if (!contract.rawBody) expect(operation.requestBody).toBeUndefined()
    for (const { schema, example } of [answer, body].filter((one) => one !== undefined)) {
      const isDescribed = new Ajv({ strict: false, validateFormats: false }).compile(schema)
      expect(isDescribed(example)).toBe(true)
      for (const key of (schema.required ?? []) as string[]) {
        const { [key]: _, ...rest } = example as Json
        expect({ key, accepted: isDescribed(rest) }).toEqual({ key, accepted: false })
      }
    }
  },
)

test('the document holds nothing that breaks the clients which openapi-generator makes', () => {
  const broken: unknown[] = []
  JSON.stringify(document, (key, value) => {
    // Examples are no schemas.
    if (key === 'example' || key === 'examples') return undefined
    const { const: fixed, anyOf, properties } = value ?? {}
    const isChoiceOfTexts = Array.isArray(anyOf) && anyOf.every(({ type }) => type === 'string')
    if (typeof fixed === 'boolean' || (properties && anyOf) || isChoiceOfTexts) broken.push(value)
    return value
  })
  for (const webhook of Object.values(document.webhooks as Json)) expect(Object.keys(webhook as Json)).toEqual(['$ref'])
  expect(broken).toEqual([])
})

test('every operation of an account requires a token and its scope, and every operation describes each placeholder of its path', () => {
  expect(document.security).toEqual([{ accessToken: [] }])
  expect(at(document, '#/components/securitySchemes/accessToken')).toMatchObject({ type: 'http', scheme: 'bearer' })
  for (const { contract, operation } of described) {
    const scope = operation.parameters.find(({ name }) => name === 'X-Required-Scope')
    if (contract.scope) expect(scope).toMatchObject({ in: 'header', required: true, schema: { const: contract.scope } })
    else expect(scope).toBeUndefined()
    const placeholders = [...contract.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    const inPath = operation.parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)
    expect(inPath).toEqual(placeholders)
  }
})

test('401 and 403 describe WWW-Authenticate, 405 Allow, 429 and 503 Retry-After, and every answer X-Request-Id', () => {
  const wanted: Record<string, string> = {
    401: 'WWW-Authenticate',
    403: 'WWW-Authenticate',
    405: 'Allow',
    429: 'Retry-After',
    503: 'Retry-After',
  }
  for (const { operation } of described) {
    for (const [status, response] of Object.entries(operation.responses)) {
      const names = Object.keys(response.headers)
      expect(names).toEqual(expect.arrayContaining(['X-Request-Id', ...(wanted[status] ? [wanted[status]] : [])]))
    }
  }
})

test('a 409 describes Retry-After if it can end by itself: a first call with the key still runs, or a deletion does', () => {
  for (const one of described) {
    const headers = Object.keys(one.operation.responses['409']?.headers ?? {})
    expect(headers.includes('Retry-After')).toBe(['REQUEST_007', 'USER_002'].some((code) => named(one).includes(code)))
  }
})

test('the answer that starts a withdrawal describes its Location', () => {
  const started = described.find(({ contract }) => contract.name === 'withdrawAccount')
  expect(Object.keys(started?.operation.responses['202']?.headers ?? {})).toContain('Location')
})

test('admin operations take a service token, links and tasks take tokens of their own, and no other operation does', () => {
  const taking = Object.fromEntries(
    described
      .filter(({ operation }) => operation.security)
      .map(({ contract, operation }) => [contract.name, operation.security]),
  )
  expect(taking).toEqual({
    getEmailChange: [],
    receiveMailEvents: [],
    requestPasswordReset: [],
    requestWithdrawal: [],
    ...Object.fromEntries(
      [
        'confirmPasswordReset',
        'confirmRequestedWithdrawal',
        'disownSignIn',
        'getNotMe',
        'getPasswordReset',
        'getSignIn',
        'previewRequestedWithdrawal',
        'undoEmailChange',
      ].map((name) => [name, [{ linkToken: [] }]]),
    ),
    reportOnTask: [{ taskToken: [] }],
    ...Object.fromEntries(adminOperations.map(({ name }) => [name, [{ serviceToken: [] }]])),
  })
  for (const scheme of ['serviceToken', 'taskToken', 'linkToken']) {
    expect(at(document, `#/components/securitySchemes/${scheme}`)).toMatchObject({ type: 'http', scheme: 'bearer' })
  }
})

test('an operation that can create describes 201 beside 200, and a query is described as it is checked', () => {
  const named = (name: string) => described.find(({ contract }) => contract.name === name)?.operation
  expect(Object.keys(named('putUser')?.responses ?? {}).slice(0, 2)).toEqual(['200', '201'])
  const query = named('findUser')?.parameters.find((parameter) => parameter.in === 'query')
  expect(query).toMatchObject({ name: 'email', required: true, schema: { format: 'idn-email', maxLength: 254 } })
})

test('every POST of an account describes the Idempotency-Key, and no other operation does', () => {
  const taking = described
    .filter(({ operation }) => operation.parameters.some(({ name }) => name === 'Idempotency-Key'))
    .map(({ contract }) => contract.name)
  expect(taking).toEqual(operations.filter(takesKey).map(({ name }) => name))
})

test('every operation, parameter, field of a body and field of an answer has a sentence of its own', () => {
  const sentences = operations.map(({ description }) => description)
  expect(new Set(sentences).size).toBe(operations.length)
  expect(
    operations.filter(({ description, summary }) => !/\.$/.test(description) || description === `${summary}.`),
  ).toEqual([])
  const bare = described.flatMap(({ contract, operation }) => {
    const answer = operation.responses[String(contract.status ?? 200)]?.content['application/json'].schema
    return [
      ...operation.parameters.filter((parameter) => !('description' in parameter)).map(({ name }) => name),
      ...bareFields(operation.requestBody?.content['application/json'].schema),
      ...bareFields(at(answer, 'properties/data')),
    ].map((name) => `${contract.name}: ${name}`)
  })
  expect(bare).toEqual([])
  expect(webhooks.flatMap(({ message }) => bareFields(z.toJSONSchema(message)))).toEqual([])
})

test('every message to an application is described, with examples that fit its rules', () => {
  const others = ['account.withdrawal_check', 'account.absence_check', 'ping']
  expect(webhooks.map(({ name }) => name)).toEqual([...EVENT_TYPES, ...others])
  expect(Object.keys(document.webhooks as Json)).toEqual(webhooks.map(({ name }) => name))
  for (const { message, examples } of webhooks) {
    expect(Object.keys(examples).length).toBeGreaterThan(0)
    for (const { value } of Object.values(examples)) expect(message.parse(value)).toEqual(value)
  }
})

test('every write of a service on an account says that it refuses one that has a role', () => {
  const names = (contract: Contract) => Object.keys({ ...contract.params.shape, ...contract.body?.shape })
  const isOnAccount = (contract: Contract) =>
    contract.method !== 'GET' &&
    ['externalId', 'user_id', 'transactionId'].some((name) => names(contract).includes(name))
  const writes = adminOperations.filter(isOnAccount).map(({ name }) => name)
  const saying = described.filter(({ operation }) =>
    operation.description.includes('An account that has a role is refused.'),
  )
  expect(saying.map(({ contract }) => contract.name)).toEqual(writes)
  for (const name of writes) expect(meaningIn(OPERATIONS[name], 'AUTH_002')).toContain('has a role')
})

test('every field of an answer that may be absent or null says when', () => {
  const silent = [
    ...operations.map(({ name, data }) => ({ name, shown: data })),
    ...webhooks.map(({ name, message }) => ({ name, shown: message })),
  ].flatMap(({ name, shown }) =>
    unexplained(z.toJSONSchema(shown, { io: 'output' })).map((field) => `${name}: ${field}`),
  )
  expect(silent).toEqual([])
})

/** The fields, at any depth, that may be absent or null and do not say when. */
function unexplained(schema: unknown, path = ''): string[] {
  const { properties = {}, required = [], items, anyOf = [] } = schema as JsonSchema
  const isNullTogether = 'has_pending' in properties
  const members = Object.entries(properties).flatMap(([name, member]) => {
    const { description = '', anyOf: either = [] } = member
    const isNull = !isNullTogether && either.some(({ type }) => type === 'null')
    const isSilent =
      (!required.includes(name) && !/absent|present|only where/i.test(description)) ||
      (isNull && !/null/i.test(description))
    return [...(isSilent ? [`${path}${name}`] : []), ...unexplained(member, `${path}${name}.`)]
  })
  return [...members, ...[...(items ? [items] : []), ...anyOf].flatMap((one) => unexplained(one, path))]
}

interface JsonSchema {
  type?: string
  description?: string
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  anyOf?: JsonSchema[]
}

/** The fields without a description, at any depth. */
function bareFields(schema: unknown, path = ''): string[] {
  const { properties = {}, items, anyOf = [] } = (schema ?? {}) as { properties?: Json; items?: Json; anyOf?: Json[] }
  const members = Object.entries(properties as Record<string, Json>).flatMap(([name, member]) => [
    ...(member.description ? [] : [`${path}${name}`]),
    ...bareFields(member, `${path}${name}.`),
  ])
  // Beside properties of its own, anyOf only narrows them.
  const alternatives = Object.keys(properties).length > 0 ? [] : anyOf
  return [...members, ...[items, ...alternatives].filter(Boolean).flatMap((one) => bareFields(one, path))]
}

function answerOf(contract: Contract): z.ZodType {
  return z.strictObject({
    success: z.literal(true),
    data: z.strictObject(contract.data.shape),
    ...(contract.message && { message: z.string() }),
    ...(contract.timestamp !== false && { timestamp: z.iso.datetime({ precision: 3 }) }),
  })
}

function at(root: unknown, ref: string): unknown {
  const path = ref
    .replace(/^#\//, '')
    .split('/')
    .map((key) => key.replaceAll('~1', '/'))
  return path.reduce<unknown>((value, key) => (value as Json | undefined)?.[key], root)
}
