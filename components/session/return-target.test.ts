import { expect, test } from 'vitest'
import { returnTarget } from './return-target'

const ALLOWED = ['https://app.example.com', 'https://app.example.com:8443', 'myapp:', 'com.example.app:']

test.each([
  ['https://app.example.com', 'https://app.example.com/'],
  ['https://app.example.com/settings?tab=email#top', 'https://app.example.com/settings?tab=email#top'],
  ['https://APP.example.com:443/x', 'https://app.example.com/x'],
  ['https://app.example.com:8443/x', 'https://app.example.com:8443/x'],
  ['https://app.example.com\\@evil.test', 'https://app.example.com/@evil.test'],
  ['myapp:', 'myapp:'],
  ['myapp://settings/email?done=1', 'myapp://settings/email?done=1'],
  ['com.example.app:/back', 'com.example.app:/back'],
])('%s leads back to %s', (wish, target) => {
  expect(returnTarget(wish, ALLOWED)).toBe(target)
})

test.each([
  ...['', 'app.example.com', '/settings', '//app.example.com', '/\\app.example.com', '\\\\app.example.com', '?x', '#x'],
  ...[
    'http://app.example.com',
    'https://evil.test',
    'https:\\\\evil.test',
    'https:evil.test',
    'https://evil.test/https://app.example.com',
  ],
  ...[
    'https://app.example.com.evil.test',
    'https://evil-app.example.com',
    'https://app.example.com:444',
    'https://app.example.com.',
  ],
  ...[
    'https://app.example.com@evil.test',
    'https://evil.test@app.example.com',
    'https://u:p@app.example.com',
    'https://app.example.com%2eevil.test',
  ],
  ...[
    'https://app.example.com\t.evil.test',
    'https://evil.test\n#https://app.example.com',
    'https%3A%2F%2Fapp.example.com',
  ],
  ...[
    'javascript:alert(1)',
    'java\nscript:alert(1)',
    ' javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'blob:https://app.example.com/x',
  ],
  ...[
    'file:///etc/passwd',
    'ws://app.example.com',
    'otherapp://x',
    'myapp2:x',
    'xmyapp:x',
    'intent://x#Intent;scheme=myapp;end',
    'https:',
    'https://',
  ],
])('L33 %j is no way back', (wish) => {
  expect(returnTarget(wish, ALLOWED)).toBeNull()
})

test('no address is a way back without a list of them, or without a `return_to`', () => {
  expect([returnTarget('https://app.example.com', []), returnTarget(null, ALLOWED)]).toEqual([null, null])
})
