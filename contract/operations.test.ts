import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { OPERATIONS, operations } from './operations'
import * as sdk from './sdk'

const PAGE = readFileSync('docs/api.md', 'utf8')

/** As on the page: a user's calls without the common beginning of their paths. */
const callOf = (method: string, path: string) =>
  `${method} ${path.startsWith('/users/{userId}/') ? path.replace('/users/{userId}', '') : `/api/v1${path}`}`

test.each(operations.map(({ name, method, path }) => [name, callOf(method, path)]))(
  'docs/api.md names the call of %s',
  (_name, call) => {
    const named = [...PAGE.matchAll(/`([A-Z]+ \/[^`?]*)[^`]*`/g)].map(([, text]) => text)
    expect(named).toContain(call)
  },
)

/** The rows of the tables of calls, with the cell that may name a scope. */
const ROWS = [...PAGE.matchAll(/^\| (`[A-Z]+ \/[^|]*) \| ([^|]*) \|/gm)].map(([, calls = '', cell = '']) => ({
  calls: [...calls.matchAll(/`([A-Z]+ \/[^`?]*)[^`]*`/g)].map(([, call]) => `${call}`),
  scope: /^`(\w+:\w+)`$/.exec(cell)?.[1],
}))

test('each row of docs/api.md is a call that exists, with its scope', () => {
  const scopes = new Map(operations.map(({ method, path, scope }) => [callOf(method, path), scope]))
  const named = ROWS.flatMap(({ calls, scope }) => calls.map((call) => ({ call, scope })))
  expect(named.length).toBeGreaterThan(15)
  for (const { call, scope } of named) {
    expect(scopes.has(call), call).toBe(true)
    if (scope) expect([call, scope]).toEqual([call, scopes.get(call)])
  }
})

test('the client exports every operation under its name', () => {
  expect(Object.keys(sdk)).toEqual(expect.arrayContaining(Object.keys(OPERATIONS)))
})
