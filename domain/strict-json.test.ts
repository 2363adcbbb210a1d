import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseStrictJson } from './strict-json'

const parse = (text: string) => parseStrictJson(text, 5)

test.each([
  ['an object', '{"a":1}', { a: 1 }],
  ['five containers', '{"a":[{"b":[{}]}]}', { a: [{ b: [{}] }] }],
  ['the same key in two objects', '[{"a":1},{"a":2}]', [{ a: 1 }, { a: 2 }]],
  ['the same key inside and outside', '{"a":{"a":1}}', { a: { a: 1 } }],
  ['the same text as key and as value', '{"a":"a","b":"a"}', { a: 'a', b: 'a' }],
  ['keys that differ in letter case', '{"a":1,"A":2}', { a: 1, A: 2 }],
  ['brackets and colons inside a string', '{"a":"]}[[[[[[{{{\\":","b":1}', { a: ']}[[[[[[{{{":', b: 1 }],
  ['a string that ends in a backslash', '{"a":"\\\\","b":1}', { a: '\\', b: 1 }],
  ['white space of all four kinds', ' {\t"a"\r\n:\n1 } ', { a: 1 }],
  ['a null', 'null', null],
  ['a lone surrogate as an escape', '{"a":"\\ud83d"}', { a: '\ud83d' }],
  ['a byte-order mark inside a string', '{"a":"\uFEFF"}', { a: '\uFEFF' }],
])('%s is read', (_, text, value) => {
  expect(parse(text)).toEqual({ value })
})

test.each([
  ['a key that stands twice', '{"a":1,"a":2}', /twice/],
  ['a key that stands twice with another between', '{"a":1,"b":{"a":3},"a":2}', /twice/],
  ['a key that stands twice in an inner object', '{"x":[{"a":1,"a":2}]}', /twice/],
  ['a key that stands twice, once as an escape', '{"a":1,"\\u0061":2}', /twice/],
  ['a key that stands twice, with white space before the colon', '{"a":1,"a"\n\t :2}', /twice/],
  ['an empty key that stands twice', '{"":1,"":2}', /twice/],
  ['__proto__ twice', '{"__proto__":1,"__proto__":2}', /twice/],
  ['six containers', '{"a":[{"b":[{"c":[]}]}]}', /nests/],
  ['ten thousand containers', '['.repeat(10_000), /nests/],
  ['nothing', '', /not valid JSON/],
  ['half an object', '{"a":1', /not valid JSON/],
  ['half a string', '{"a":"b', /not valid JSON/],
  ['two values', '{"a":1}{"b":2}', /not valid JSON/],
  ['a raw line end in a string', '{"a":"\n"}', /not valid JSON/],
  ['an escape that is none', '{"a":"\\x41"}', /not valid JSON/],
  ['a no-break space as white space', '\u00A0{"a":1}', /not valid JSON/],
  ['a byte-order mark', '\uFEFF{"a":1}', /byte-order mark/],
])('%s is refused with the reason', (_, text, reason) => {
  expect(parse(text)).toEqual({ problem: expect.stringMatching(reason) })
})

test('a key named __proto__ is a plain member and reaches no prototype', () => {
  const result = parse('{"__proto__":{"isAdmin":true}}')
  const value = 'value' in result ? (result.value as object) : null
  expect(Object.keys(value ?? {})).toEqual(['__proto__'])
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  expect('isAdmin' in {}).toBe(false)
})

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0

test('the output of JSON.stringify is parsed unchanged up to five nested containers, and refused above', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 7, noUnicodeString: false }), fc.constantFrom(0, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      const expected = depthOf(value) <= 5 ? { value: JSON.parse(text) } : { problem: expect.stringMatching(/nests/) }
      expect(parse(text)).toEqual(expected)
    }),
    { numRuns: 500, seed: 20261120 },
  )
})

test('the parser throws for no text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      const result = parse(text)
      expect('value' in result || 'problem' in result).toBe(true)
    }),
    { numRuns: 500, seed: 20261120 },
  )
})

test('the largest body of quotes, backslashes or brackets is judged in well under a second', () => {
  const startedAt = performance.now()
  for (const text of ['"', '\\', '"\\', '{"":', '"":', '[],', '{},', '"a":']) {
    parse(`{${text.repeat(16_384 / text.length)}`)
  }
  expect(performance.now() - startedAt).toBeLessThan(1_000)
})
