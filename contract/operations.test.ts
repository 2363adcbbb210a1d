import { expect, test } from 'vitest'
import { OPERATIONS } from './operations'
import * as sdk from './sdk'

test('the client exports every operation under its name', () => {
  expect(Object.keys(sdk)).toEqual(expect.arrayContaining(Object.keys(OPERATIONS)))
})
