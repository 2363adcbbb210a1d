import { isStorable } from '@/contract/define'
import { AppError } from '@/contract/errors'

/** Every hash of our own begins with this, costs included; any other stored hash was imported. */
export const OWN_PASSWORD_PREFIX = '$argon2id$v=19$m=12288,t=3,p=1$'

const MAX_MEMORY_BYTES = 256 * 1024 * 1024
const MAX_ARGON2_PASSES = 10
const MAX_ARGON2_LANES = 8
const MIN_BCRYPT_COST = 4
const MAX_BCRYPT_COST = 14
const MAX_SCRYPT_LANES = 16
const MAX_PBKDF2_ITERATIONS = 2_000_000
/** log2 of the rounds. */
const MIN_PHPASS_COST = 7
const MAX_PHPASS_COST = 18
/** A shorter digest would fit too many passwords. */
const MIN_DIGEST_BYTES = 16
const MAX_DIGEST_BYTES = 128
const MAX_SALT_BYTES = 255
const MAX_SECRET_BYTES = 1024

/** An imported password hash: `format`, and the members of that format. */
type ForeignPassword = { format: string } & Record<string, unknown>

interface Format {
  /** The stored form. */
  accept(given: Members): string
  /** The imported form of a stored hash; null if another format stored it. */
  show(stored: string): Omit<ForeignPassword, 'format'> | null
}

const BETTER_AUTH = '$scrypt-better-auth$ln=14,r=16,p=1$'
const FIREBASE = '$firebase-scrypt$'
const KEYCLOAK = '$keycloak-'

