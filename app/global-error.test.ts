import { expect, test } from 'vitest'
import { textsOf } from '@/testing/message-texts'
import { LAST_RESORT } from './global-error'

test('the last error page has the texts of the catalogue even if it cannot load them', () => {
  expect(textsOf('en').Failure).toMatchObject(LAST_RESORT)
})
