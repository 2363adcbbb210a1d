import 'server-only'
import { createHmac, createSecretKey, type KeyObject, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import { decrypt, encrypt } from '@/domain/encryption'
import { MAC_PURPOSES, type MacPurpose, type Secrets } from '@/domain/ports'

/** The first key of a list signs and all keys verify, so that keys can be rotated. */
export function createSecrets(keys: { auth: string[]; code: string[] }): Secrets {
  const keysFor = (purpose: MacPurpose) => keys[MAC_PURPOSES[purpose]]
  const macWith = (key: string, purpose: MacPurpose, text: string) =>
    createHmac('sha256', key).update(`${purpose}\0${text}`).digest()
  const sealingKeys = keys.code.map(sealingKey)
  return {
    randomId: (prefix) => prefix + randomBytes(16).toString('base64url'),
    randomToken: () => randomBytes(32).toString('base64url'),
    randomKey: () => randomBytes(32),
    randomCode: () => String(randomInt(1_000_000)).padStart(6, '0'),
    randomFraction: () => randomInt(2 ** 32) / 2 ** 32,
    mac: (purpose, text) => macWith(keysFor(purpose)[0] as string, purpose, text),
    macs: (purpose, text) => keysFor(purpose).map((key) => macWith(key, purpose, text)),
    macMatches: (purpose, text, mac) =>
      mac.length === 32 && keysFor(purpose).some((key) => timingSafeEqual(macWith(key, purpose, text), mac)),
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

// A KeyObject, because importing plain bytes on each call costs several times the encryption.
const sealingKey = (secret: string) => createSecretKey(createHmac('sha256', secret).update('sealing-key').digest())
