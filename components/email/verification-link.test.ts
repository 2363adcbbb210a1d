import { expect, test } from 'vitest'
import { maskAddress } from '@/contract/address'
import { fragmentOf, maskedAddressOf, parseLink } from './verification-link'

const SECRET = 'request=ecr_7Yc1fVn0Qk2mXh3rTzB8dA&code=042137'
const parsed = (more: string) => parseLink(new URLSearchParams(SECRET + more))

test('a link says which address to sign in with, masked as in the message', () => {
  for (const address of ['ada@example.test', 'Ada@BÜCHER.test', '+ada@mail.example.test']) {
    const hint = encodeURIComponent(address.slice(0, 1) + address.slice(address.indexOf('@')))
    const link = parsed(`&as=${hint}`)
    expect(link && maskedAddressOf(link)).toBe(maskAddress(address))
    expect(link?.isOwn).toBe(false)
  }
})

test('a link without the additions still works, and half of a secret does not', () => {
  expect(parsed('')).toEqual({
    secret: { change_request_id: 'ecr_7Yc1fVn0Qk2mXh3rTzB8dA', verification_code: '042137' },
    isOwn: false,
    as: null,
  })
  expect(parseLink(new URLSearchParams('request=ecr_7Yc1fVn0Qk2mXh3rTzB8dA&as=a@b.test'))).toBeNull()
})

test.each([
  'Your account was hacked, call +1 555 0100',
  'call us@example.test',
  'a@example.test or call us',
  'a@@example.test',
  '@example.test',
  'a@example',
  'a@example..test',
  'a@exam\u200Bple.test',
  'a@exam\u202Eple.test',
  'a@example.test/path',
  'a@example.test:80',
  '<b>@example.test',
  'é@example.test',
  `a@${'long-label.'.repeat(30)}test`,
])('the page never shows the text "%s" of a link', (text) => {
  const link = parsed(`&as=${encodeURIComponent(text)}`)
  expect(link).not.toBeNull()
  expect(link && maskedAddressOf(link)).toBeNull()
})

test('the fragment for the sign-in page says what the link said, and nothing that it should not say', () => {
  const link = parsed('&own=1&as=a%40example.test&text=hacked')
  expect(link && fragmentOf(link)).toBe(`#${SECRET}&own=1&as=a%40example.test`)
  const other = parsed('&own=yes&as=hacked')
  expect(other && fragmentOf(other)).toBe(`#${SECRET}`)
})