/** A hash is stored as given if its string names its scheme and parameters; otherwise a tag is put in front. See decision 0010. */
const FORMATS: Record<string, Format> = {
  argon2id: { accept: (given) => acceptArgon2(given, 'argon2id'), show: asItIs('$argon2id$') },
  argon2i: { accept: (given) => acceptArgon2(given, 'argon2i'), show: asItIs('$argon2i$') },
  bcrypt: {
    accept(given) {
      const { version, cost, salt, digest } = matchBcrypt(given, '(?:bcrypt\\$)?', '$2b$… (also $2a$ and $2y$)')
      return `$2${version === 'a' ? 'a' : 'b'}$${cost}$${salt}${digest}`
    },
    show: asItIs('$2'),
  },
  'bcrypt-sha256-django': bcryptBehind('$bcrypt-sha256-django$', 'bcrypt_sha256$', '2b'),
  'bcrypt-wordpress': bcryptBehind('$bcrypt-wordpress$', '$wp', '2y'),
  phpass: {
    accept(given) {
      const [, cost = '', salt, digest] = given.match(
        'value',
        /^\$P\$([./A-Za-z0-9])([./A-Za-z0-9]{8})([./A-Za-z0-9]{21}[./01])$/,
        '$P$…',
      )
      const log2 = PHPASS_ALPHABET.indexOf(cost)
      checkBounds('password.value: log2 of the rounds', log2, MIN_PHPASS_COST, MAX_PHPASS_COST)
      return `$phpass$${log2}$${salt}$${digest}`
    },
    show(stored) {
      const [, log2, salt, digest] = /^\$phpass\$(\d+)\$(.{8})\$(.*)$/.exec(stored) ?? []
      return digest === undefined ? null : { value: `$P$${PHPASS_ALPHABET[Number(log2)]}${salt}${digest}` }
    },
  },
  'scrypt-better-auth': {
    accept(given) {
      const [, salt = '', digest = ''] = given.match(
        'value',
        /^([0-9a-f]{16,128}):([0-9a-f]{128})$/,
        'salt:hash in hex',
      )
      return `${BETTER_AUTH}${salt}$${digest}`
    },
    show(stored) {
      if (!stored.startsWith(BETTER_AUTH)) return null
      return { value: stored.slice(BETTER_AUTH.length).replace('$', ':') }
    },
  },
  'scrypt-passlib': { accept: acceptPasslibScrypt, show: asItIs('$scrypt$') },
  // Stored as passlib writes it, and shown so.
  'scrypt-django': {
    accept(given) {
      const shape = /^scrypt\$(\d{1,10})\$([^$]+)\$(\d{1,9})\$(\d{1,9})\$([A-Za-z0-9+/]+={0,2})$/
      const [, n, salt = '', r, p, digest = ''] = given.match('value', shape, 'scrypt$N$salt$r$p$hash')
      const log2N = Math.log2(Number(n))
      if (!Number.isInteger(log2N)) throw refusal('password.value: N must be a power of two.')
      checkScrypt(log2N, Number(r), Number(p))
      checkSize('salt', Buffer.byteLength(salt), 1, MAX_SALT_BYTES)
      checkDigest(digest)
      return `$scrypt$ln=${log2N},r=${r},p=${p}$${canonical(Buffer.from(salt).toString('base64'))}$${canonical(digest)}`
    },
    show: () => null,
  },
  'firebase-scrypt': {
    accept(given) {
      const digest = given.base64('value', MIN_DIGEST_BYTES, MAX_DIGEST_BYTES)
      const salt = given.base64('salt', 1, MAX_SALT_BYTES)
      const separator = given.base64('salt_separator', 0, MAX_SALT_BYTES)
      const signerKey = given.base64('signer_key', MIN_DIGEST_BYTES, MAX_SECRET_BYTES)
      const memCost = given.integer('mem_cost', 1, 31)
      const rounds = given.integer('rounds', 1, MAX_MEMORY_BYTES)
      checkScrypt(memCost, rounds, 1)
      return `${FIREBASE}ln=${memCost},r=${rounds},p=1$${salt}.${separator}.${signerKey}$${digest}`
    },
    show(stored) {
      const [, memCost, rounds, salt, salt_separator, signer_key, value] =
        /^\$firebase-scrypt\$ln=(\d+),r=(\d+),p=1\$([^.]*)\.([^.]*)\.([^$]*)\$(.*)$/.exec(stored) ?? []
      if (value === undefined) return null
      return { value, salt, signer_key, salt_separator, rounds: Number(rounds), mem_cost: Number(memCost) }
    },
  },
  'pbkdf2-sha256-django': {
    accept(given) {
      const shape = /^pbkdf2_sha256\$(\d{1,10})\$([^$]+)\$([A-Za-z0-9+/]+={0,2})$/
      const [value = '', iterations, salt = '', digest = ''] = given.match('value', shape, 'pbkdf2_sha256$…$salt$hash')
      checkIterations(iterations)
      checkSize('salt', Buffer.byteLength(salt), 1, MAX_SALT_BYTES)
      checkDigest(digest)
      return value
    },
    show: asItIs('pbkdf2_sha256$'),
  },
  'pbkdf2-sha256-passlib': {
    accept(given) {
      const shape = /^\$pbkdf2-sha256\$(\d{1,10})\$([A-Za-z0-9./]*)\$([A-Za-z0-9./]+)$/
      const [value = '', iterations, salt = '', digest = ''] = given.match('value', shape, '$pbkdf2-sha256$…$salt$hash')
      checkIterations(iterations)
      checkSize('salt', bytesOf(salt), 0, MAX_SALT_BYTES)
      checkDigest(digest)
      return value
    },
    show: asItIs('$pbkdf2-sha256$'),
  },
  'pbkdf2-keycloak': {
    accept(given) {
      const digest = given.base64('value', MIN_DIGEST_BYTES, MAX_DIGEST_BYTES)
      const salt = given.base64('salt', 1, MAX_SALT_BYTES)
      const [algorithm] = given.match('algorithm', /^pbkdf2-sha(256|512)$/, 'pbkdf2-sha256 or pbkdf2-sha512')
      const iterations = given.integer('iterations', 1, MAX_PBKDF2_ITERATIONS)
      return `${KEYCLOAK}${algorithm}$${iterations}$${salt}$${digest}`
    },
    show(stored) {
      const [, algorithm, iterations, salt, value] =
        /^\$keycloak-(pbkdf2-sha\d+)\$(\d+)\$([^$]*)\$(.*)$/.exec(stored) ?? []
      return value === undefined ? null : { value, salt, iterations: Number(iterations), algorithm }
    },
  },
}

/** Why hashes of other systems are not taken. */
const REFUSED: [shape: RegExp, reason: string][] = [
  [/^([0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})$/i, 'A digest without salt and rounds is guessed at once.'],
  [/^(md5|sha1|unsalted_\w+)\$/, 'A digest without rounds is guessed at once.'],
  [/^\$argon2d\$/, 'Of Argon2 the service checks argon2id and argon2i.'],
  [/^\$2x\$/, 'It is of a faulty bcrypt, in which several passwords have one hash.'],
  [/^\$H\$/, 'phpBB hashes another text than the password.'],
]
const INSTEAD =
  'Give the bcrypt hash of a long random password in its place: the person then sets a new one by mail (Forgot your password?).'

/**
 * The form in which an imported password hash is stored. Throws REQUEST_001 with a sentence that names the member if the format is
 * unknown, the shape is wrong or a check would cost too much.
 */
