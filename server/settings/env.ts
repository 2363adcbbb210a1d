import 'server-only'
import path from 'node:path'
import * as z from 'zod'
import { BRAND_FIELDS, brandSettings } from './brand-settings'
import { ENGINE_FIELDS, engineProblems, engineSettings } from './engine-settings'
import { INSTANCE_FIELDS, instanceProblems, instanceSettings } from './instance-settings'
import { LIMIT_FIELDS, limitSettings } from './limit-settings'
import { MAIL_FIELDS, mailProblems, mailSettings } from './mail-settings'
import { nearestName } from './nearest-name'
import { PAGE_FIELDS, pageProblems, pageSettings } from './page-settings'
import { SECRET_FIELDS, secretSettings } from './secret-settings'
import type { Variables } from './setting-fields'
import { SettingsError } from './settings-error'
import { SIGN_IN_FIELDS, signInSettings } from './sign-in-settings'
import { STORE_FIELDS, storeProblems, storeSettings } from './store-settings'
import { WATCH_FIELDS, watchSettings } from './watch-settings'

const schema = z.object({
  ...LIMIT_FIELDS,
  ...INSTANCE_FIELDS,
  ...STORE_FIELDS,
  ...MAIL_FIELDS,
  ...BRAND_FIELDS,
  ...SECRET_FIELDS,
  ...SIGN_IN_FIELDS,
  ...PAGE_FIELDS,
  ...ENGINE_FIELDS,
  ...WATCH_FIELDS,
})

export type Env = ReturnType<typeof parseEnv>

export const SETTING_VARIABLES = Object.keys(schema.shape)

/** A sentence for each variable that is no setting but has the letters of one, but for one or two. Other variables are other programs'. */
export const misspelled = (source: Variables): string[] =>
  Object.keys(source)
    .filter((name) => name.length > 5 && name.includes('_') && !SETTING_VARIABLES.includes(name))
    .flatMap((name) => {
      const meant = nearestName(
        name,
        SETTING_VARIABLES.filter((setting) => !source[setting]),
      )
      return meant ? [`${name} is no setting. Did you mean ${meant}?`] : []
    })

export const PRODUCTION_NEEDS = [
  'DATABASE_URL',
  'SMTP_URL',
  'AUTH_SECRET',
  'CODE_SECRET',
  'APP_URL',
  'MAIL_FROM',
  'SUPPORT_EMAIL',
] as const

/** A sentence for each thing that production needs or refuses. */
const productionProblems = (given: Variables): string[] => [
  ...PRODUCTION_NEEDS.filter((name) => !given[name]).map((name) => `${name} must be set when APP_ENV is production.`),
  ...[storeProblems, instanceProblems, pageProblems, mailProblems, engineProblems].flatMap((problemsOf) =>
    problemsOf(given),
  ),
]

const DEFAULT_NAME = BRAND_FIELDS.PRODUCT_NAME.parse(undefined)

/** What production allows and hardly means, with what follows from it. */
const DOUBTS: [isDoubtful: (env: Env) => boolean, hint: string][] = [
  [
    (env) => env.withdrawalTimeScale !== 1,
    'WITHDRAWAL_TIME_SCALE is not 1: deletions do not keep the times that people are told.',
  ],
  [
    (env) => env.authSecrets.some((secret) => env.codeSecrets.includes(secret)),
    'AUTH_SECRET and CODE_SECRET share a secret: whoever learns one has both.',
  ],
  [
    (env) => env.trustedProxyHops === 0,
    'TRUSTED_PROXY_HOPS is 0: every client behind a proxy counts as one address in limits and sessions. Set it to the number of your proxies.',
  ],
  [
    (env) => /[?&]sslmode=no-verify/.test(env.databaseUrl ?? ''),
    'DATABASE_URL has sslmode=no-verify: whoever stands between can read and change everything. Use verify-full with sslrootcert.',
  ],
  [(env) => env.brand.name === DEFAULT_NAME, `PRODUCT_NAME is not set: people read "${DEFAULT_NAME}".`],
  [(env) => env.brand.privacyUrl === undefined, 'PRIVACY_URL is not set: no page links to a privacy notice.'],
  [
    (env) => env.allowedOrigins.length > 0 && env.settingsUrl === null && !env.identityProvider,
    'ALLOWED_ORIGINS is set and SETTINGS_URL is not: links in mails lead to a sign-in here, which nobody without a password can pass.',
  ],
  [(env) => env.metricsToken === undefined, 'METRICS_TOKEN is not set: nothing can watch the service.'],
]

/** A sentence for each setting, or default, that is allowed in production and is hardly meant. */
export const settingWarnings = (env: Env): string[] =>
  env.isProduction ? DOUBTS.filter(([isDoubtful]) => isDoubtful(env)).map(([, hint]) => hint) : []

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

/** The directory of the embedded database, by the variables alone; undefined where another one is set or needed. */
export const ownDataDir = ({ DATABASE_URL, APP_ENV, DATA_DIR }: Variables): string | undefined =>
  DATABASE_URL || APP_ENV === 'production'
    ? undefined
    : path.resolve(INSTANCE_FIELDS.DATA_DIR.parse(DATA_DIR || undefined))

/** Sets the URL of the embedded database, which starts after the settings were read. */
export function setDatabaseUrl(databaseUrl: string): void {
  parsed = { ...getEnv(), databaseUrl }
  process.env.DATABASE_URL = databaseUrl
}

export function parseEnv(source: Variables) {
  // An empty variable counts as not set.
  const given = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== ''))
  const result = schema.safeParse(given)
  const problems = [
    ...(result.error?.issues.map((issue) => `${issue.path.join('.')} ${issue.message}.`) ?? []),
    ...(given.APP_ENV === 'production' ? productionProblems(given) : []),
  ]
  if (!result.success || problems.length > 0) throw new SettingsError(problems.join('\n'))
  const settings = result.data
  const instance = instanceSettings(settings)
  const brand = brandSettings(settings)
  return {
    ...instance,
    ...engineSettings(settings),
    ...signInSettings(settings),
    ...pageSettings(settings),
    ...storeSettings(settings),
    ...mailSettings(settings, { ...instance, ...brand }),
    ...brand,
    ...secretSettings(settings),
    ...limitSettings(settings),
    ...watchSettings(settings),
  }
}
