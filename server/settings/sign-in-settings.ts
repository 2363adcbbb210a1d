import * as z from 'zod'
import { MIN_NEW_PASSWORD_LENGTH } from '@/contract/vocabulary'
import type { InstanceFields } from './instance-settings'
import { keptSecret } from './secret-settings'
import { durationText, flag, list, type Parsed, port, url } from './setting-fields'
import { SettingsError } from './settings-error'

export interface ProviderSettings {
  issuer: string
  clientId: string
  clientSecret: string
  /** Separated by spaces; `openid` is one of them. */
  scopes: string
  /** The name that people know. */
  name: string
}

/** More would keep people out rather than in. */
const MAX_PASSWORD_MIN = 64

export const SIGN_IN_FIELDS = {
  AUTH_JWKS_URL: url(['https:', 'http:'], 'https://login.example.com/.well-known/jwks.json').optional(),
  AUTH_ISSUER: z.string().optional(),
  AUTH_AUDIENCE: z.string().optional(),
  AUTH_SUBJECT: z.enum(['user_id', 'external_id'], 'must be user_id or external_id').default('user_id'),
  AUTH_MAX_AGE: durationText.optional(),
  AUTH_REQUIRED_ACR: z
    .string()
    .regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/, 'must be one value of visible ASCII characters without quotes')
    .optional(),
  SIGN_IN_METHODS: list
    .refine(
      (methods) => methods.every((method) => ['password', 'oidc'].includes(method)),
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
  PASSWORD_MIN: z
    .string()
    .regex(/^\d{1,3}$/, 'must be a whole number')
    .transform(Number)
    .refine(
      (min) => min >= MIN_NEW_PASSWORD_LENGTH && min <= MAX_PASSWORD_MIN,
      `must be from ${MIN_NEW_PASSWORD_LENGTH} to ${MAX_PASSWORD_MIN}`,
    )
    .default(MIN_NEW_PASSWORD_LENGTH),
  PASSWORD_BREACHES: url(['https:', 'http:'], 'https://api.pwnedpasswords.com')
    .refine((text) => !/[?#@]/.test(text), 'must have no query, no fragment and no user')
    .transform((text) => text.replace(/\/+$/, ''))
    .optional(),
  NEW_DEVICE_MAIL: flag.default(true),
  DELETION_BY_MAIL: flag.default(true),
  DEMO_OIDC: flag.default(false),
  DEMO_OIDC_PORT: port.optional(),
}

type Fields = Parsed<typeof SIGN_IN_FIELDS> & InstanceFields

export function signInSettings(settings: Fields) {
  const identityProvider = toProviderSettings(settings)
  if (settings.AUTH_REQUIRED_ACR && !identityProvider) {
    throw new SettingsError(
      'AUTH_REQUIRED_ACR needs an identity provider where people confirm who they are: set AUTH_OIDC_ISSUER, AUTH_OIDC_CLIENT_ID and AUTH_OIDC_CLIENT_SECRET, and name oidc in SIGN_IN_METHODS.',
    )
  }
  if (settings.APP_ENV === 'production' && settings.PASSWORD_BREACHES?.startsWith('http:')) {
    throw new SettingsError('PASSWORD_BREACHES must be https when APP_ENV is production.')
  }
  return {
    /** How many characters a new password has at least. */
    passwordMin: settings.PASSWORD_MIN,
    /** The base URL of the service that knows passwords from breaches. */
    passwordBreaches: settings.PASSWORD_BREACHES,
    /** The issuer whose JWTs are accepted beside our own tokens. */
    outsideIssuer: toIssuerSettings(settings),
    /** Whether a mail tells of a sign-in from a new device. */
    newDeviceMail: settings.NEW_DEVICE_MAIL,
    /** Whether a mailed link may delete an account. */
    deletionByMail: settings.DELETION_BY_MAIL,
    /** Whether people sign in with a password of ours. */
    hasPasswordSignIn: signInMethodsOf(settings).includes('password'),
    /** Where people sign in instead of, or beside, a password. */
    identityProvider,
    freshSignIn: {
      maxOutsideAgeMs: settings.AUTH_MAX_AGE ?? null,
      requiredAcr: settings.AUTH_REQUIRED_ACR ?? null,
    },
    /** The port of the demo provider, which `npm start` with DEMO_OIDC=1 starts. */
    demoProviderPort: settings.DEMO_OIDC ? demoPortOf(settings) : undefined,
  }
}

export type IssuerSettings = NonNullable<ReturnType<typeof toIssuerSettings>>

function toIssuerSettings(settings: Fields) {
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

const signInMethodsOf = ({ SIGN_IN_METHODS, DEMO_OIDC }: Fields): string[] =>
  SIGN_IN_METHODS ?? (DEMO_OIDC ? ['password', 'oidc'] : ['password'])

const demoPortOf = ({ DEMO_OIDC_PORT, PORT }: Fields): number => DEMO_OIDC_PORT ?? PORT + 1

function toProviderSettings(settings: Fields): ProviderSettings | undefined {
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
function toDemoProvider(settings: Fields, { given, isWanted }: { given: number; isWanted: boolean }): ProviderSettings {
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