export function acceptPassword(input: unknown): string {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw refusal('password must be an object with format and value.')
  }
  const { format } = input as { format?: unknown }
  if (typeof format !== 'string') throw refusal('password.format must be a string.')
  const given = input as ForeignPassword
  try {
    const known = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined
    if (known) return known.accept(new Members(given))
    const name = isStorable(format) ? JSON.stringify(format.slice(0, 60)) : 'that is given'
    throw refusal(`The password format ${name} is not supported. Use one of ${Object.keys(FORMATS).join(', ')}.`)
  } catch (error) {
    throw error instanceof AppError ? refusal([error.details, ...hintsOf(given)].join(' ')) : error
  }
}

/** What a refused hash is, or what to do without it. */
function hintsOf({ format, value }: ForeignPassword): string[] {
  if (typeof value !== 'string') return []
  if (/^[!*]/.test(value)) return ['The account has no password there: leave password out.']
  const other = Object.keys(FORMATS).find((name) => takes(name, value))
  if (other) return [`This value has the format ${other}.`]
  const reasons = REFUSED.filter(([shape]) => shape.test(value)).map(([, reason]) => reason)
  return Object.hasOwn(FORMATS, format) && reasons.length === 0 ? [] : [...reasons, INSTEAD]
}

function takes(format: string, value: string): boolean {
  try {
    return FORMATS[format]?.accept(new Members({ format, value })) !== undefined
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}

/** The input from which `acceptPassword` makes this stored hash. */
export function showPassword(stored: string): ForeignPassword {
  for (const [format, { show }] of Object.entries(FORMATS)) {
    const members = show(stored)
    if (members) return { format, ...members }
  }
  throw new Error('a stored password has no known format')
}

/** For each scheme among these kinds (stored forms without salt and hash), a hash of the kind that takes longest to check. */
export function costliestSamples(kinds: string[]): string[] {
  const bySchemes = Map.groupBy(kinds, (kind) => /^\$2|^\$?[^$]*/.exec(kind)?.[0])
  return [...bySchemes.values()].map((same) =>
    sampleOf(same.reduce((costliest, kind) => (costOf(kind) > costOf(costliest) ? kind : costliest))),
  )
}

/** Comparable only within one scheme. */
function costOf(kind: string): number {
  const [, memory, passes] = /m=(\d+),t=(\d+)/.exec(kind) ?? []
  if (memory) return Number(memory) * Number(passes)
  const [, ln, r, p] = /ln=(\d+),r=(\d+),p=(\d+)/.exec(kind) ?? []
  if (ln) return 2 ** Number(ln) * Number(r) * Number(p)
  return Number(/\$(\d+)$/.exec(kind)?.[1])
}

/** A hash of this kind that belongs to no password. */
function sampleOf(kind: string): string {
  if (kind.startsWith('$2')) return `${kind}$${'.'.repeat(53)}`
  if (kind.startsWith('$bcrypt-')) return `${kind}$${'.'.repeat(22)}$${'.'.repeat(31)}`
  if (kind.startsWith('$scrypt-better-auth$')) return `${kind}$${'0'.repeat(32)}$${'0'.repeat(128)}`
  const bytes = Buffer.alloc(32).toString('base64').replace('=', '')
  return `${kind}$${kind.startsWith(FIREBASE) ? `${bytes}.${bytes}.${bytes}` : bytes}$${bytes}`
}

function asItIs(prefix: string) {
  return (stored: string) => (stored.startsWith(prefix) ? { value: stored } : null)
}

function acceptArgon2(given: Members, type: 'argon2id' | 'argon2i'): string {
  const shape = new RegExp(
    String.raw`^(?:argon2)?(\$${type}\$(?:v=(?:16|19)\$)?m=(\d{1,10}),t=(\d{1,10}),p=(\d{1,10})\$)([A-Za-z0-9+/]+)={0,2}\$([A-Za-z0-9+/]+)={0,2}$`,
  )
  const [, costs, m, t, p, salt = '', digest = ''] = given.match('value', shape, `$${type}$v=19$m=…,t=…,p=…$salt$hash`)
  const [memoryKib, passes, lanes] = [m, t, p].map(Number) as [number, number, number]
  checkBounds('password.value: p', lanes, 1, MAX_ARGON2_LANES)
  checkBounds('password.value: t', passes, 1, MAX_ARGON2_PASSES)
  checkBounds('password.value: m', memoryKib, 8 * lanes, MAX_MEMORY_BYTES / 1024)
  checkSize('salt', bytesOf(salt), 8, MAX_SALT_BYTES)
  checkDigest(digest)
  return `${costs}${canonical(salt)}$${canonical(digest)}`
}

const PHPASS_ALPHABET = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BCRYPT_ALPHABET = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** The parts of bcrypt's own string, which stands after what matches `before`. */
function matchBcrypt(given: Members, before: string, looks: string) {
  const shape = new RegExp(String.raw`^${before}\$2([aby])\$(\d\d)\$([./A-Za-z0-9]{22})([./A-Za-z0-9]{31})$`)
  const [, version, cost, salt = '', digest = ''] = given.match('value', shape, looks)
  checkBounds('password.value: the cost', Number(cost), MIN_BCRYPT_COST, MAX_BCRYPT_COST)
  return { version, cost, salt: withoutSpareBits(salt, 4), digest: withoutSpareBits(digest, 2) }
}

/** bcrypt of something made from the password. The tag says of what; password-checks.ts makes it. */
function bcryptBehind(tag: string, before: string, version: string): Format {
  return {
    accept(given) {
      const { cost, salt, digest } = matchBcrypt(given, before.replaceAll('$', '\\$'), `${before}$${version}$…`)
      return `${tag}${cost}$${salt}$${digest}`
    },
    show(stored) {
      const [cost, salt, digest] = stored.startsWith(tag) ? stored.slice(tag.length).split('$') : []
      return digest === undefined ? null : { value: `${before}$${version}$${cost}$${salt}${digest}` }
    },
  }
}

/** Some libraries put random bits into the unused bits of the last character; others then refuse the hash. */
function withoutSpareBits(text: string, bits: number): string {
  const last = BCRYPT_ALPHABET.indexOf(text.at(-1) ?? '')
  return text.slice(0, -1) + BCRYPT_ALPHABET[(last >> bits) << bits]
}

function acceptPasslibScrypt(given: Members): string {
  const shape = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,9}),p=(\d{1,9})\$([A-Za-z0-9+/]*)\$([A-Za-z0-9+/]+)$/
  const [value = '', ln, r, p, salt = '', digest = ''] = given.match('value', shape, '$scrypt$ln=…,r=…,p=…$salt$hash')
  checkScrypt(Number(ln), Number(r), Number(p))
  checkSize('salt', bytesOf(salt), 0, MAX_SALT_BYTES)
  checkDigest(digest)
  return value
}

