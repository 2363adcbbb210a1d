import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { operations } from './operations'

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
