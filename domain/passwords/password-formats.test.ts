import { expect, test } from 'vitest'
import { AppError } from '@/contract/errors'
import { createPasswords } from '@/server/adapters/passwords'
import { foreignPasswords } from '@/testing/foreign-passwords'
import { acceptPassword, costliestSamples, OWN_PASSWORD_PREFIX, showPassword } from './password-formats'

const refusal = (input: unknown): string => {
  try {
    return `accepted: ${acceptPassword(input)}`
  } catch (error) {
    return error instanceof AppError && error.code === 'REQUEST_001' ? error.details : String(error)
  }
}

const made = (format: string) => {
  const fixture = foreignPasswords.find(({ given }) => given.format === format)
  if (!fixture) throw new Error(`no fixture of ${format}`)
  return fixture.given as { format: string; value: string } & Record<string, unknown>
}

const passwords = createPasswords()

test.each(foreignPasswords.map(({ made_by, password, given }) => [made_by, given.format, password, given] as const))(
  'B131 a hash of %s (%s) matches its password, %j, and no other',
  async (_by, _format, password, given) => {
    const stored = acceptPassword(given)
    expect(await passwords.verify(stored, password)).toBeTruthy()
    expect(await passwords.verify(stored, `x${password}`)).toBe(false)
  },
)

test('a stored hash can be exported in its original format and imported again', () => {
  for (const { given } of foreignPasswords) {
    const stored = acceptPassword(given)
    const shown = showPassword(stored)
    expect(acceptPassword(shown)).toBe(stored)
    // The prefix $2y$ of PHP is not kept, nor how Django writes what others write too.
    if (/^\$2y\$|^argon2\$|^bcrypt\$|^scrypt\$/.test(given.value)) continue
    expect(shown).toEqual(given)
  }
})

test('a hash of our own has our prefix, and needs no renewal after export and import', async () => {
  const own = await passwords.hash('correct horse battery')
  expect(own.startsWith(OWN_PASSWORD_PREFIX)).toBe(true)
  expect(acceptPassword(showPassword(own))).toBe(own)
})

test('the unused bits of a bcrypt hash are cleared, because other libraries set them at random', async () => {
  const { value } = made('bcrypt')
  const alphabet = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
  const accepted = acceptPassword({ format: 'bcrypt', value })
  for (const at of [28, 59]) {
    const stray = value.slice(0, at) + alphabet[alphabet.indexOf(value[at] ?? '') + 1] + value.slice(at + 1)
    expect(acceptPassword({ format: 'bcrypt', value: stray })).toBe(accepted)
  }
})

test('Firebase’s hashes may be in URL-safe base64', () => {
  const given = made('firebase-scrypt')
  const urlSafe = JSON.parse(JSON.stringify(given), (_name, value) =>
    typeof value === 'string' ? value.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '') : value,
  )
  expect(acceptPassword(urlSafe)).toBe(acceptPassword(given))
})

test.each(['md5', 'sha1', 'argon2d', 'bcrypt-sha256', 'plain', 'toString', '__proto__', ''])(
  'the format %j is refused by name',
  (format) => {
    expect(refusal({ format, value: 'x' })).toContain(
      `The password format ${JSON.stringify(format)} is not supported. Use one of argon2id,`,
    )
  },
)