function checkScrypt(log2N: number, r: number, p: number): void {
  checkBounds('password: log2 of N', log2N, 1, 31)
  checkBounds('password: r', r, 1, MAX_MEMORY_BYTES)
  checkBounds('password: p', p, 1, MAX_SCRYPT_LANES)
  if (128 * 2 ** log2N * r > MAX_MEMORY_BYTES) {
    throw refusal('password: scrypt may use 256 MiB at most, which 128 · N · r exceeds.')
  }
}

const checkIterations = (iterations: string | undefined) =>
  checkBounds('password.value: the iterations', Number(iterations), 1, MAX_PBKDF2_ITERATIONS)

function checkBounds(what: string, value: number, min: number, max: number): void {
  if (value < min || value > max) throw refusal(`${what} must be from ${min} to ${max}.`)
}

function checkSize(what: string, bytes: number, min: number, max: number): void {
  if (bytes < min || bytes > max) throw refusal(`password: the ${what} must have from ${min} to ${max} bytes.`)
}

const checkDigest = (base64: string) => checkSize('hash', bytesOf(base64), MIN_DIGEST_BYTES, MAX_DIGEST_BYTES)

/** Base64 in which `.` may stand for `+`. Returns 0 for a length that no encoding has. */
function bytesOf(base64: string): number {
  const length = base64.replace(/=+$/, '').length
  return length % 4 === 1 ? 0 : Math.floor((length * 3) / 4)
}

/** The canonical text of these bytes, without padding. */
const canonical = (base64: string) => Buffer.from(base64, 'base64').toString('base64').replace(/=+$/, '')

const refusal = (sentence: string) => new AppError('REQUEST_001', sentence)

/** Reads the members that a format needs. */
class Members {
  readonly #given: ForeignPassword

  constructor(given: ForeignPassword) {
    this.#given = given
  }

  match(name: string, shape: RegExp, looks: string): RegExpExecArray {
    const value = this.#given[name]
    const found = typeof value === 'string' && isStorable(value) ? shape.exec(value) : null
    if (!found) throw refusal(`password.${name} of the format ${this.#given.format} must be ${looks}.`)
    return found
  }

  integer(name: string, min: number, max: number): number {
    const value = this.#given[name]
    if (!Number.isInteger(value)) throw refusal(`password.${name} must be a whole number.`)
    checkBounds(`password.${name}`, value as number, min, max)
    return value as number
  }

  /** Accepts the standard and the URL-safe alphabet; the same bytes always give the same text. */
  base64(name: string, min: number, max: number): string {
    const [text] = this.match(name, /^[A-Za-z0-9+/_-]*={0,2}$/, 'base64')
    if (text !== '' && bytesOf(text) === 0) throw refusal(`password.${name} is not base64.`)
    checkSize(name, bytesOf(text), min, max)
    return Buffer.from(text, 'base64').toString('base64')
  }
}
