import { expect, test } from 'vitest'
import { suggestAddress } from './mistyped-domain'

test.each([
  ['ada@gmial.com', 'ada@gmail.com'],
  [' Ada.L@GMIAL.com ', 'Ada.L@gmail.com'],
  ['ada@hotmail.con', 'ada@hotmail.com'],
  ['ada@gmail.com', null],
  ['ada@gmail.co', null],
  ['ada@constructor', null],
  ['gmial.com', null],
  ['@gmial.com', null],
  ['', null],
])('%j probably means %j', (address, meant) => {
  expect(suggestAddress(address)).toBe(meant)
})
