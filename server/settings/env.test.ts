import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Limits } from '@/domain/limits/limits'
import { misspelled, PRODUCTION_NEEDS, parseEnv, SETTING_VARIABLES, settingWarnings } from './env'
import { parseDuration, parsePeriod } from './setting-fields'
import { SettingsError } from './settings-error'

const scratch = mkdtempSync(path.join(tmpdir(), 'env-test-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))
const newDirectory = () => mkdtempSync(path.join(scratch, 'x'))
const dataDir = newDirectory()

const SECRETS = { AUTH_SECRET: 'auth-secret-for-tests', CODE_SECRET: 'code-secret-for-tests' }
const PRODUCTION = {
  ...SECRETS,
  APP_ENV: 'production',
  DATABASE_URL: 'postgresql://user:password@db.example.com/accounts',
  SMTP_URL: 'smtps://user:password@mail.example.com:465',
  MAIL_FROM: 'Accounts <no-reply@accounts.example.com>',
  SUPPORT_EMAIL: 'help@accounts.example.com',
  APP_URL: 'https://accounts.example.com',
  INNGEST_EVENT_KEY: 'event-key',
  INNGEST_SIGNING_KEY: 'signing-key',
  LEDGER_DIR: '/shared/ledger',
  LEDGER_DIR_SHARED: '1',
}

const problemOf = (source: Record<string, string | undefined>): string => {
  try {
    parseEnv({ ...SECRETS, ...source })
  } catch (error) {
    if (error instanceof SettingsError) return error.message
    throw error
  }
  return ''
}

const flat = (limits: Limits): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(limits).flatMap(([name, limit]) =>
      typeof limit === 'number'
        ? [[name, limit]]
        : Object.entries(limit).map(([key, each]) => [`${name}.${key}`, each]),
    ),
  )

const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000]

test('without any setting the service is local: embedded database, local mailbox, timer, no trusted proxy', () => {
  expect(parseEnv(SECRETS)).toMatchObject({
    isProduction: false,
    appUrl: expect.stringMatching(/^http:\/\/localhost:\d+$/),
    databaseUrl: undefined,
    smtpUrl: undefined,
    hasEngine: false,
    trustedProxyHops: 0,
    hstsCoversSubdomains: true,
    withdrawalTimeScale: 1,
    statutoryPeriod: { months: 1, days: 0 },
  })
})

test('the contact for security faults is the support address, unless another one is set', () => {
  const contactOf = (settings: object) =>
    parseEnv({ ...SECRETS, SUPPORT_EMAIL: 'help@example.test', ...settings }).securityContact
  expect(contactOf({})).toBe('mailto:help@example.test')
  expect(contactOf({ SECURITY_CONTACT: 'https://example.test/report' })).toBe('https://example.test/report')
  expect(problemOf({ ...SECRETS, SECURITY_CONTACT: 'help@example.test' })).toMatch(/^SECURITY_CONTACT must be a URL/)
})

test.each([
  ['EMAIL_CHANGE_WINDOW', 'PT2H', { 'change.windowMs': 2 * hour }],
  ['EMAIL_PASSWORD_LIMIT', '7', { 'password.places': 7 }],
  ['EMAIL_TARGET_WINDOW', 'P2D', { 'target.windowMs': 2 * day, 'targetMail.windowMs': 2 * day }],
  ['EMAIL_CODE_ATTEMPTS', '7', { codeAttempts: 7 }],
  ['EMAIL_CODE_VALIDITY', 'PT7H', { codeValidityMs: 7 * hour }],
  ['EMAIL_CHANGE_LIFETIME', 'P2D', { changeLifetimeMs: 2 * day }],
  ['EMAIL_UNDO_WINDOW', 'PT0S', { undoWindowMs: 0 }],
  ['EMAIL_UNDO_WINDOW', 'P30D', { undoWindowMs: 30 * day }],
  ['SIGN_IN_ADDRESS_LIMIT', '7', { 'signInAddress.places': 7 }],
  ['SIGN_IN_WINDOW', 'PT7M', { 'signIn.windowMs': 7 * minute, 'signInAddress.windowMs': 7 * minute }],
  ['WITHDRAWAL_RETENTION', 'P7D', { withdrawalRetentionMs: 7 * day }],
])('%s=%s sets its own limit and no other', (name, value, expected) => {
  const before = flat(parseEnv(SECRETS).limits)
  const after = flat(parseEnv({ ...SECRETS, [name]: value }).limits)
  expect(Object.fromEntries(Object.entries(after).filter(([key, each]) => before[key] !== each))).toEqual(expected)
})