const DJANGO_ARGON2 = 'argon2$argon2id$v=19$m=8192,t=2,p=1$c29tZXNhbHQ$'
test.each([
  ['bcrypt', made('bcrypt-wordpress').value, 'This value has the format bcrypt-wordpress.'],
  ['wordpress', '$P$BA9fOh0o/3rFP6r53J5j4f.wLF40QF1', 'This value has the format phpass.'],
  ['django', made('scrypt-django').value, 'This value has the format scrypt-django.'],
  ['bcrypt', made('bcrypt-sha256-django').value, 'This value has the format bcrypt-sha256-django.'],
  ['phpass', '$H$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0', 'phpBB hashes another text than the password. Give the bcrypt'],
  ['md5', '5f4dcc3b5aa765d61d8327deb882cf99', 'A digest without salt and rounds is guessed at once. Give the bcrypt'],
  [
    'bcrypt',
    'md5$salt$5f4dcc3b5aa765d61d8327deb882cf99',
    'A digest without rounds is guessed at once. Give the bcrypt',
  ],
  ['argon2d', '$argon2d$v=19$m=8,t=1,p=1$c29tZXNhbHQ$QQ', 'Of Argon2 the service checks argon2id and argon2i. Give'],
  ['bcrypt', `$2x$10$${'.'.repeat(53)}`, 'a faulty bcrypt, in which several passwords have one hash. Give the bcrypt'],
  ['yescrypt', '$y$j9T$F5Jx5fExrKuPp53xLKQ..1$X3DX6M94c7o.9agCG9G317fhZg9SqC.5i5rd.RhAtQ7', 'Give the bcrypt hash'],
  ['pbkdf2-sha256-django', '!PlGhzMZFnlLSHGzQnWZ', 'The account has no password there: leave password out.'],
  ['phpass', '$P$TA9fOh0o/3rFP6r53J5j4f.wLF40QF1', 'log2 of the rounds must be from 7 to 18.'],
  ['scrypt-django', `scrypt$1000$salt$8$1$${'A'.repeat(43)}=`, 'N must be a power of two.'],
])(
  'B131 a value that the format %s does not take is refused with the reason or what to do',
  (format, value, sentence) => {
    expect(refusal({ format, value })).toMatch(/^(The password format|password\.value)/)
    expect(refusal({ format, value })).toContain(sentence)
  },
)

test('B131 padded base64 in Argon2, and Django’s prefix, are the same hash', () => {
  const digest = 'QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE'
  const plain = acceptPassword({ format: 'argon2id', value: `${DJANGO_ARGON2.slice(6)}${digest}` })
  for (const value of [`${DJANGO_ARGON2}${digest}`, `${DJANGO_ARGON2.slice(6).replace('hbHQ$', 'hbHQ=$')}${digest}=`]) {
    expect(acceptPassword({ format: 'argon2id', value })).toBe(plain)
  }
})

test.each([null, undefined, 'text', 1, true, [], {}, { format: 1 }, { format: null }, { format: ['bcrypt'] }])(
  'a password hash that is %j is refused in a sentence',
  (input) => {
    expect(refusal(input)).toMatch(/^password(\.format)? must be /)
  },
)

const argon2 = (m: number, t: number, p: number, type = 'argon2id') => ({
  format: type,
  value: `$${type}$v=19$m=${m},t=${t},p=${p}$c29tZXNhbHQ$${'A'.repeat(43)}`,
})
const bcrypt = (cost: string) => ({ format: 'bcrypt', value: `$2b$${cost}$${'.'.repeat(53)}` })
const scrypt = (ln: number, r: number, p: number) => ({
  format: 'scrypt-passlib',
  value: `$scrypt$ln=${ln},r=${r},p=${p}$c29tZXNhbHQ$${'A'.repeat(43)}`,
})
const django = (iterations: number | string) => ({
  format: 'pbkdf2-sha256-django',
  value: `pbkdf2_sha256$${iterations}$salt$${'A'.repeat(43)}=`,
})
const passlib = (iterations: number) => ({
  format: 'pbkdf2-sha256-passlib',
  value: `$pbkdf2-sha256$${iterations}$c2FsdA$${'A'.repeat(43)}`,
})
const keycloak = (iterations: unknown) => ({ ...made('pbkdf2-keycloak'), iterations })
const firebase = (mem_cost: unknown, rounds: unknown) => ({ ...made('firebase-scrypt'), mem_cost, rounds })

