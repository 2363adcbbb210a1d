import { expect, test } from 'vitest'
import { checkAnswer } from '@/contract/blockers'
import { operations } from '@/contract/operations'
import { hostileBodies, rightBodies } from './hostile-bodies'

const schemas = [
  ...operations.flatMap(({ name, body, accepts, query, params, data, example }) => [
    { of: `the body of ${name}`, schema: body, example: example.body },
    { of: `the body of ${name} as it is read`, schema: accepts, example: example.body },
    { of: `the query of ${name}`, schema: query, example: example.query },
    { of: `the path of ${name}`, schema: params, example: {} },
    { of: `the answer of ${name}`, schema: data, example: example.data },
  ]),
  { of: "an application's answer to a check", schema: checkAnswer, example: { blockers: [{}] } },
].flatMap(({ of, schema, example = {} }) =>
  schema && Object.keys(schema.shape).length > 0 ? [[of, schema, example] as const] : [],
)

test.each(schemas)('no hostile value in any member makes the rules of %s throw', (_of, schema, example) => {
  const values = hostileBodies(schema, rightBodies(schema, example)).map((hostile) => JSON.stringify(hostile))
  expect(values.length).toBeGreaterThan(40)
  for (const value of values) expect(() => schema.safeParse(JSON.parse(value)), value).not.toThrow()
})

test('the hostile values reach nested members and list entries', () => {
  const texts = operations.flatMap(({ body, example }) =>
    body ? hostileBodies(body, rightBodies(body, example.body ?? {})).map((hostile) => JSON.stringify(hostile)) : [],
  )
  for (const part of [
    '"feedback":{"toString":1}',
    '"analytics":{"__proto__":null}',
    '"scopes":[{"then":{}}',
    '"new_email":{"length":{"toString":1,"valueOf":1}}',
  ]) {
    expect(texts.filter((text) => text.includes(part))).not.toEqual([])
  }
  expect(
    texts.filter((text) => text.includes('"reason":"other"') && text.includes('"feedback":{"toString":1}')),
  ).not.toEqual([])
})
