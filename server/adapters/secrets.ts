import { createHmac, createSecretKey, type KeyObject, randomInt, timingSafeEqual } from 'node:crypto'
import { decrypt, encrypt } from '@/domain/encryption'
import type { MacPurpose, Secrets } from '@/domain/ports'
import { randomText } from './random'

/** The first key of a list signs, all verify: that is how a key is rotated. */
export function createSecrets(keys: { auth: string[]; code: string[] }): Secrets {
  const keysFor: Record<MacPurpose, string[]> = {
    'verification-code': keys.code,
    pseudonym: keys.code,
    idempotency: keys.code,
    'external-id': keys.code,
    'session-token': keys.auth,
    'status-token': keys.auth,
  }
  const macWith = (key: string, purpose: MacPurpose, text: string) =>
    createHmac('sha256', key).update(`${purpose}\0${text}`).digest()
  const sealingKeys = keys.code.map(sealingKey)
  return {
    randomId: (prefix) => prefix + randomText(16),
    randomToken: () => randomText(32),
    randomCode: () => String(randomInt(1_000_000)).padStart(6, '0'),
    mac: (purpose, text) => macWith(keysFor[purpose][0] as string, purpose, text),
    macs: (purpose, text) => keysFor[purpose].map((key) => macWith(key, purpose, text)),
    macMatches: (purpose, text, mac) =>
      mac.length === 32 && keysFor[purpose].some((key) => timingSafeEqual(macWith(key, purpose, text), mac)),
    seal: (content) => encrypt(sealingKeys[0] as KeyObject, content),
    open(sealed) {
      for (const key of sealingKeys) {
        const content = decrypt(key, sealed)
        if (content) return content
      }
      return null
    },
    isSealedWithNewest: (sealed) => decrypt(sealingKeys[0] as KeyObject, sealed) !== null,
  }
}

// As an object: a key of plain bytes costs several times the encryption.
const sealingKey = (secret: string) => createSecretKey(createHmac('sha256', secret).update('sealing-key').digest())
