import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import * as z from 'zod'
import { parseAddress } from '@/contract/address'
import { DEFAULT_LANGUAGE, isLanguage, LANGUAGES, type Language } from '@/contract/languages'
import type { FreshSignInSettings } from '@/domain/context'
import { type CalendarPeriod, DEFAULT_STATUTORY_PERIOD } from '@/domain/limits/due-date'
import { day, hour } from '@/domain/limits/durations'
import {
  BUCKET_NAMES,
  LIMIT_ROWS,
  type Limits,
  limitsFrom,
  SETTING_NAMES,
  SETTING_ROWS,
  type SettingRow,
} from '@/domain/limits/limits'
import type { OutsideIssuer } from '@/domain/ports'
import { accentProblem, type Brand, readLogo } from './brand'
import { nearestOf } from './nearest'
import { SettingsError } from './settings-error'
import type { Texts } from './texts/catalogue'
import { readOwnTexts } from './texts/own-texts'

export interface S3Settings {
  /** Such as https://s3.eu-central-1.amazonaws.com; the bucket is in the path. */
  endpoint: string
  bucket: string
  region: string
  accessKeyId: string
  secretAccessKey: string
}

export interface IssuerSettings {
  jwksUrl: string
  issuer: string
  audience: string
  subjectIs: OutsideIssuer['subjectIs']
}

export interface ProviderSettings {
  issuer: string
  clientId: string
  clientSecret: string
  /** Separated by spaces; `openid` is one of them. */
  scopes: string
  /** The name that people know. */
  name: string
}

export interface Env {
  production: boolean
  port: number
  /** The origin at which people reach the service. Links in mails begin with it. */
  appUrl: string
  dataDir: string
  /** Undefined: an embedded PostgreSQL in `dataDir`. */
  databaseUrl: string | undefined
  /** The maximum of connections that this instance opens. */
  databaseConnections: number
  archiveS3: S3Settings | undefined
  /** The directory for archives. Without it and `archiveS3` no archives are written. */
  archiveDir: string | undefined
  /** The directory for the erasure ledger. Without it the ledger is kept in `archiveS3`. */
  ledgerDir: string | undefined
  /** Whether the service opens on a database that is older than its ledger. */
  acceptOldDatabase: boolean
  /** Undefined: messages are kept in `dataDir` and shown at /dev/mailbox. */
  smtpUrl: string | undefined
  /** Whether no message and no password goes to the mail server in the clear. */
  smtpNeedsTls: boolean
  mailFrom: string
  supportEmail: string
  /** The product's name and look on pages, in mails and in the API description. */
  brand: Brand
  /** Used if neither the account nor the browser names a language that there is. */
  defaultLanguage: Language
  /** The adopter's own texts, which replace ours. */
  ownTexts: Partial<Record<Language, Texts>>
  /** The first secret signs; all of them verify. */
  authSecrets: string[]
  codeSecrets: string[]
  /** The issuer whose JWTs are accepted beside our own tokens. */
  outsideIssuer: IssuerSettings | undefined
  /** Whether people sign in with a password of ours. */
  hasPasswordSignIn: boolean
  /** Where people sign in instead of, or beside, a password. */
  identityProvider: ProviderSettings | undefined
  freshSignIn: FreshSignInSettings
  /** The port of the demo provider, which `npm start` with DEMO_OIDC=1 starts. */
  demoProviderPort: number | undefined
  trustedProxyHops: number
  /** How long an instance that is told to stop still takes new connections. */
  drainMs: number
  /** Whether applications may have addresses that are not public. */
  privateEndpoints: boolean
  /** Whether Strict-Transport-Security includes the subdomains of APP_URL's host. */
  hstsIncludeSubDomains: boolean
  withdrawalTimeScale: number
  statutoryPeriod: CalendarPeriod
  /** Whether an Inngest engine is configured. The in-process sweep runs with it and without it. */
  engine: boolean
  /** The engine's URL; undefined for Inngest's cloud, for a development server on this host, or without an engine. */
  engineUrl: string | undefined
  /** Undefined: there is no metrics page. */
  metricsToken: string | undefined
  /** Undefined: no traces. */
  otlpEndpoint: string | undefined
  logLevel: string
  limits: Limits
}