test('the largest allowed costs are accepted, and larger ones are refused', () => {
  const allowed = [
    ...[argon2(262_144, 10, 8), argon2(8, 1, 1), argon2(262_144, 10, 8, 'argon2i')],
    ...[bcrypt('04'), bcrypt('14')],
    ...[scrypt(18, 8, 1), scrypt(14, 128, 16), firebase(14, 128), firebase(18, 8)],
    ...[django(2_000_000), passlib(2_000_000), keycloak(2_000_000), keycloak(1)],
  ]
  for (const given of allowed) expect(refusal(given)).toMatch(/^accepted/)
  const refused: [object, RegExp][] = [
    [argon2(262_145, 1, 1), /: m must be from 8 to 262144\.$/],
    [argon2(31, 1, 4), /: m must be from 32 to 262144\.$/],
    [argon2(1024, 11, 1), /: t must be from 1 to 10\.$/],
    [argon2(1024, 0, 1), /: t must be/],
    [argon2(1024, 1, 9), /: p must be from 1 to 8\.$/],
    [argon2(1024, 1, 0), /: p must be/],
    [bcrypt('03'), /the cost must be from 4 to 14\.$/],
    [bcrypt('15'), /the cost must be/],
    [scrypt(18, 9, 1), /256 MiB at most/],
    [scrypt(10, 8, 17), /: p must be from 1 to 16\.$/],
    [scrypt(0, 8, 1), /log2 of N must be/],
    [firebase(14, 129), /256 MiB at most/],
    [firebase(0, 8), /mem_cost must be/],
    [firebase('14', 8), /mem_cost must be a whole number\.$/],
    [firebase(14, 8.5), /rounds must be a whole number\.$/],
    [django(2_000_001), /iterations must be from 1 to 2000000\.$/],
    [django(0), /iterations must be/],
    [passlib(2_000_001), /iterations must be/],
    [keycloak(2_000_001), /iterations must be/],
    [keycloak('27500'), /iterations must be a whole number\.$/],
    [keycloak(Number.NaN), /iterations must be a whole number\.$/],
  ]
  for (const [given, sentence] of refused) expect(refusal(given)).toMatch(sentence)
})

test('a truncated hash is refused, and so is one so short that many passwords match it', () => {
  const shapes: unknown[] = [
    { format: 'bcrypt', value: made('bcrypt').value.slice(0, -1) },
    { format: 'bcrypt', value: `$2x$10$${'.'.repeat(53)}` },
    { format: 'bcrypt', value: [made('bcrypt').value] },
    { format: 'bcrypt' },
    { format: 'argon2id', value: argon2(8, 1, 1, 'argon2i').value },
    { format: 'argon2id', value: `$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHQ$${'A'.repeat(20)}` },
    { format: 'argon2id', value: `$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHQ$${'A'.repeat(41)}` },
    { format: 'argon2id', value: `$argon2id$v=19$m=8,t=1,p=1$c2FsdA$${'A'.repeat(43)}` },
    { format: 'scrypt-better-auth', value: 'salt' },
    { format: 'scrypt-better-auth', value: `${'0'.repeat(32)}:${'0'.repeat(127)}` },
    { format: 'pbkdf2-sha256-django', value: 'pbkdf2_sha256$1000$salt$QQ==' },
    { format: 'pbkdf2-sha256-django', value: `pbkdf2_sha256$1000$a\0b$${'A'.repeat(43)}=` },
    { format: 'pbkdf2-sha256-passlib', value: '$pbkdf2-sha256$1000$c2FsdA$QQ' },
    { ...made('pbkdf2-keycloak'), value: 'QQ==' },
    { ...made('pbkdf2-keycloak'), algorithm: 'pbkdf2' },
    { ...made('pbkdf2-keycloak'), salt: '' },
    { ...made('pbkdf2-keycloak'), salt: '!!' },
    { ...made('firebase-scrypt'), signer_key: undefined },
    { ...made('firebase-scrypt'), salt_separator: 7 },
  ]
  for (const given of shapes) expect(refusal(given)).toMatch(/^password/)
})

test('for each scheme the costliest kind is measured, with a hash that matches no password', async () => {
  const stored = foreignPasswords.map(({ given }) => acceptPassword(given))
  // Cut off as in the database's index.
  const kinds = stored.map((hash) => (hash.startsWith('$2') ? hash.slice(0, 6) : hash.replace(/[$][^$]*[$][^$]*$/, '')))
  const samples = costliestSamples([...new Set(kinds)])
  const schemes = foreignPasswords.map(({ given: { format, ...more } }) =>
    // Django's scrypt is stored as passlib's.
    'algorithm' in more ? `${format} ${more.algorithm}` : format.replace('scrypt-django', 'scrypt-passlib'),
  )
  expect(samples).toHaveLength(new Set(schemes).size)
  expect(samples.find((sample) => sample.startsWith('$2'))).toMatch(/^\$2[ab]\$12\$/)
  for (const sample of samples) {
    expect(await passwords.verify(sample, 'nobody’s')).toBe(false)
    expect(await passwords.timeOf(sample)).toBeGreaterThan(1)
  }
})
