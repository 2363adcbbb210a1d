import Ajv from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseAddress, parseNewAddress } from './address'
import { asciiDigits } from './digits'
import { openApiDocument } from './openapi'
import { operations } from './operations'

type Json = Record<string, unknown>

interface TextSchema {
  type?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  enum?: string[]
  const?: string
  format?: string
}

const ACME = { product: 'Acme', appUrl: 'https://accounts.acme.test', supportEmail: 'help@acme.test' }
const document = JSON.parse(JSON.stringify(openApiDocument(ACME))) as {
  paths: Record<string, Record<string, Json>>
}
const schemaOf = (name: string): Json & { properties: Record<string, TextSchema> } => {
  const contract = operations.find((each) => each.name === name)
  const operation = document.paths[`/api/v1${contract?.path}`]?.[contract?.method.toLowerCase() ?? ''] as {
    requestBody: { content: { 'application/json': { schema: Json & { properties: Record<string, TextSchema> } } } }
  }
  return operation.requestBody.content['application/json'].schema
}

/** JSON Schema counts lengths in code points and reads patterns with the flag `u`. */
function isDescribed(schema: TextSchema, text: string): boolean {
  const length = [...text].length
  return (
    (schema.pattern === undefined || new RegExp(schema.pattern, 'u').test(text)) &&
    length >= (schema.minLength ?? 0) &&
    length <= (schema.maxLength ?? Number.POSITIVE_INFINITY) &&
    (schema.enum === undefined || schema.enum.includes(text)) &&
    (schema.const === undefined || schema.const === text)
  )
}

/** What shows nothing, ends a line, turns its direction or hides a text, and the joiners. */
const UNSEEN = [
  '\u2028',
  '\u2029',
  '\u202e',
  '\u2066',
  '\u061c',
  '\u{e0041}',
  '\u200d',
  '\u200c',
  '\u3164',
  '\u2800',
  '\ufe0f',
]

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.string({
    unit: fc.constantFrom(
      ' ',
      '\t',
      '\n',
      '\0',
      '\u0085',
      '\u00ad',
      '\u200b',
      '\ufeff',
      '\u3000',
      'a',
      '🙂',
      ...UNSEEN,
    ),
    maxLength: 4,
  }),
  fc
    .tuple(fc.constantFrom('x', '🙂', 'é', ' '), fc.constantFrom(6, 7, 100, 101, 500, 501, 1024, 1025, 2000, 2001))
    .map(([unit, times]) => unit.repeat(times)),
  fc.constantFrom('email_code', 'other', 'DELETE_MY_ACCOUNT', '000000', '000000\n', '٠٠٠٠٠٠', `ecr_${'A'.repeat(22)}`),
)

/** Addresses have tests of their own below. A subject is bounded in bytes, which no JSON Schema can say. */
const NOT_DESCRIBED = ['new_email', 'email', 'subject']

const fields = operations.flatMap(({ name, body, example }) =>
  Object.entries(body ? schemaOf(name).properties : {})
    .filter(([field, schema]) => schema.type === 'string' && !NOT_DESCRIBED.includes(field))
    .map(([field]) => [name, field, { body, valid: example.body ?? {} }] as const),
)

test('the text members of every body are checked', () => {
  expect(fields.map(([name, field]) => `${name}.${field}`)).toEqual(
    expect.arrayContaining([
      'changeEmail.current_password',
      'verifyEmail.change_request_id',
      'verifyEmail.verification_code',
      'withdrawAccount.feedback',
      'createAccessToken.name',
      'putUser.name',
      'withdrawUser.requested_by',
    ]),
  )
})

test.each(fields)(
  'the description of %s.%s accepts exactly the texts that the service accepts',
  (name, field, given) => {
    const schema = schemaOf(name).properties[field] as TextSchema
    fc.assert(
      fc.property(text, (value) => {
        const { reason: _, ...valid } = given.valid as Json
        const result = given.body?.safeParse({ ...valid, ...(field === 'reason' && { feedback: 'x' }), [field]: value })
        // The description names the digits that are mailed, because not every language has a pattern for those of every script.
        const read = field === 'verification_code' ? asciiDigits(value) : value
        expect({ value, accepted: result?.success }).toEqual({ value, accepted: isDescribed(schema, read) })
      }),
      { numRuns: 2_000, seed: 20261123 },
    )
  },
)

