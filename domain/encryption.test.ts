import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { decrypt, encrypt } from './encryption'

const key = randomBytes(32)

test('only the same key decrypts what it has encrypted', () => {
  const sealed = encrypt(key, 'text')
  expect(decrypt(key, sealed)?.toString()).toBe('text')
  expect(decrypt(randomBytes(32), sealed)).toBeNull()
})

test('empty content can be encrypted, and twelve bytes of nonce and sixteen of tag are the minimum', () => {
  const sealed = encrypt(key, '')
  expect(sealed).toHaveLength(28)
  expect(decrypt(key, sealed)).toEqual(Buffer.alloc(0))
  expect(decrypt(key, sealed.subarray(0, 27))).toBeNull()
  expect(decrypt(key, Buffer.alloc(0))).toBeNull()
})
