import { createHash, createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { decrypt } from '@/domain/encryption'
import { MAC_PURPOSES, type MacPurpose } from '@/domain/ports'
import { createSecrets } from './secrets'

const PURPOSES = Object.keys(MAC_PURPOSES) as MacPurpose[]
const keys = { auth: ['auth-secret-number-one'], code: ['code-secret-number-one'] }
const rotated = { auth: ['auth-secret-number-two', ...keys.auth], code: ['code-secret-number-two', ...keys.code] }
const others = { auth: ['auth-secret-of-others'], code: ['code-secret-of-others'] }

const SAMPLES = 100_000
/** With nine degrees of freedom a fair source passes 60 about once in a thousand million runs. */
const GENEROUS_BOUND = 60

function chiSquared(counts: number[]): number {
  const expected = counts.reduce((sum, count) => sum + count, 0) / counts.length
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
}

test('codes are six digits, uniform in each place, with leading zeros', () => {
  const secrets = createSecrets(keys)
  const codes = Array.from({ length: SAMPLES }, () => secrets.randomCode())
  expect(codes.filter((code) => !/^[0-9]{6}$/.test(code))).toEqual([])
  for (let place = 0; place < 6; place++) {
    const counts = Array.from({ length: 10 }, () => 0)
    for (const code of codes) counts[Number(code[place])] = (counts[Number(code[place])] ?? 0) + 1
    expect(chiSquared(counts)).toBeLessThan(GENEROUS_BOUND)
  }
  const leadingZeros = codes.filter((code) => code.startsWith('0')).length
  expect(leadingZeros).toBeGreaterThan(SAMPLES * 0.09)
  expect(leadingZeros).toBeLessThan(SAMPLES * 0.11)
})

test('codes repeat as often as uniform chance predicts', () => {
  const secrets = createSecrets(keys)
  const distinct = new Set(Array.from({ length: SAMPLES }, () => secrets.randomCode())).size
  // 1 000 000 · (1 − e^−0.1) = 95 163, with a standard deviation of about 66.
  expect(Math.abs(distinct - 95_163)).toBeLessThan(600)
})

test('ids carry 128 random bits and tokens 256, URL-safe and without repetition', () => {
  const secrets = createSecrets(keys)
  const ids = Array.from({ length: 10_000 }, () => secrets.randomId('ecr_'))
  const tokens = Array.from({ length: 10_000 }, () => secrets.randomToken())
  expect(ids.filter((id) => !/^ecr_[A-Za-z0-9_-]{22}$/.test(id))).toEqual([])
  expect(tokens.filter((token) => !/^[A-Za-z0-9_-]{43}$/.test(token))).toEqual([])
  expect(new Set(ids).size).toBe(ids.length)
  expect(new Set(tokens).size).toBe(tokens.length)
})

test('keys are 32 bytes without repetition, and fractions are uniform from 0 to below 1', () => {
  const secrets = createSecrets(keys)
  const made = Array.from({ length: 1_000 }, () => secrets.randomKey())
  expect(made.filter(({ length }) => length !== 32)).toEqual([])
  expect(new Set(made.map((key) => key.toString('hex'))).size).toBe(made.length)
  const counts = Array.from({ length: 10 }, () => 0)
  for (let n = 0; n < SAMPLES; n++) {
    const tenth = Math.floor(secrets.randomFraction() * 10)
    counts[tenth] = (counts[tenth] ?? 0) + 1
  }
  expect(counts).toHaveLength(10)
  expect(chiSquared(counts)).toBeLessThan(GENEROUS_BOUND)
})

test('a MAC matches its own purpose and text only', () => {
  const secrets = createSecrets(keys)
  const macs = PURPOSES.map((purpose) => secrets.mac(purpose, 'text').toString('hex'))
  expect(new Set(macs).size).toBe(PURPOSES.length)
  for (const purpose of PURPOSES) {
    for (const other of PURPOSES) {
      expect(secrets.macMatches(other, 'text', secrets.mac(purpose, 'text'))).toBe(other === purpose)
    }
    expect(secrets.macMatches(purpose, 'text ', secrets.mac(purpose, 'text'))).toBe(false)
  }
})

test('a value that is not 32 bytes or differs in one bit does not match, and does not throw', () => {
  const secrets = createSecrets(keys)
  const mac = secrets.mac('verification-code', 'text')
  for (const length of [0, 1, 31, 33, 64]) {
    expect(secrets.macMatches('verification-code', 'text', Buffer.alloc(length, mac))).toBe(false)
  }
  for (let bit = 0; bit < 256; bit++) {
    const changed = Buffer.from(mac)
    changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7))
    expect(secrets.macMatches('verification-code', 'text', changed)).toBe(false)
  }
})