const WRONG = {
  APP_ENV: ['staging'],
  PORT: ['0', '65536'],
  DEMO_OIDC_PORT: ['65536'],
  DATABASE_CONNECTIONS: ['0'],
  APP_URL: ['accounts.example.com', 'javascript:alert(1)', 'https://example.com/accounts'],
  DATABASE_URL: ['mysql://db.example.com/accounts'],
  SMTP_URL: ['https://mail.example.com'],
  MAIL_FROM: [
    'nobody',
    '@',
    'Acme <nobody>@b.test',
    'Acme, Inc. <a@b.test>',
    'a@b.test, c@d.test',
    'a@b.test\r\nBcc: v@b.test',
  ],
  SUPPORT_EMAIL: ['Support <support@example.com>'],
  AUTH_SUBJECT: ['email'],
  AUTH_SECRET: ['short', 'long-enough-to-be-a-secret,short'],
  CODE_SECRET: ['short', 'long-enough-to-be-a-secret,'],
  TRUSTED_PROXY_HOPS: ['-1'],
  HSTS_INCLUDE_SUBDOMAINS: ['yes'],
  WITHDRAWAL_TIME_SCALE: ['0', 'Infinity', '1001'],
  STATUTORY_PERIOD: ['PT720H', 'P0M'],
  LOG_LEVEL: ['loud'],
  INNGEST_BASE_URL: ['inngest:8288'],
  METRICS_TOKEN: ['short'],
  OTEL_EXPORTER_OTLP_ENDPOINT: ['collector:4318'],
  OTEL_EXPORTER_OTLP_HEADERS: ['api-key=100%', 'api-key', 'api-key=a%0Ab'],
  OTEL_RESOURCE_ATTRIBUTES: ['load=100%'],
  EMAIL_CHANGE_LIMIT: ['3.5', '1e3'],
  EMAIL_CHANGE_WINDOW: ['1h', 'PT0S'],
  EMAIL_CODE_VALIDITY: ['P1M', 'P3651D'],
  EMAIL_UNDO_WINDOW: ['P31D', 'P1M', '0', '-P1D'],
}
test.each(Object.entries(WRONG).flatMap(([name, values]) => values.map((value) => [name, value] as const)))(
  '%s=%s stops the start with a sentence that names the variable',
  (name, value) => {
    const problem = problemOf({ [name]: value })
    expect(problem).toMatch(new RegExp(`^${name} must be [^\\n]+\\.$`))
  },
)

test('headers and attributes of telemetry are lists of pairs with percent-encoded values', () => {
  const OTEL_EXPORTER_OTLP_HEADERS = 'api-key=a%20b, x=y=z,'
  expect(parseEnv({ ...SECRETS, OTEL_EXPORTER_OTLP_HEADERS, OTEL_RESOURCE_ATTRIBUTES: 'zone=one' })).toMatchObject({
    otlpHeaders: { 'api-key': 'a b', x: 'y=z' },
    otlpAttributes: { zone: 'one' },
  })
})

const inFile = (name: string, content: string) => {
  const directory = newDirectory()
  writeFileSync(path.join(directory, name), content)
  return { directory, file: path.join(directory, name) }
}
const german = (json: string) => inFile('de.json', json).directory