export { SettingsError }

const DURATION = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/

/** Milliseconds of an ISO 8601 duration of weeks, days, hours, minutes and seconds; null for anything else. */
export function parseDuration(text: string): number | null {
  const match = DURATION.exec(text)
  if (!match || !/\d/.test(text) || text.endsWith('T')) return null
  const [weeks, days, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
  ]
  return Math.round(((((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000)
}

const PERIOD = /^P(?:(\d{1,2})Y)?(?:(\d{1,3})M)?(?:(\d{1,3})W)?(?:(\d{1,4})D)?$/

/** Months and days of an ISO 8601 period of years, months, weeks and days; null for anything else. */
export function parsePeriod(text: string): CalendarPeriod | null {
  const match = PERIOD.exec(text)
  if (!match) return null
  const [years, months, weeks, days] = match.slice(1).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
  ]
  return { months: years * 12 + months, days: weeks * 7 + days }
}

/** Load balancers ask every few seconds whether an instance is ready, and most believe the second or third refusal. */
const PRODUCTION_DRAIN_MS = 10_000
const MAX_DURATION_MS = 3_650 * 24 * 60 * 60 * 1000
const durationText = z.string().transform((text, ctx) => {
  const ms = parseDuration(text)
  if (ms !== null && ms > 0 && ms <= MAX_DURATION_MS) return ms
  ctx.addIssue('must be an ISO 8601 duration such as PT15M, PT12H or P1D, of ten years at most')
  return z.NEVER
})
const periodText = z.string().transform((text, ctx) => {
  const period = parsePeriod(text)
  if (period && period.months + period.days > 0) return period
  ctx.addIssue('must be an ISO 8601 period of the calendar such as P1M or P45D')
  return z.NEVER
})
const durationUpTo = (maxMs: number, wanted = `P7D, of ${maxMs / day} days at most`) =>
  z.string().transform((text, ctx) => {
    const ms = parseDuration(text)
    if (ms !== null && ms <= maxMs) return ms
    ctx.addIssue(`must be PT0S or an ISO 8601 duration such as ${wanted}`)
    return z.NEVER
  })
const duration = (fallbackMs: number) => durationText.default(fallbackMs)
const count = (fallback: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number, 0 or more')
    .transform(Number)
    .default(fallback)
const flag = z.enum(['0', '1'], 'must be 0 or 1').transform((text) => text === '1')
const url = (protocols: string[], example: string) =>
  z.string().refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol), {
    error: `must be a URL such as ${example}`,
    abort: true,
  })
const secrets = z
  .string()
  .transform((text) => text.split(',').map((secret) => secret.trim()))
  .refine(
    (list) => list.every((secret) => secret.length >= 16),
    'must be secrets of 16 characters or more, separated by commas',
  )

const limitFields = Object.fromEntries(
  BUCKET_NAMES.flatMap((name) => {
    const { places, windowMs, settings } = LIMIT_ROWS[name]
    return [
      [settings[0], count(places)],
      [settings[1], duration(windowMs)],
    ]
  }),
)
const settingFields = Object.fromEntries(
  SETTING_NAMES.map((name) => {
    const row: SettingRow = SETTING_ROWS[name]
    if (!name.endsWith('Ms')) return [row.setting, count(row.value)]
    return [row.setting, row.upTo ? durationUpTo(row.upTo).default(row.value) : duration(row.value)]
  }),
)

/** Stand-ins of local mode. */
const LOCAL_SENDER = 'no-reply@localhost'
const LOCAL_SUPPORT = 'support@example.com'

const schema = z.object({
  ...limitFields,
  ...settingFields,
  APP_ENV: z.enum(['local', 'production'], 'must be local or production').default('local'),
  PORT: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a port number')
    .transform(Number)
    .refine((port) => port >= 1 && port <= 65_535, 'must be a port number from 1 to 65535')
    .default(3000),
  APP_URL: url(['http:', 'https:'], 'https://accounts.example.com')
    .refine((text) => /^\w+:\/\/[^/?#]+\/?$/.test(text), 'must be an origin without a path')
    .optional(),
  DATA_DIR: z.string().default('.data'),
  DATABASE_URL: url(['postgres:', 'postgresql:'], 'postgresql://user:password@host:5432/accounts').optional(),
  DATABASE_CONNECTIONS: z
    .string()
    .regex(/^[1-9]\d{0,2}$/, 'must be a whole number from 1 to 999')
    .transform(Number)
    .default(16),
  SMTP_URL: url(['smtp:', 'smtps:'], 'smtps://user:password@mail.example.com:465').optional(),
  SMTP_TLS: z.enum(['required', 'optional'], 'must be required or optional').default('required'),
  MAIL_FROM: z
    .string()
    .refine(
      (text) => !/[\r\n]/.test(text) && text.includes('@'),
      'must be an address such as Accounts <no-reply@example.com>',
    )
    .optional(),
  PRODUCT_NAME: z
    .string()
    .refine(
      (text) => /\S/.test(text) && !/[\p{Cc}<>"]/u.test(text) && text.length <= 60,
      'must be a name of 60 characters at most, without quotes and angle brackets',
    )
    .default('User Account Service'),
  PRODUCT_URL: url(['https:', 'http:'], 'https://example.com').optional(),
  SUPPORT_URL: url(['https:', 'http:'], 'https://example.com/support').optional(),
  PRIVACY_URL: url(['https:', 'http:'], 'https://example.com/privacy').optional(),
  TERMS_URL: url(['https:', 'http:'], 'https://example.com/terms').optional(),
  LOGO_FILE: z.string().optional(),
  ACCENT_COLOR: z
    .string()
    .regex(/^#[0-9a-f]{6}$/i, { error: 'must be a colour such as #1f4fc4', abort: true })
    .superRefine((color, ctx) => {
      const problem = accentProblem(color)
      if (problem) ctx.addIssue(problem)
    })
    .optional(),
  DEFAULT_LOCALE: z
    .string()
    .refine(isLanguage, `must be one of ${LANGUAGES.join(', ')}`)
    .default(DEFAULT_LANGUAGE),
  MESSAGES_DIR: z.string().optional(),
  SUPPORT_EMAIL: z
    .string()
    .refine((text) => parseAddress(text) !== null, 'must be one plain address')
    .default(LOCAL_SUPPORT),
  AUTH_SECRET: secrets.optional(),
  CODE_SECRET: secrets.optional(),
  AUTH_JWKS_URL: url(['https:', 'http:'], 'https://login.example.com/.well-known/jwks.json').optional(),
  AUTH_ISSUER: z.string().optional(),
  AUTH_AUDIENCE: z.string().optional(),
  AUTH_SUBJECT: z.enum(['user_id', 'external_id'], 'must be user_id or external_id').default('user_id'),
  AUTH_MAX_AGE: durationText.optional(),
  AUTH_REQUIRED_ACR: z
    .string()
    .regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/, 'must be one value of visible ASCII characters without quotes')
    .optional(),
  SIGN_IN_METHODS: z
    .string()
    .transform((text) => text.split(',').map((method) => method.trim()))
    .refine(
      (list) => list.every((method) => ['password', 'oidc'].includes(method)),
      'must be password, oidc or password,oidc',
    )
    .optional(),
  AUTH_OIDC_ISSUER: url(['https:', 'http:'], 'https://login.example.com')
    .refine((text) => !/[?#]/.test(text), 'must have no query and no fragment')
    .optional(),
  AUTH_OIDC_CLIENT_ID: z.string().optional(),
  AUTH_OIDC_CLIENT_SECRET: z.string().optional(),
  AUTH_OIDC_SCOPES: z
    .string()
    .refine((text) => text.split(' ').includes('openid'), 'must be scopes separated by spaces, openid among them')
    .default('openid'),
  AUTH_OIDC_NAME: z
    .string()
    .refine(
      (text) => /\S/.test(text) && !/\p{Cc}/u.test(text) && text.length <= 40,
      'must be a name of 40 characters at most',
    )
    .optional(),
  DEMO_OIDC: flag.default(false),
  DEMO_OIDC_PORT: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a port number')
    .transform(Number)
    .optional(),
  TRUSTED_PROXY_HOPS: count(0),
  DRAIN_TIME: durationUpTo(hour, 'PT10S, of an hour at most').optional(),
  ALLOW_PRIVATE_ENDPOINTS: flag.optional(),
  HSTS_INCLUDE_SUBDOMAINS: z
    .enum(['0', '1'], 'must be 0 or 1')
    .transform((text) => text === '1')
    .default(true),
  WITHDRAWAL_TIME_SCALE: z
    .string()
    .refine(
      (text) => Number(text) > 0 && Number(text) <= 1000,
      'must be a number above 0, such as 0.0001, and at most 1000',
    )
    .transform(Number)
    .default(1),
  STATUTORY_PERIOD: periodText.default(DEFAULT_STATUTORY_PERIOD),
  ARCHIVE_DIR: z.string().optional(),
  ARCHIVE_DIR_SHARED: flag.optional(),
  LEDGER_DIR: z.string().optional(),
  LEDGER_DIR_SHARED: flag.optional(),
  ACCEPT_OLD_DATABASE: flag.default(false),
  ARCHIVE_S3_ENDPOINT: url(['http:', 'https:'], 'https://s3.eu-central-1.amazonaws.com').optional(),
  ARCHIVE_S3_BUCKET: z.string().optional(),
  ARCHIVE_S3_REGION: z.string().default('us-east-1'),
  ARCHIVE_S3_ACCESS_KEY_ID: z.string().optional(),
  ARCHIVE_S3_SECRET_ACCESS_KEY: z.string().optional(),
  INNGEST_BASE_URL: url(['http:', 'https:'], 'https://inngest.example.com').optional(),
  INNGEST_DEV: z.string().optional(),
  INNGEST_EVENT_KEY: z.string().optional(),
  INNGEST_SIGNING_KEY: z.string().optional(),
  METRICS_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{16,}$/, 'must be 16 visible ASCII characters or more')
    .optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: url(['http:', 'https:'], 'http://collector:4318').optional(),
  LOG_LEVEL: z
    .enum(['silent', 'error', 'warn', 'info', 'debug'], 'must be silent, error, warn, info or debug')
    .default('info'),
})

/** Every variable that the service reads. */
export const SETTING_VARIABLES = Object.keys(schema.shape)

/** Of long names with one or two wrong letters, since other programs have variables of their own. */
const isSlip = (name: string, edits: number) => edits <= (name.length < 10 ? 1 : 2)

/** A sentence for each variable that is no setting but is nearly called like one. */
export const misspelled = (source: Record<string, string | undefined>): string[] =>
  Object.keys(source)
    .filter((name) => name.length > 5 && name.includes('_') && !SETTING_VARIABLES.includes(name))
    .flatMap((name) => {
      const meant = nearestOf(name, SETTING_VARIABLES, (candidate, edits) => !source[candidate] && isSlip(name, edits))
      return meant ? [`${name} is no setting. Did you mean ${meant}?`] : []
    })

/** A name before an address. Unquoted, a colon or a comma in it would begin a group or another address. */
const quoted = (name: string) => `"${name.replaceAll('\\', '\\\\')}"`

export const PRODUCTION_NEEDS = [
  ...(['DATABASE_URL', 'SMTP_URL', 'AUTH_SECRET', 'CODE_SECRET', 'APP_URL'] as const),
  ...(['MAIL_FROM', 'SUPPORT_EMAIL'] as const),
] as const

/** A sentence for each thing that production needs or refuses. */
function productionProblems(values: Record<string, string | undefined>): string[] {
  const problems = PRODUCTION_NEEDS.filter((name) => !values[name]).map(
    (name) => `${name} must be set when APP_ENV is production.`,
  )
  if (!values.LEDGER_DIR && !values.ARCHIVE_S3_ENDPOINT)
    problems.push(
      'LEDGER_DIR or ARCHIVE_S3_ENDPOINT must be set when APP_ENV is production: the erasure ledger must outlive an instance.',
    )
  if (values.APP_URL?.startsWith('http:')) problems.push('APP_URL must be https when APP_ENV is production.')
  if (values.MAIL_FROM?.includes(LOCAL_SENDER))
    problems.push(`MAIL_FROM must be an address of yours when APP_ENV is production, not ${LOCAL_SENDER}.`)
  if (values.SUPPORT_EMAIL === LOCAL_SUPPORT)
    problems.push(`SUPPORT_EMAIL must be an address of yours when APP_ENV is production, not ${LOCAL_SUPPORT}.`)
  if (isEngineDev(values))
    problems.push('INNGEST_DEV must not be set when APP_ENV is production: it would accept unsigned calls.')
  return problems
}

const isEngineDev = ({ INNGEST_DEV }: { INNGEST_DEV?: string | undefined }) =>
  Boolean(INNGEST_DEV) && !['0', 'false'].includes(INNGEST_DEV ?? '')

/** A sentence for each setting that is allowed in production and is hardly meant. */
export function doubtful({ production, withdrawalTimeScale, authSecrets, codeSecrets }: Env): string[] {
  if (!production) return []
  return [
    ...(withdrawalTimeScale === 1
      ? []
      : [`WITHDRAWAL_TIME_SCALE is ${withdrawalTimeScale}: deletions do not keep the times that people are told.`]),
    ...(authSecrets.some((secret) => codeSecrets.includes(secret))
      ? ['AUTH_SECRET and CODE_SECRET share a secret: whoever learns one has both.']
      : []),
  ]
}

/** Where nobody else can listen. */
const isLoopback = (host: string) => /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(host)

let parsed: Env | undefined

/** The settings, parsed once. Throws a SettingsError that names every wrong one. */
export function getEnv(): Env {
  if (!parsed) {
    parsed = parseEnv(process.env)
    // next-auth reads this variable itself.
    process.env.NEXTAUTH_URL = parsed.appUrl
  }
  return parsed
}

/** Sets the URL of the embedded database, which starts after the settings were read. */
export function setDatabaseUrl(databaseUrl: string): void {
  parsed = { ...getEnv(), databaseUrl }
  process.env.DATABASE_URL = databaseUrl
}

export function parseEnv(source: Record<string, string | undefined>): Env {
  // An empty variable counts as not set.
  const values = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== ''))
  const result = schema.safeParse(values)
  const production = values.APP_ENV === 'production'
  const problems = [
    ...(result.error?.issues.map((issue) => `${issue.path.join('.')} ${issue.message}.`) ?? []),
    ...(production ? productionProblems(values) : []),
  ]
  if (!result.success || problems.length > 0) throw new SettingsError(problems.join('\n'))
  const settings = result.data
  const numbers = result.data as unknown as Record<string, number>
  const engineDev = isEngineDev(settings)
  const engineKeys = [settings.INNGEST_EVENT_KEY, settings.INNGEST_SIGNING_KEY].filter(Boolean).length
  if (engineKeys === 1 && !engineDev) {
    throw new SettingsError('INNGEST_EVENT_KEY and INNGEST_SIGNING_KEY must be set together.')
  }
  const identityProvider = toProviderSettings(settings)
  if (settings.AUTH_REQUIRED_ACR && !identityProvider) {
    throw new SettingsError(
      'AUTH_REQUIRED_ACR needs an identity provider where people confirm who they are: set AUTH_OIDC_ISSUER, AUTH_OIDC_CLIENT_ID and AUTH_OIDC_CLIENT_SECRET, and name oidc in SIGN_IN_METHODS.',
    )
  }
  return {
    production,
    port: settings.PORT,
    appUrl: new URL(settings.APP_URL ?? `http://localhost:${settings.PORT}`).origin,
    dataDir: path.resolve(settings.DATA_DIR),
    databaseUrl: settings.DATABASE_URL,
    databaseConnections: settings.DATABASE_CONNECTIONS,
    archiveS3: toS3Settings(settings),
    archiveDir: toArchiveDir(settings),
    ledgerDir: toLedgerDir(settings),
    acceptOldDatabase: settings.ACCEPT_OLD_DATABASE,
    smtpUrl: settings.SMTP_URL,
    smtpNeedsTls:
      production &&
      settings.SMTP_TLS === 'required' &&
      settings.SMTP_URL !== undefined &&
      !isLoopback(new URL(settings.SMTP_URL).hostname),
    mailFrom: settings.MAIL_FROM ?? `${quoted(settings.PRODUCT_NAME)} <${LOCAL_SENDER}>`,
    brand: {
      name: settings.PRODUCT_NAME,
      url: settings.PRODUCT_URL,
      supportUrl: settings.SUPPORT_URL,
      privacyUrl: settings.PRIVACY_URL,
      termsUrl: settings.TERMS_URL,
      logo: settings.LOGO_FILE === undefined ? undefined : readLogo(settings.LOGO_FILE),
      accentColor: settings.ACCENT_COLOR,
    },
    defaultLanguage: settings.DEFAULT_LOCALE,
    ownTexts: settings.MESSAGES_DIR === undefined ? {} : readOwnTexts(settings.MESSAGES_DIR),
    supportEmail: settings.SUPPORT_EMAIL,
    authSecrets: settings.AUTH_SECRET ?? [keptSecret(settings.DATA_DIR, 'auth-secret')],
    codeSecrets: settings.CODE_SECRET ?? [keptSecret(settings.DATA_DIR, 'code-secret')],
    outsideIssuer: toIssuerSettings(settings),
    hasPasswordSignIn: signInMethodsOf(settings).includes('password'),
    identityProvider,
    freshSignIn: {
      maxOutsideAgeMs: settings.AUTH_MAX_AGE ?? null,
      requiredAcr: settings.AUTH_REQUIRED_ACR ?? null,
    },
    demoProviderPort: settings.DEMO_OIDC ? demoPortOf(settings) : undefined,
    trustedProxyHops: settings.TRUSTED_PROXY_HOPS,
    drainMs: settings.DRAIN_TIME ?? (production ? PRODUCTION_DRAIN_MS : 0),
    privateEndpoints: !production || settings.ALLOW_PRIVATE_ENDPOINTS === true,
    hstsIncludeSubDomains: settings.HSTS_INCLUDE_SUBDOMAINS,
    withdrawalTimeScale: settings.WITHDRAWAL_TIME_SCALE,
    statutoryPeriod: settings.STATUTORY_PERIOD,
    engine: engineDev || engineKeys === 2,
    engineUrl: settings.INNGEST_BASE_URL,
    metricsToken: settings.METRICS_TOKEN,
    otlpEndpoint: settings.OTEL_EXPORTER_OTLP_ENDPOINT,
    logLevel: settings.LOG_LEVEL,
    limits: limitsFrom(
      ({ settings: [places] }) => numbers[places] as number,
      ({ settings: [, window] }) => numbers[window] as number,
      ({ setting }) => numbers[setting] as number,
    ),
  }
}

function toS3Settings(settings: z.output<typeof schema>): S3Settings | undefined {
  const { ARCHIVE_S3_ENDPOINT, ARCHIVE_S3_BUCKET, ARCHIVE_S3_ACCESS_KEY_ID, ARCHIVE_S3_SECRET_ACCESS_KEY } = settings
  if (!ARCHIVE_S3_ENDPOINT && !ARCHIVE_S3_BUCKET && !ARCHIVE_S3_ACCESS_KEY_ID && !ARCHIVE_S3_SECRET_ACCESS_KEY) {
    return undefined
  }
  if (!ARCHIVE_S3_ENDPOINT || !ARCHIVE_S3_BUCKET || !ARCHIVE_S3_ACCESS_KEY_ID || !ARCHIVE_S3_SECRET_ACCESS_KEY) {
    throw new SettingsError(
      'ARCHIVE_S3_ENDPOINT, ARCHIVE_S3_BUCKET, ARCHIVE_S3_ACCESS_KEY_ID and ARCHIVE_S3_SECRET_ACCESS_KEY must be set together.',
    )
  }
  return {
    endpoint: ARCHIVE_S3_ENDPOINT,
    bucket: ARCHIVE_S3_BUCKET,
    region: settings.ARCHIVE_S3_REGION,
    accessKeyId: ARCHIVE_S3_ACCESS_KEY_ID,
    secretAccessKey: ARCHIVE_S3_SECRET_ACCESS_KEY,
  }
}

/** In production the directory must be shared, because another instance would look for the archives in its own. */
function toArchiveDir(settings: z.output<typeof schema>): string | undefined {
  const { APP_ENV, DATA_DIR, ARCHIVE_DIR, ARCHIVE_DIR_SHARED, ARCHIVE_S3_ENDPOINT } = settings
  if (ARCHIVE_DIR && ARCHIVE_S3_ENDPOINT) {
    throw new SettingsError('ARCHIVE_DIR and ARCHIVE_S3_ENDPOINT must not be set together: archives have one store.')
  }
  if (ARCHIVE_DIR_SHARED && !ARCHIVE_DIR) {
    throw new SettingsError('ARCHIVE_DIR_SHARED must not be set without ARCHIVE_DIR.')
  }
  if (APP_ENV === 'production' && ARCHIVE_DIR && !ARCHIVE_DIR_SHARED) {
    throw new SettingsError(
      'ARCHIVE_DIR must be on storage that all instances share when APP_ENV is production: set ARCHIVE_DIR_SHARED=1 if it is, or set ARCHIVE_S3_ENDPOINT.',
    )
  }
  if (ARCHIVE_DIR) return path.resolve(ARCHIVE_DIR)
  return APP_ENV === 'production' || ARCHIVE_S3_ENDPOINT ? undefined : path.resolve(DATA_DIR, 'archives')
}

/** In production the ledger must outlive the instance that writes it, because a restore would otherwise bring people back. */
function toLedgerDir(settings: z.output<typeof schema>): string | undefined {
  const { APP_ENV, DATA_DIR, LEDGER_DIR, LEDGER_DIR_SHARED, ARCHIVE_S3_ENDPOINT } = settings
  if (LEDGER_DIR_SHARED && !LEDGER_DIR) {
    throw new SettingsError('LEDGER_DIR_SHARED must not be set without LEDGER_DIR.')
  }
  if (APP_ENV === 'production' && LEDGER_DIR && !LEDGER_DIR_SHARED) {
    throw new SettingsError(
      'LEDGER_DIR must be on storage that all instances share and that outlives them when APP_ENV is production: set LEDGER_DIR_SHARED=1 if it is, or set ARCHIVE_S3_ENDPOINT.',
    )
  }
  if (LEDGER_DIR) return path.resolve(LEDGER_DIR)
  return ARCHIVE_S3_ENDPOINT ? undefined : path.resolve(DATA_DIR, 'ledger')
}

function toIssuerSettings(settings: z.output<typeof schema>): IssuerSettings | undefined {
  const { APP_ENV, AUTH_JWKS_URL, AUTH_ISSUER, AUTH_AUDIENCE, AUTH_SUBJECT } = settings
  if (!AUTH_JWKS_URL && !AUTH_ISSUER && !AUTH_AUDIENCE) return undefined
  if (!AUTH_JWKS_URL || !AUTH_ISSUER || !AUTH_AUDIENCE) {
    throw new SettingsError('AUTH_JWKS_URL, AUTH_ISSUER and AUTH_AUDIENCE must be set together.')
  }
  if (APP_ENV === 'production' && !AUTH_JWKS_URL.startsWith('https:')) {
    throw new SettingsError('AUTH_JWKS_URL must be https when APP_ENV is production.')
  }
  return { jwksUrl: AUTH_JWKS_URL, issuer: AUTH_ISSUER, audience: AUTH_AUDIENCE, subjectIs: AUTH_SUBJECT }
}

type Settings = z.output<typeof schema>

const signInMethodsOf = ({ SIGN_IN_METHODS, DEMO_OIDC }: Settings): string[] =>
  SIGN_IN_METHODS ?? (DEMO_OIDC ? ['password', 'oidc'] : ['password'])

const demoPortOf = ({ DEMO_OIDC_PORT, PORT }: Settings): number => DEMO_OIDC_PORT ?? PORT + 1

function toProviderSettings(settings: Settings): ProviderSettings | undefined {
  const { APP_ENV, AUTH_OIDC_ISSUER, AUTH_OIDC_CLIENT_ID, AUTH_OIDC_CLIENT_SECRET } = settings
  const given = [AUTH_OIDC_ISSUER, AUTH_OIDC_CLIENT_ID, AUTH_OIDC_CLIENT_SECRET].filter(Boolean).length
  const isWanted = signInMethodsOf(settings).includes('oidc')
  if (settings.DEMO_OIDC) return toDemoProvider(settings, { given, isWanted })
  if (given > 0 && !settings.SIGN_IN_METHODS) {
    throw new SettingsError('SIGN_IN_METHODS must be oidc or password,oidc when AUTH_OIDC_ISSUER is set.')
  }
  if (!AUTH_OIDC_ISSUER || !AUTH_OIDC_CLIENT_ID || !AUTH_OIDC_CLIENT_SECRET) {
    if (given === 0 && !isWanted) return undefined
    const all = 'AUTH_OIDC_ISSUER, AUTH_OIDC_CLIENT_ID and AUTH_OIDC_CLIENT_SECRET must be set together'
    throw new SettingsError(isWanted ? `${all} when SIGN_IN_METHODS names oidc.` : `${all}.`)
  }
  if (APP_ENV === 'production' && !AUTH_OIDC_ISSUER.startsWith('https:')) {
    throw new SettingsError('AUTH_OIDC_ISSUER must be https when APP_ENV is production.')
  }
  if (!isWanted) return undefined
  return {
    issuer: AUTH_OIDC_ISSUER,
    clientId: AUTH_OIDC_CLIENT_ID,
    clientSecret: AUTH_OIDC_CLIENT_SECRET,
    scopes: settings.AUTH_OIDC_SCOPES,
    name: settings.AUTH_OIDC_NAME ?? new URL(AUTH_OIDC_ISSUER).hostname,
  }
}

/** The settings of the identity provider that runs beside the service on this machine. */
function toDemoProvider(
  settings: Settings,
  { given, isWanted }: { given: number; isWanted: boolean },
): ProviderSettings {
  if (settings.APP_ENV === 'production') {
    throw new SettingsError('DEMO_OIDC must not be set when APP_ENV is production: it lets anyone sign in.')
  }
  if (given > 0) throw new SettingsError('DEMO_OIDC and AUTH_OIDC_ISSUER must not be set together.')
  if (!isWanted) throw new SettingsError('SIGN_IN_METHODS must name oidc when DEMO_OIDC is set.')
  return {
    issuer: `http://localhost:${demoPortOf(settings)}`,
    clientId: 'user-account-service',
    clientSecret: keptSecret(settings.DATA_DIR, 'demo-oidc-secret'),
    scopes: settings.AUTH_OIDC_SCOPES,
    name: settings.AUTH_OIDC_NAME ?? 'Demo ID',
  }
}

/** Created once. A finished file is linked, so that of several starters one wins, and no other can read a partial secret. */
function keptSecret(dataDir: string, name: string): string {
  const file = path.resolve(dataDir, name)
  if (!existsSync(file)) {
    mkdirSync(path.dirname(file), { recursive: true })
    const draft = `${file}.${process.pid}`
    writeFileSync(draft, randomBytes(32).toString('base64url'), { mode: 0o600 })
    try {
      linkSync(draft, file)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    } finally {
      rmSync(draft)
    }
  }
  return readFileSync(file, 'utf8').trim()
}