test('the MAC of a code is no plain hash of values in the database', () => {
  const secrets = createSecrets(keys)
  const [id, code] = ['ecr_7Yc1fVn0Qk2mXh3rTzB8dA', '042137']
  const mac = secrets.mac('verification-code', `${id}:${code}`)
  const texts = [code, id + code, code + id, `${id}:${code}`, `${code}:${id}`, `verification-code\0${id}:${code}`]
  const plain = texts.flatMap((text) => [
    ...['md5', 'sha1', 'sha256', 'sha512', 'sha3-256'].map((name) => createHash(name).update(text).digest()),
    ...['', id, code, 'verification-code'].map((key) => createHmac('sha256', key).update(text).digest()),
  ])
  expect(plain.filter((digest) => digest.subarray(0, 16).equals(mac.subarray(0, 16)))).toEqual([])
  expect(createSecrets(others).mac('verification-code', `${id}:${code}`)).not.toEqual(mac)
})

test('after a rotation the new key signs and the old one still verifies, and macs has those of both, the newest first', () => {
  const [before, after] = [createSecrets(keys), createSecrets(rotated)]
  for (const purpose of PURPOSES) {
    expect(after.macMatches(purpose, 'text', before.mac(purpose, 'text'))).toBe(true)
    expect(after.mac(purpose, 'text')).not.toEqual(before.mac(purpose, 'text'))
    expect(before.macMatches(purpose, 'text', after.mac(purpose, 'text'))).toBe(false)
    expect(after.macs(purpose, 'text')).toEqual([after.mac(purpose, 'text'), before.mac(purpose, 'text')])
  }
})

test('once the old key is removed, its MACs and seals are void', () => {
  const before = createSecrets(keys)
  const later = createSecrets({ auth: rotated.auth.slice(0, 1), code: rotated.code.slice(0, 1) })
  for (const purpose of PURPOSES) expect(later.macMatches(purpose, 'text', before.mac(purpose, 'text'))).toBe(false)
  expect(later.open(before.seal('secret'))).toBeNull()
})

test('sealed content opens, also after a rotation, and each seal differs', () => {
  const [before, after] = [createSecrets(keys), createSecrets(rotated)]
  const sealed = before.seal('ada@example.test')
  expect(before.open(sealed)?.toString()).toBe('ada@example.test')
  expect(after.open(sealed)?.toString()).toBe('ada@example.test')
  expect(before.open(after.seal('x'))).toBeNull()
  expect(before.seal('ada@example.test')).not.toEqual(sealed)
  expect(sealed.includes('ada')).toBe(false)
})

test('content that an earlier release sealed opens, because the key derivation is unchanged', () => {
  const sealing = createHmac('sha256', 'code-secret-number-one').update('sealing-key').digest()
  expect(decrypt(sealing, createSecrets(keys).seal('text'))?.toString()).toBe('text')
})

test('a seal that was cut or changed in one bit does not open', () => {
  const secrets = createSecrets(keys)
  const sealed = secrets.seal('text')
  for (let length = 0; length < sealed.length; length++) expect(secrets.open(sealed.subarray(0, length))).toBeNull()
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const changed = Buffer.from(sealed)
    changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7))
    expect(secrets.open(changed)).toBeNull()
  }
})

test('purposes, and the sealing of content, stay separate even when both lists hold the same key', () => {
  const secrets = createSecrets({ auth: ['one-and-the-same-key'], code: ['one-and-the-same-key'] })
  expect(new Set(PURPOSES.map((purpose) => secrets.mac(purpose, 'text').toString('hex'))).size).toBe(PURPOSES.length)
  const sealing = createHmac('sha256', 'one-and-the-same-key').update('sealing-key').digest()
  for (const purpose of PURPOSES) expect(secrets.mac(purpose, 'sealing-key')).not.toEqual(sealing)
})