test.each([
  ['EMAIL_CODE_ATTEMPTS', '0', 'EMAIL_CODE_ATTEMPTS must be a whole number, 1 or more.'],
  ['DEFAULT_LOCALE', 'nl', 'DEFAULT_LOCALE must be one of en, de, fr, es, pt-BR, ja.'],
  ['LOGO_FILE', '/nowhere/logo.svg', 'LOGO_FILE must name a file that can be read: /nowhere/logo.svg.'],
  ['LOGO_FILE', inFile('a.png', '<html>').file, 'LOGO_FILE must be a picture: PNG, JPEG, WebP or SVG.'],
  ['LOGO_FILE', inFile('a.svg', `<svg>${' '.repeat(300_000)}`).file, 'LOGO_FILE must be a picture of 200 KiB at most.'],
  ['ACCENT_COLOR', 'red', 'ACCENT_COLOR must be a colour such as #1f4fc4.'],
  ['ACCENT_COLOR', '#ffcc00', /^ACCENT_COLOR must have a contrast of 4.5 to 1 .*; #ffcc00 has 1.[34]\.$/],
  // Enough on white, and too little on its own tint.
  ['ACCENT_COLOR', '#767676', /^ACCENT_COLOR must have a contrast of 4.5 to 1 .*; #767676 has 4.[0-3]\.$/],
  ['PRODUCT_NAME', '"Acme"', /^PRODUCT_NAME must be a name of 60 characters at most, [^\n]+\.$/],
  ['PRODUCT_URL', 'javascript:alert(1)', /^PRODUCT_URL must be [^\n]+\.$/],
  ['MESSAGES_DIR', '/nowhere', 'MESSAGES_DIR must name a directory that can be read: /nowhere.'],
  ['MESSAGES_DIR', german('{'), 'MESSAGES_DIR: de.json is not JSON.'],
  [
    'MESSAGES_DIR',
    inFile('nl.json', '{}').directory,
    /^MESSAGES_DIR: nl.json: it must be named after one of en, .+\.$/,
  ],
  ['MESSAGES_DIR', german('[]'), 'MESSAGES_DIR: de.json: it must be a JSON object.'],
  ['MESSAGES_DIR', german('{"Common":{"signUp":"x"}}'), 'MESSAGES_DIR: de.json: there is no text Common.signUp.'],
  [
    'MESSAGES_DIR',
    german('{"Common":{"signIn":"{"}}'),
    /^MESSAGES_DIR: de.json: Common.signIn is not ICU MessageFormat\.$/,
  ],
  ['MESSAGES_DIR', german('{"Common":{"signIn":"{name}"}}'), /: Common.signIn cannot use name; it takes nothing\.$/],
])('%s=%s stops the start with one sentence', (name, value, sentence) => {
  if (typeof sentence === 'string') expect(problemOf({ [name]: value })).toBe(sentence)
  else expect(problemOf({ [name]: value })).toMatch(sentence)
})

test('a variable with a misspelled name of a setting is warned about, and no other', () => {
  const source = {
    WITHDRAWAL_TIMESCALE: '0.001',
    SMTP_URI: 'smtp://mail',
    EMAIL_CHANGE_LIMTI: '5',
    // Not asked about: settings, another program's, and the old name of one that is set.
    ...{ PORT: '1', PATH: '/bin', HOME: '/', OTEL_SERVICE_NAME: 'x', NEXTAUTH_URL: 'x', npm_config_cache: 'x' },
    ...{ APP_URL: 'http://localhost', APP_URLS: 'x' },
  }
  expect(misspelled(source)).toEqual([
    'WITHDRAWAL_TIMESCALE is no setting. Did you mean WITHDRAWAL_TIME_SCALE?',
    'SMTP_URI is no setting. Did you mean SMTP_URL?',
    'EMAIL_CHANGE_LIMTI is no setting. Did you mean EMAIL_CHANGE_LIMIT?',
  ])
})

test.each(['a@localhost', 'Acme <a@b.test>', '<a@b.test>', '"Acme, \\"Inc.\\"" <a@b.test>', 'Żółw (Acme) <a@b.test>'])(
  'MAIL_FROM may be %s',
  (MAIL_FROM) => {
    expect(parseEnv({ ...SECRETS, MAIL_FROM }).mailFrom).toBe(MAIL_FROM)
  },
)

test('the name of the product stands quoted before the address of the sender', () => {
  expect(parseEnv({ ...SECRETS, PRODUCT_NAME: 'Acme: Home, Garden\\' }).mailFrom).toBe(
    '"Acme: Home, Garden\\\\" <no-reply@localhost>',
  )
})

test('the sentence about a wrong secret does not repeat the secret', () => {
  expect(problemOf({ AUTH_SECRET: 'hunter2' })).not.toContain('hunter2')
  expect(problemOf({ METRICS_TOKEN: 'hunter2' })).not.toContain('hunter2')
  expect(problemOf({ DATABASE_URL: 'mysql://user:hunter2@db/x' })).not.toContain('hunter2')
  expect(problemOf({ SMTP_URL: 'http://user:hunter2@mail' })).not.toContain('hunter2')
})

test('production starts without an engine, and refuses one key of an engine without the other', () => {
  const none = { INNGEST_EVENT_KEY: undefined, INNGEST_SIGNING_KEY: '' }
  expect(parseEnv({ ...PRODUCTION, ...none })).toMatchObject({ isProduction: true, hasEngine: false })
  for (const name of ['INNGEST_EVENT_KEY', 'INNGEST_SIGNING_KEY']) {
    expect(problemOf({ ...PRODUCTION, ...none, [name]: 'key' })).toBe(
      'INNGEST_EVENT_KEY and INNGEST_SIGNING_KEY must be set together.',
    )
  }
})

test.each(['DATABASE_URL', 'SMTP_URL', 'AUTH_SECRET', 'CODE_SECRET', 'APP_URL'])(
  'production refuses to start without %s, and with it set to nothing',
  (name) => {
    for (const value of [undefined, '']) {
      expect(problemOf({ ...PRODUCTION, [name]: value })).toBe(`${name} must be set when APP_ENV is production.`)
    }
  },
)

test.each([
  ['an APP_URL that is not https', { APP_URL: 'HTTP://a.example.com' }, /^APP_URL must be https when APP_ENV is prod/],
  ['a development engine, whose calls are unsigned', { INNGEST_DEV: '1' }, /^INNGEST_DEV must not be set [^\n]+\.$/],
  ['its address', { INNGEST_DEV: 'http://localhost:8288' }, /^INNGEST_DEV must not be set [^\n]+\.$/],
  ['the sender of local mode', { MAIL_FROM: 'Accounts <no-reply@localhost>' }, /^MAIL_FROM must be [^\n]+\.$/],
  ['the support of local mode', { SUPPORT_EMAIL: 'support@example.com' }, /^SUPPORT_EMAIL must be [^\n]+\.$/],
  ['the demo provider', { DEMO_OIDC: '1' }, /^DEMO_OIDC must not be set when APP_ENV is production/],
])('production refuses %s', (_what, settings, sentence) => {
  expect(problemOf({ ...PRODUCTION, ...settings })).toMatch(sentence)
})

const S3 = {
  ARCHIVE_S3_ENDPOINT: 'https://s3.example.com',
  ARCHIVE_S3_BUCKET: 'copies',
  ARCHIVE_S3_ACCESS_KEY_ID: 'id',
  ARCHIVE_S3_SECRET_ACCESS_KEY: 'secret',
}
const SHARED_DIR = { ARCHIVE_DIR: '/shared/archives', ARCHIVE_DIR_SHARED: '1' }

test.each([
  ['local mode: a directory in DATA_DIR', { DATA_DIR: '/d' }, { archiveDir: '/d/archives', archiveS3: undefined }],
  ['local mode with a directory', { ARCHIVE_DIR: '/a' }, { archiveDir: '/a', archiveS3: undefined }],
  ['local mode with a bucket', S3, { archiveDir: undefined, archiveS3: { bucket: 'copies', region: 'us-east-1' } }],
  ['production: none', PRODUCTION, { archiveDir: undefined, archiveS3: undefined }],
  ['production with a bucket', { ...PRODUCTION, ...S3 }, { archiveDir: undefined, archiveS3: { bucket: 'copies' } }],
  ['production with a shared directory', { ...PRODUCTION, ...SHARED_DIR }, { archiveDir: '/shared/archives' }],
])('the archive store in %s', (_mode, source, expected) => {
  expect(parseEnv({ ...SECRETS, ...source })).toMatchObject(expected)
})

test.each<[Record<string, string>, RegExp]>([
  [{ ...PRODUCTION, ARCHIVE_DIR: '/a' }, /^ARCHIVE_DIR must be on storage that all instances share [^\n]+\.$/],
  [{ ...PRODUCTION, ARCHIVE_DIR: '/a', ARCHIVE_DIR_SHARED: '0' }, /^ARCHIVE_DIR must be on storage [^\n]+\.$/],
  [{ ARCHIVE_DIR_SHARED: '1' }, /^ARCHIVE_DIR_SHARED must not be set without ARCHIVE_DIR\.$/],
  [{ ...S3, ARCHIVE_DIR: '/a' }, /^ARCHIVE_DIR and ARCHIVE_S3_ENDPOINT must not be set together[^\n]+\.$/],
  [{ ...S3, ARCHIVE_S3_ACCESS_KEY_ID: '…' }, /^ARCHIVE_S3_ACCESS_KEY_ID must be visible ASCII characters\.$/],
  ...Object.keys(S3).map((name): [Record<string, string>, RegExp] => [
    { ...S3, [name]: '' },
    /^ARCHIVE_S3_ENDPOINT, [^\n]+ must be set together\.$/,
  ]),
])('an archive store that would lose archives stops the start: %o', (source, sentence) => {
  expect(problemOf(source)).toMatch(sentence)
})

const LEDGER_S3 = {
  LEDGER_S3_ENDPOINT: 'https://s3.example.com',
  LEDGER_S3_BUCKET: 'lines',
  LEDGER_S3_ACCESS_KEY_ID: 'writer',
  LEDGER_S3_SECRET_ACCESS_KEY: 'secret of the writer',
}
test('the ledger and the archives may have two buckets with two credentials', () => {
  const bucket = { bucket: 'lines', accessKeyId: 'writer', region: 'us-east-1' }
  const { archiveS3, ledgerS3 } = parseEnv({ ...PRODUCTION, ...S3, ...NO_LEDGER, ...LEDGER_S3 })
  expect(ledgerS3).toMatchObject(bucket)
  expect(archiveS3).not.toMatchObject(bucket)
  const { archiveS3: shared, ledgerS3: same } = parseEnv({ ...PRODUCTION, ...S3, ...NO_LEDGER })
  expect(same).toEqual(shared)
})

const NO_LEDGER = { LEDGER_DIR: '', LEDGER_DIR_SHARED: '' }

test.each([
  ['local mode: a directory in DATA_DIR', { DATA_DIR: '/d' }, '/d/ledger'],
  ['local mode with a directory', { LEDGER_DIR: '/l' }, '/l'],
  ['local mode with a bucket: the bucket', S3, undefined],
  ['production with a shared directory', PRODUCTION, '/shared/ledger'],
  ['production with a bucket: the bucket', { ...PRODUCTION, ...S3, ...NO_LEDGER }, undefined],
  ['production with a bucket for archives and a shared directory', { ...PRODUCTION, ...S3 }, '/shared/ledger'],
])('the erasure ledger in %s', (_mode, source, expected) => {
  expect(parseEnv({ ...SECRETS, ...source }).ledgerDir).toBe(expected)
})

test.each<[Record<string, string>, RegExp]>([
  [
    { ...PRODUCTION, ...NO_LEDGER },
    /^LEDGER_DIR or LEDGER_S3_ENDPOINT or ARCHIVE_S3_ENDPOINT must be set when APP_ENV is production[^\n]+\.$/,
  ],
  [{ ...PRODUCTION, LEDGER_DIR_SHARED: '0' }, /^LEDGER_DIR must be on storage that all instances share [^\n]+\.$/],
  [{ ...PRODUCTION, ...LEDGER_S3 }, /^LEDGER_DIR and LEDGER_S3_ENDPOINT must not be set together[^\n]+\.$/],
  [{ LEDGER_S3_BUCKET: 'lines' }, /^LEDGER_S3_ENDPOINT, LEDGER_S3_BUCKET, [^\n]+ must be set together\.$/],
  [{ LEDGER_DIR_SHARED: '1' }, /^LEDGER_DIR_SHARED must not be set without LEDGER_DIR\.$/],
])('a ledger that would end with its instance stops the start: %o', (source, sentence) => {
  expect(problemOf(source)).toMatch(sentence)
})

test.each([
  ['production', PRODUCTION, false],
  ['production where it is said to be off', { ...PRODUCTION, ALLOW_PRIVATE_ENDPOINTS: '0' }, false],
  ['production where it is allowed', { ...PRODUCTION, ALLOW_PRIVATE_ENDPOINTS: '1' }, true],
  ['local mode', SECRETS, true],
])('in %s applications may have addresses that are not public: %o -> %s', (_mode, source, allowsPrivateEndpoints) => {
  expect(parseEnv(source)).toMatchObject({ allowsPrivateEndpoints })
})

test.each([
  [{ INNGEST_DEV: '1' }, true],
  [{ INNGEST_DEV: 'http://localhost:8288' }, true],
  [{ INNGEST_DEV: '0' }, false],
  [{ INNGEST_DEV: 'false' }, false],
  [{ ...PRODUCTION, INNGEST_DEV: 'false' }, true],
  [{ INNGEST_DEV: '1', INNGEST_EVENT_KEY: 'k' }, true],
  [{ INNGEST_EVENT_KEY: 'k', INNGEST_SIGNING_KEY: 'k' }, true],
])('with %o an engine is configured: %s', (settings, hasEngine) => {
  expect(parseEnv({ ...SECRETS, ...settings })).toMatchObject({ hasEngine })
})

test('a list separated by commas rotates a secret; its order is kept and white space is trimmed', () => {
  const { authSecrets, codeSecrets } = parseEnv({
    AUTH_SECRET: 'new-secret-for-tests, old-secret-for-tests',
    CODE_SECRET: 'code-secret-for-tests',
  })
  expect(authSecrets).toEqual(['new-secret-for-tests', 'old-secret-for-tests'])
  expect(codeSecrets).toEqual(['code-secret-for-tests'])
})

test('an empty variable counts as not set', () => {
  const nothing = Object.fromEntries(Object.keys(PRODUCTION).map((name) => [name, '']))
  expect(parseEnv({ ...nothing, ...SECRETS, PORT: '', READ_LIMIT: '' })).toEqual(parseEnv(SECRETS))
})

test('a DATA_DIR that is no directory is refused with a sentence that names the setting', () => {
  const sentence = /^DATA_DIR must be a directory that can be read and written: E[^\n]+\.$/
  expect(problemOf({ CODE_SECRET: undefined, DATA_DIR: import.meta.filename })).toMatch(sentence)
})

test('links begin with the origin of APP_URL, or with localhost and the port', () => {
  expect(parseEnv({ ...SECRETS, APP_URL: 'https://accounts.example.com/' }).appUrl).toBe('https://accounts.example.com')
  expect(parseEnv({ ...SECRETS, PORT: '4100' }).appUrl).toBe('http://localhost:4100')
})

test('without secrets two are generated, in files that only their owner can read, and used again', () => {
  const first = parseEnv({ DATA_DIR: dataDir })
  const again = parseEnv({ DATA_DIR: dataDir })
  expect(again).toEqual(first)
  expect(first.authSecrets).not.toEqual(first.codeSecrets)
  for (const [secret] of [first.authSecrets, first.codeSecrets]) expect(secret).toMatch(/^[A-Za-z0-9_-]{43}$/)
  const files = readdirSync(dataDir).map((name) => path.join(dataDir, name))
  expect(files.map((file) => readFileSync(file, 'utf8').trim()).sort()).toEqual(
    [...first.authSecrets, ...first.codeSecrets].sort(),
  )
  expect(files.map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600])
})

test.each([
  ['PT1S', second],
  ['PT0.5S', second / 2],
  ['PT15M', 15 * minute],
  ['PT12H', 12 * hour],
  ['P1D', day],
  ['P1DT12H30M5S', day + 12 * hour + 30 * minute + 5 * second],
  ['P2W', 14 * day],
  ['PT0S', 0],
])('the duration %s is %d milliseconds', (text, ms) => {
  expect(parseDuration(text)).toBe(ms)
})

test.each(['', 'P', 'P1DT', 'P1M', '1D', 'PT1', 'pt1h', 'PT1H ', '-P1D', 'PT1M1H', 'P1.5D'])(
  '"%s" is no duration',
  (text) => {
    expect(parseDuration(text)).toBeNull()
  },
)

test.each([
  ['P1M', { months: 1, days: 0 }],
  ['P45D', { months: 0, days: 45 }],
  ['P1Y2M3W4D', { months: 14, days: 25 }],
])('the period %s is counted in months and days of the calendar', (text, period) => {
  expect(parsePeriod(text)).toEqual(period)
})

test.each(['', '1M', 'P1.5M', '-P1M', 'P1MT1H', 'P1D1M'])('"%s" is no period of the calendar', (text) => {
  expect(parsePeriod(text)).toBeNull()
})

test('AUTH_SUBJECT says what the subject of an outside token is, by default our id of the user', () => {
  const issuer = {
    AUTH_JWKS_URL: 'https://login.example.com/jwks.json',
    AUTH_ISSUER: 'https://login.example.com/',
    AUTH_AUDIENCE: 'accounts',
  }
  const subjectOf = (source: Record<string, string>) =>
    parseEnv({ ...SECRETS, ...issuer, ...source }).outsideIssuer?.subjectIs
  expect([subjectOf({}), subjectOf({ AUTH_SUBJECT: 'external_id' })]).toEqual(['user_id', 'external_id'])
})

const OIDC = {
  SIGN_IN_METHODS: 'password,oidc',
  AUTH_OIDC_ISSUER: 'https://login.example.com',
  AUTH_OIDC_CLIENT_ID: 'accounts',
  AUTH_OIDC_CLIENT_SECRET: 'secret',
}
const TOGETHER = 'AUTH_OIDC_ISSUER, AUTH_OIDC_CLIENT_ID and AUTH_OIDC_CLIENT_SECRET must be set together'

test('people sign in only with a password, unless SIGN_IN_METHODS says otherwise', () => {
  expect(parseEnv(SECRETS)).toMatchObject({ hasPasswordSignIn: true, identityProvider: undefined })
  const both = parseEnv({ ...SECRETS, ...OIDC })
  expect(both.hasPasswordSignIn).toBe(true)
  expect(both.identityProvider).toEqual({
    issuer: 'https://login.example.com',
    clientId: 'accounts',
    clientSecret: 'secret',
    scopes: 'openid',
    name: 'login.example.com',
  })
  const alone = parseEnv({ ...SECRETS, ...OIDC, SIGN_IN_METHODS: 'oidc', AUTH_OIDC_NAME: 'Acme' })
  expect([alone.hasPasswordSignIn, alone.identityProvider?.name]).toEqual([false, 'Acme'])
  expect(parseEnv({ ...SECRETS, ...OIDC, SIGN_IN_METHODS: 'password' }).identityProvider).toBeUndefined()
})

const METHODS = 'SIGN_IN_METHODS must be password, oidc or password,oidc.'

test.each([
  [{ SIGN_IN_METHODS: 'oidc,magic' }, METHODS],
  [{ SIGN_IN_METHODS: ',' }, METHODS],
  [{ SIGN_IN_METHODS: 'oidc' }, `${TOGETHER} when SIGN_IN_METHODS names oidc.`],
  [{ ...OIDC, AUTH_OIDC_CLIENT_SECRET: '' }, `${TOGETHER} when SIGN_IN_METHODS names oidc.`],
  [{ SIGN_IN_METHODS: 'password', AUTH_OIDC_CLIENT_ID: 'x' }, `${TOGETHER}.`],
  [{ ...OIDC, SIGN_IN_METHODS: '' }, 'SIGN_IN_METHODS must be oidc or password,oidc when AUTH_OIDC_ISSUER is set.'],
  [{ ...OIDC, AUTH_OIDC_SCOPES: 'email' }, 'AUTH_OIDC_SCOPES must be scopes separated by spaces, openid among them.'],
  [{ ...OIDC, AUTH_OIDC_ISSUER: 'login' }, 'AUTH_OIDC_ISSUER must be a URL such as https://login.example.com.'],
  [
    { AUTH_REQUIRED_ACR: 'a", x="' },
    /^AUTH_REQUIRED_ACR must be one value of visible ASCII characters without quotes\.$/,
  ],
  [{ AUTH_MAX_AGE: 'PT0S' }, /^AUTH_MAX_AGE must be an ISO 8601 duration [^\n]+\.$/],
  [{ ...OIDC, DEMO_OIDC: '1' }, 'DEMO_OIDC and AUTH_OIDC_ISSUER must not be set together.'],
  [{ DEMO_OIDC: '1', SIGN_IN_METHODS: 'password' }, 'SIGN_IN_METHODS must name oidc when DEMO_OIDC is set.'],
])('a sign-in that cannot work stops the start: %o', (source, sentence) => {
  if (typeof sentence === 'string') expect(problemOf(source)).toBe(sentence)
  else expect(problemOf(source)).toMatch(sentence)
})

test('production refuses an issuer that is asked without https', () => {
  const http = { ...PRODUCTION, ...OIDC, AUTH_OIDC_ISSUER: 'http://login.example.com' }
  expect(problemOf(http)).toBe('AUTH_OIDC_ISSUER must be https when APP_ENV is production.')
  expect(parseEnv({ ...PRODUCTION, ...OIDC }).identityProvider?.issuer).toBe('https://login.example.com')
})

test('the demo provider listens on the next port, and its client keeps its secret across starts', () => {
  const demo = () => parseEnv({ ...SECRETS, DATA_DIR: dataDir, PORT: '4900', DEMO_OIDC: '1' })
  expect(demo()).toMatchObject({
    hasPasswordSignIn: true,
    demoProviderPort: 4901,
    identityProvider: { issuer: 'http://localhost:4901', clientId: 'user-account-service' },
  })
  expect(demo().identityProvider?.clientSecret).toBe(demo().identityProvider?.clientSecret)
})

test('AUTH_MAX_AGE and AUTH_REQUIRED_ACR are unset by default', () => {
  expect(parseEnv(SECRETS).freshSignIn).toEqual({ maxOutsideAgeMs: null, requiredAcr: null })
  expect(
    parseEnv({ ...SECRETS, ...OIDC, AUTH_MAX_AGE: 'PT5M', AUTH_REQUIRED_ACR: 'urn:acme:mfa' }).freshSignIn,
  ).toEqual({
    maxOutsideAgeMs: 300_000,
    requiredAcr: 'urn:acme:mfa',
  })
})

test('AUTH_REQUIRED_ACR without an identity provider where people can confirm stops the start, also beside an outside issuer', () => {
  const issuer = { AUTH_JWKS_URL: 'https://a.test/jwks', AUTH_ISSUER: 'https://a.test', AUTH_AUDIENCE: 'accounts' }
  for (const more of [{}, issuer, { ...OIDC, SIGN_IN_METHODS: 'password' }]) {
    expect(problemOf({ ...SECRETS, ...more, AUTH_REQUIRED_ACR: 'urn:acme:mfa' })).toBe(
      'AUTH_REQUIRED_ACR needs an identity provider where people confirm who they are: set AUTH_OIDC_ISSUER, AUTH_OIDC_CLIENT_ID and AUTH_OIDC_CLIENT_SECRET, and name oidc in SIGN_IN_METHODS.',
    )
  }
})

test('one start of production names everything that is missing or wrong', () => {
  const problems = problemOf({ AUTH_SECRET: '', CODE_SECRET: 'short', APP_ENV: 'production', PORT: '0' }).split('\n')
  expect(problems.map((sentence) => sentence.split(' ')[0]).join(' ')).toBe(
    'PORT CODE_SECRET DATABASE_URL SMTP_URL AUTH_SECRET APP_URL MAIL_FROM SUPPORT_EMAIL LEDGER_DIR',
  )
})

const UNDOUBTED = {
  ...PRODUCTION,
  TRUSTED_PROXY_HOPS: '1',
  PRODUCT_NAME: 'Acme',
  PRIVACY_URL: 'https://example.com/privacy',
  METRICS_TOKEN: 'a-token-of-metrics',
}

test.each([
  ['WITHDRAWAL_TIME_SCALE', '0.5'],
  ['AUTH_SECRET', `one-secret-for-all,${UNDOUBTED.CODE_SECRET}`],
  ['TRUSTED_PROXY_HOPS', ''],
  ['PRODUCT_NAME', ''],
  ['PRIVACY_URL', ''],
  ['METRICS_TOKEN', ''],
  ['ALLOWED_ORIGINS', 'https://shop.example.com'],
  ['DATABASE_URL', 'postgresql://user:secret-for-all@db/accounts?sslmode=no-verify'],
])('production is warned when %s is %j, and local mode is not', (name, value) => {
  expect(settingWarnings(parseEnv(UNDOUBTED))).toEqual([])
  const hints = settingWarnings(parseEnv({ ...UNDOUBTED, [name]: value }))
  expect(hints).toEqual([expect.stringMatching(new RegExp(`^${name} `))])
  expect(hints.join()).not.toContain('secret-for-all')
  expect(settingWarnings(parseEnv({ ...SECRETS, [name]: value }))).toEqual([])
})

test.each([
  ['another host', 'smtp://mail.example.com:587', {}, true],
  ['another host that may do without', 'smtp://mail.example.com:587', { SMTP_TLS: 'optional' }, false],
  ['this host', 'smtp://127.0.0.1:25', {}, false],
  ['this host by name', 'smtp://localhost', {}, false],
  ['this host by IPv6', 'smtp://[::1]:25', {}, false],
  ['a host with a name like this one', 'smtp://localhost.example.com', {}, true],
])('production: mail to %s needs TLS or does not', (_where, SMTP_URL, more, expected) => {
  expect(parseEnv({ ...PRODUCTION, SMTP_URL, ...more }).smtpNeedsTls).toBe(expected)
  expect(parseEnv({ ...SECRETS, SMTP_URL, ...more }).smtpNeedsTls).toBe(false)
})

// ---- pages of other origins ----

const NO_ORIGIN = [
  '*',
  'null',
  'app.example.com',
  '//app.example.com',
  'https:app.example.com',
  'https://app.example.com/',
  'https://app.example.com/settings',
  'https://app.example.com:443',
  'https://app.example.com:99999',
  'HTTPS://app.example.com',
  'https://*.example.com',
  'https://user:secret@app.example.com',
  'https://bücher.example',
  'https://app.example.com\\@evil.test',
  'https://app.example.com evil.test',
  'https://0x7f.1',
  'ws://app.example.com',
  'file:///etc',
  'javascript:alert(1)',
  'blob:https://app.example.com',
  'myapp:',
]

test.each(NO_ORIGIN)(
  'ALLOWED_ORIGINS with "%s" stops the start with a sentence, alone and behind a good one',
  (text) => {
    const sentence =
      /^ALLOWED_ORIGINS must be origins such as https:\/\/app\.example\.com, separated by commas, without a path/
    for (const ALLOWED_ORIGINS of [text, `https://app.example.com,${text}`]) {
      expect(problemOf({ ALLOWED_ORIGINS })).toMatch(sentence)
    }
  },
)

test('ALLOWED_ORIGINS lists exact origins, and http only in local mode', () => {
  const ALLOWED_ORIGINS = 'https://app.example.com, https://xn--bcher-kva.example:8443,http://localhost:5173'
  expect(parseEnv({ ...SECRETS, ALLOWED_ORIGINS }).allowedOrigins).toEqual([
    'https://app.example.com',
    'https://xn--bcher-kva.example:8443',
    'http://localhost:5173',
  ])
  expect(parseEnv(SECRETS).allowedOrigins).toEqual([])
  for (const text of [
    'http://localhost:5173',
    'https://app.example.com,http://app.example.com',
    ' http://app.example.com',
  ]) {
    const problem = problemOf({ ...PRODUCTION, ALLOWED_ORIGINS: text })
    expect(problem).toBe('ALLOWED_ORIGINS must be https when APP_ENV is production.')
  }
})

test('RETURN_TO lists https origins and schemes of apps', () => {
  const RETURN_TO = 'https://app.example.com, myapp:,com.example.app:'
  expect(parseEnv({ ...PRODUCTION, RETURN_TO }).returnTo).toEqual([
    'https://app.example.com',
    'myapp:',
    'com.example.app:',
  ])
  expect(parseEnv(SECRETS).returnTo).toEqual([])
})

test.each([
  ...NO_ORIGIN.filter((text) => text !== 'myapp:'),
  'http://localhost:5173',
  'https:',
  'javascript:',
  'MyApp:',
  '1app:',
  ':',
  'myapp',
])('RETURN_TO with "%s" stops the start with a sentence', (text) => {
  expect(() => parseEnv({ ...SECRETS, RETURN_TO: `myapp:,${text}` })).toThrow(
    /^RETURN_TO must be https origins such as https:\/\/app\.example\.com and schemes of apps such as myapp:/,
  )
})

test('SETTINGS_URL is a page of an origin that the adopter has listed', () => {
  const SETTINGS_URL = 'https://app.example.com/settings?tab=email'
  const settingsUrlWith = (more: object) => parseEnv({ ...SECRETS, SETTINGS_URL, ...more }).settingsUrl
  expect(settingsUrlWith({ RETURN_TO: 'https://app.example.com' })).toBe(SETTINGS_URL)
  expect(settingsUrlWith({ ALLOWED_ORIGINS: 'https://app.example.com' })).toBe(SETTINGS_URL)
  expect(parseEnv(SECRETS).settingsUrl).toBeNull()
  expect(() => settingsUrlWith({ RETURN_TO: 'https://other.example.com' })).toThrow(/add https:\/\/app\.example\.com/)
  expect(() => settingsUrlWith({ SETTINGS_URL: 'https://app.example.com/#/settings' })).toThrow(/no fragment/)
})

// ---- the pages of settings ----

const PAGES = ['docs/settings.md', 'docs/all-settings.md'].map((file) => readFileSync(file, 'utf8')).join()
const ROWS = [...PAGES.matchAll(/^\| `(\w+)`( ●)? \| (.+?) \|/gm)].map(([, name = '', mark, fallback = '']) => ({
  name,
  isNeeded: mark !== undefined,
  // A default that is more than one literal value is explained in words.
  fallback: /^`([^`$]+)`$/.exec(fallback)?.[1],
}))

test('the pages of settings and the schema name the same variables, and the same ones as needed in production', () => {
  expect(ROWS.map(({ name }) => name).sort()).toEqual([...SETTING_VARIABLES].sort())
  const needed = ROWS.filter(({ isNeeded }) => isNeeded).map(({ name }) => name)
  expect(needed.sort()).toEqual([...PRODUCTION_NEEDS].sort())
})

test.each(ROWS.filter(({ fallback }) => fallback))('the default of $name is $fallback, as its page says', (row) => {
  for (const settings of [SECRETS, PRODUCTION]) {
    const isGiven = row.name in settings
    if (!isGiven) expect(parseEnv({ ...settings, [row.name]: row.fallback })).toEqual(parseEnv(settings))
  }
})

test('the operator command logs errors alone, unless LOG_LEVEL is set', () => {
  expect(parseEnv({})).toMatchObject({ logLevel: 'info', commandLogLevel: 'warn' })
  expect(parseEnv({ LOG_LEVEL: 'debug' })).toMatchObject({ logLevel: 'debug', commandLogLevel: 'debug' })
})
