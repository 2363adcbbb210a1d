import { expect, test } from 'vitest'
import { operations } from '@/contract/operations'
import { hostileBodies } from './hostile-bodies'

const withBody = operations.flatMap(({ name, body, accepts, example }) =>
  body ? [{ name, body, accepts, example }] : [],
)

test.each(withBody.map((contract) => [contract.name, contract] as const))(
  'no hostile value in any member of a body makes the rules of %s throw',
  (_name, { body, accepts, example }) => {
    const bodies = hostileBodies(body, example.body ?? {}).map((hostile) => JSON.parse(JSON.stringify(hostile)))
    expect(bodies.length).toBeGreaterThan(40)
    for (const hostile of bodies) {
      expect(() => [body, accepts].map((schema) => schema?.safeParse(hostile)), JSON.stringify(hostile)).not.toThrow()
    }
  },
)

test('the hostile values reach nested members and list entries', () => {
  const texts = withBody.flatMap(({ body, example }) =>
    hostileBodies(body, example.body ?? {}).map((hostile) => JSON.stringify(hostile)),
  )
  for (const part of ['"feedback":{"toString":1}', '"analytics":{"__proto__":null}', '"scopes":[{"then":{}}']) {
    expect(texts.filter((text) => text.includes(part))).not.toEqual([])
  }
  expect(
    texts.filter((text) => text.includes('"reason":"other"') && text.includes('"feedback":{"toString":1}')),
  ).not.toEqual([])
})
