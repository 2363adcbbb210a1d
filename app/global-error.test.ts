import { expect, test } from 'vitest'
import { textsOf } from '@/testing/message-texts'
import { LAST_RESORT } from './global-error'

test('what the last error page says where no texts can be loaded is what the catalogue says', () => {
  expect(textsOf('en').Failure).toMatchObject(LAST_RESORT)
})