const { new_email: addressSchema = {} } = schemaOf('changeEmail').properties
const { email: accountSchema = {} } = schemaOf('requestPasswordReset').properties

test.each([
  ...['a@b.test', 'a@b.c', "#$&'*+-/?^_`{|}~=@b.test", 'a@почта.рф', 'a@\u05D0\u05D1.test', 'a@-ü.test'],
  ...['a@4.5.b.test', 'a@b.3com', 'a@XN--BCHER-KVA.test', 'a@straße.test', `${'a'.repeat(64)}@b.test`],
])('the description accepts %s, which is an acceptable address', (address) => {
  expect([parseNewAddress(address) !== null, isDescribed(addressSchema, address)]).toEqual([true, true])
})

test('the description of an address accepts every address of plain letters that the service accepts, and no other', () => {
  const part = fc.string({ unit: fc.constantFrom(...'abzAZ019-_.+%!"=?@ (,\\\n\x7f'), maxLength: 12 })
  const label = fc.constantFrom(
    'b',
    'B9',
    '-b',
    'b-',
    'b--c',
    '12',
    '0x1f',
    '0x',
    '3com',
    'd'.repeat(63),
    'd'.repeat(64),
  )
  const built = fc
    .tuple(fc.oneof(part, fc.constantFrom('a'.repeat(64), 'a'.repeat(65), 'a=?b')), fc.array(label, { maxLength: 5 }))
    .map(([local, labels]) => `${local}@${labels.join('.')}`)
  const around = fc.tuple(part, part).map(([local, domain]) => `${local}@${domain}`)
  fc.assert(
    fc.property(fc.oneof(built, around, fc.emailAddress()), (address) => {
      // No pattern can tell whether an A-label is valid.
      fc.pre(!/xn--/i.test(address))
      expect([address, isDescribed(addressSchema, address), isDescribed(accountSchema, address)]).toEqual([
        address,
        parseNewAddress(address) !== null,
        parseAddress(address) !== null,
      ])
    }),
    { numRuns: 5_000, seed: 20261123 },
  )
})

test('the description of an address names its format and its minimum and maximum length', () => {
  expect(addressSchema).toMatchObject({ type: 'string', format: 'idn-email', minLength: 5, maxLength: 254 })
})

test('the description requires feedback exactly when the service does', () => {
  const isDescribed = new Ajv({ strict: false }).compile(schemaOf('withdrawAccount'))
  const body = operations.find(({ name }) => name === 'withdrawAccount')?.body
  const blanks = ['', ' ', '\t\n', '\u00a0\u3000', '\u00ad', '\u200b\u2060', '\ufeff', '\u061c']
  for (const reason of [undefined, 'no_longer_needed', 'other']) {
    for (const feedback of [undefined, 'because', ' x ', '🙂', ...blanks]) {
      const sent = JSON.parse(JSON.stringify({ confirmation: 'DELETE_MY_ACCOUNT', reason, feedback }))
      expect({ sent, described: isDescribed(sent) }).toEqual({
        sent,
        described: body?.safeParse(sent).success,
      })
    }
  }
})

test('the description and the service agree on which characters are visible', () => {
  const { else: rest } = schemaOf('withdrawAccount') as unknown as {
    else: { properties: { feedback: { pattern: string } } }
  }
  const visible = new RegExp(rest.properties.feedback.pattern, 'u')
  const differing: number[] = []
  for (let code = 0; code <= 0xffff; code++) {
    const char = String.fromCharCode(code)
    if (visible.test(char) !== /[^\s\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u.test(char)) differing.push(code)
  }
  expect(differing).toEqual([])
})

test('the description has the patterns that the service checks in the ids of paths', () => {
  const patterns = operations.flatMap(({ method, path }) => {
    const operation = document.paths[`/api/v1${path}`]?.[method.toLowerCase()]
    const parameters = (operation?.parameters ?? []) as { name: string; schema: Json }[]
    return parameters.map(({ name, schema }) => [name, schema.pattern] as const)
  })
  expect(Object.fromEntries(patterns)).toMatchObject({
    changeRequestId: '^ecr_[A-Za-z0-9_-]{22}$',
    accessId: '^tok_[A-Za-z0-9_-]{22}$',
    sessionId: '^ses_[A-Za-z0-9_-]{22}$',
  })
})
