import { expect, test } from 'vitest'
import { asciiDigits } from './digits'
import { verifyEmail } from './email'

const change = { change_request_id: verifyEmail.example.body.change_request_id }
const codeOf = (verification_code: string) =>
  verifyEmail.body.safeParse({ ...change, verification_code }).data?.verification_code

test.each(['１２３４５６', '١٢٣٤٥٦', '۱۲۳۴۵۶', '१२३४५६', '𝟏𝟐𝟑𝟒𝟓𝟔', '𝟷𝟸𝟹𝟺𝟻𝟼', '1２٣۴५𝟔'])(
  'B74 the code %s is 123456',
  (code) => {
    expect(codeOf(code)).toBe('123456')
  },
)

test('B74 every decimal digit of Unicode has a value, and each script has all ten', () => {
  const digits = Array.from({ length: 0x110000 }, (_, codePoint) => codePoint)
    .filter((codePoint) => codePoint < 0xd800 || codePoint > 0xdfff)
    .map((codePoint) => String.fromCodePoint(codePoint))
    .filter((character) => /\p{Nd}/u.test(character))
  const values = digits.map(asciiDigits)
  expect(values.length).toBeGreaterThan(600)
  expect(values).toEqual(values.map((_, place) => String(place % 10)))
})

test.each(['12345', '1234567', '12345六', '²²²²²²', 'Ⅵ12345', '１２３４５６ ', ''])('the code %j is none', (code) => {
  expect(codeOf(code)).toBeUndefined()
})
