import { createCipheriv, createHash, createHmac, pbkdf2Sync, scryptSync, timingSafeEqual } from 'node:crypto'
import { verifySync as argon2Fits } from '@node-rs/argon2'

// The prebuilt module does not load on every platform; the other one is JavaScript alone and takes a little longer.
const bcryptFits: (password: string, hash: string) => boolean = await import('@node-rs/bcrypt').then(
  ({ verifySync }) => verifySync,
  async () => (await import('bcryptjs')).compareSync,
)

/** Twice what the largest accepted parameters need. */
const SCRYPT_MAX_BYTES = 512 * 1024 * 1024

/** Whether the password fits the stored form. The form begins with its scheme; see domain/passwords/password-formats.ts. */
export function checkPassword(stored: string, password: string): boolean {
  if (stored.startsWith('$argon2')) return argon2Fits(stored, password)
  if (stored.startsWith('$2')) return bcryptFits(password, stored)
  const [kind, parameters = '', salt = '', digest = ''] = stored.replace(/^\$/, '').split('$')
  switch (kind) {
    case 'scrypt':
      return isSame(scrypt(password, fromBase64(salt), parameters, fromBase64(digest).length), fromBase64(digest))
    case 'bcrypt-sha256-django':
      return bcryptFits(hashOf('sha256', password).toString('hex'), `$2b$${parameters}$${salt}${digest}`)
    case 'bcrypt-wordpress':
      return [...inWordPress(password)].some((form) =>
        bcryptFits(
          createHmac('sha384', 'wp-sha384').update(form).digest('base64'),
          `$2b$${parameters}$${salt}${digest}`,
        ),
      )
    case 'phpass':
      return [...inWordPress(password)].some((form) =>
        isSame(Buffer.from(phpass(form, salt, Number(parameters))), Buffer.from(digest)),
      )
    case 'scrypt-better-auth':
      // The salt is its text, and the library normalises the password.
      return isSame(
        scrypt(password.normalize('NFKC'), Buffer.from(salt), parameters, digest.length / 2),
        Buffer.from(digest, 'hex'),
      )
    case 'firebase-scrypt':
      return isSame(firebase(password, salt, parameters), fromBase64(digest))
    case 'pbkdf2_sha256':
      return isSame(pbkdf2(password, Buffer.from(salt), parameters, 'sha256', digest), fromBase64(digest))
    case 'pbkdf2-sha256':
    case 'keycloak-pbkdf2-sha256':
      return isSame(pbkdf2(password, fromBase64(salt), parameters, 'sha256', digest), fromBase64(digest))
    case 'keycloak-pbkdf2-sha512':
      return isSame(pbkdf2(password, fromBase64(salt), parameters, 'sha512', digest), fromBase64(digest))
    default:
      throw new Error('a stored password has no known format')
  }
}

/** passlib writes `.` where base64 has `+`. */
const fromBase64 = (text: string) => Buffer.from(text.replaceAll('.', '+'), 'base64')

const isSame = (made: Buffer, stored: Buffer) => made.length === stored.length && timingSafeEqual(made, stored)

function scrypt(password: string, salt: Buffer, parameters: string, length: number): Buffer {
  const [, ln, r, p] = /^ln=(\d+),r=(\d+),p=(\d+)$/.exec(parameters) ?? []
  return scryptSync(password, salt, length, {
    N: 2 ** Number(ln),
    r: Number(r),
    p: Number(p),
    maxmem: SCRYPT_MAX_BYTES,
  })
}

/** Firebase's hash is the project's signer key, encrypted with the scrypt key of the password. */
function firebase(password: string, salts: string, parameters: string): Buffer {
  const [salt = '', separator = '', signerKey = ''] = salts.split('.')
  const key = scrypt(password, Buffer.concat([fromBase64(salt), fromBase64(separator)]), parameters, 32)
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(fromBase64(signerKey))
}

const pbkdf2 = (password: string, salt: Buffer, iterations: string, hash: string, digest: string) =>
  pbkdf2Sync(password, salt, Number(iterations), fromBase64(digest).length, hash)

const hashOf = (name: string, ...parts: (string | Buffer)[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash(name)).digest()

/** What WordPress hashes: a password from its own forms has PHP's slashes, one from elsewhere has none. */
const inWordPress = (password: string) => new Set([password, password.replace(/['"\\]/g, '\\$&')])

const PHPASS_ALPHABET = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Rounds of MD5. The digest is a number of 22 digits in the alphabet of crypt, the lowest digit first. */
function phpass(password: string, salt: string, log2Rounds: number): string {
  let digest = hashOf('md5', salt, password)
  for (let rounds = 2 ** log2Rounds; rounds > 0; rounds--) digest = hashOf('md5', digest, password)
  const number = BigInt(`0x${digest.reverse().toString('hex')}`)
  return Array.from({ length: 22 }, (_, at) => PHPASS_ALPHABET[Number((number >> BigInt(6 * at)) & 63n)]).join('')
}
