import { expect, test } from 'vitest'
import { nextPath } from './next-path'

test('a path of this origin is kept with its query', () => {
  for (const path of ['/settings/withdraw', '/verify-email?x=1', '/a/../settings/sessions']) {
    expect(nextPath(path)).toBe(new URL(path, 'http://here.invalid').href.replace('http://here.invalid', ''))
  }
})

test.each([
  ...['//evil.test', '/\\evil.test', 'https://evil.test', 'javascript:alert(1)', '\t//evil.test', '/\t/evil.test', ''],
  ...['/.//evil.test', '/..//evil.test', '/%2e//evil.test', '/.\\/evil.test', '/a/..//evil.test'],
  ...[undefined, [['/settings/email']], 7],
])('%j leads to the settings', (wish) => {
  expect(nextPath(wish)).toBe('/settings/email')
})
