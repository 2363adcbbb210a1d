import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { decrypt, encrypt } from './encryption'

const key = randomBytes(32)

test('what was encrypted comes back with the same key only', () => {
  const sealed = encrypt(key, 'text')
  expect(decrypt(key, sealed)?.toString()).toBe('text')
  expect(decrypt(randomBytes(32), sealed)).toBeNull()
})

test('nothing is content too, and twelve bytes of nonce and sixteen of tag are the least there can be', () => {
  const sealed = encrypt(key, '')
  expect(sealed).toHaveLength(28)
  expect(decrypt(key, sealed)).toEqual(Buffer.alloc(0))
  expect(decrypt(key, sealed.subarray(0, 27))).toBeNull()
  expect(decrypt(key, Buffer.alloc(0))).toBeNull()
})
