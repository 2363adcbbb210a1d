import path from 'node:path'
import * as z from 'zod'
import { databaseUrl } from './database-url'
import type { InstanceFields } from './instance-settings'
import { count, flag, type Parsed, url, type Variables } from './setting-fields'
import { SettingsError } from './settings-error'

/** Printable ASCII, because the value goes into a URL or a header. */
const visible = z.string().regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters')

export const STORE_FIELDS = {
  DATABASE_URL: databaseUrl.optional(),
  DATABASE_CONNECTIONS: z
    .string()
    .regex(/^[1-9]\d{0,2}$/, 'must be a whole number from 1 to 999')
    .transform(Number)
    .default(16),
  ARCHIVE_DIR: z.string().optional(),
  ARCHIVE_DIR_SHARED: flag.optional(),
  LEDGER_DIR: z.string().optional(),
  LEDGER_DIR_SHARED: flag.optional(),
  LEDGER_BEFORE_ANSWER: flag.default(true),
  LEDGER_REPLAY_MAX: count(100),
  ACCEPT_OLD_DATABASE: z.string().optional(),
  ARCHIVE_S3_ENDPOINT: url(['http:', 'https:'], 'https://s3.eu-central-1.amazonaws.com').optional(),
  ARCHIVE_S3_BUCKET: visible.optional(),
  ARCHIVE_S3_REGION: visible.default('us-east-1'),
  ARCHIVE_S3_ACCESS_KEY_ID: visible.optional(),
  ARCHIVE_S3_SECRET_ACCESS_KEY: z.string().optional(),
  LEDGER_S3_ENDPOINT: url(['http:', 'https:'], 'https://s3.eu-central-1.amazonaws.com').optional(),
  LEDGER_S3_BUCKET: visible.optional(),
  LEDGER_S3_REGION: visible.default('us-east-1'),
  LEDGER_S3_ACCESS_KEY_ID: visible.optional(),
  LEDGER_S3_SECRET_ACCESS_KEY: z.string().optional(),
}

type Fields = Parsed<typeof STORE_FIELDS> & InstanceFields

export const storeSettings = (settings: Fields) => ({
  /** Undefined: an embedded PostgreSQL in `dataDir`. */
  databaseUrl: settings.DATABASE_URL,
  /** The maximum of connections that this instance opens. */
  databaseConnections: settings.DATABASE_CONNECTIONS,
  archiveS3: toS3Settings(settings, 'ARCHIVE'),
  /** The directory for archives. Without it and `archiveS3` no archives are written. */
  archiveDir: toArchiveDir(settings),
  ledgerDir: toLedgerDir(settings),
  /** The bucket for the erasure ledger, which may be that of the archives. */
  ledgerS3: settings.LEDGER_DIR ? undefined : (toS3Settings(settings, 'LEDGER') ?? toS3Settings(settings, 'ARCHIVE')),
  /** Names a database that is older than its ledger, and that the service opens on all the same. */
  acceptedDatabase: settings.ACCEPT_OLD_DATABASE,
  /** How many lines the database may be behind its ledger for the service to replay them by itself. */
  maxReplayedLines: settings.LEDGER_REPLAY_MAX,
  /** Whether a withdrawal is answered only once its line stands in the ledger. */
  waitsForLedger: settings.LEDGER_BEFORE_ANSWER,
})

export const storeProblems = ({ LEDGER_DIR, LEDGER_S3_ENDPOINT, ARCHIVE_S3_ENDPOINT }: Variables): string[] =>
  LEDGER_DIR || LEDGER_S3_ENDPOINT || ARCHIVE_S3_ENDPOINT
    ? []
    : [
        'LEDGER_DIR or LEDGER_S3_ENDPOINT or ARCHIVE_S3_ENDPOINT must be set when APP_ENV is production: the erasure ledger must outlive an instance.',
      ]

export type S3Settings = NonNullable<ReturnType<typeof toS3Settings>>

function toS3Settings(settings: Fields, of: 'ARCHIVE' | 'LEDGER') {
  const {
    [`${of}_S3_ENDPOINT` as const]: endpoint,
    [`${of}_S3_BUCKET` as const]: bucket,
    [`${of}_S3_REGION` as const]: region,
    [`${of}_S3_ACCESS_KEY_ID` as const]: accessKeyId,
    [`${of}_S3_SECRET_ACCESS_KEY` as const]: secretAccessKey,
  } = settings
  if (!endpoint && !bucket && !accessKeyId && !secretAccessKey) return undefined
  if (!endpoint || !bucket || !accessKeyId || !secretAccessKey) {
    throw new SettingsError(
      `${of}_S3_ENDPOINT, ${of}_S3_BUCKET, ${of}_S3_ACCESS_KEY_ID and ${of}_S3_SECRET_ACCESS_KEY must be set together.`,
    )
  }
  return { endpoint, bucket, region, accessKeyId, secretAccessKey }
}

/** In production the directory must be shared, because another instance would look for the archives in its own. */
function toArchiveDir(settings: Fields): string | undefined {
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
function toLedgerDir(settings: Fields): string | undefined {
  const { APP_ENV, DATA_DIR, LEDGER_DIR, LEDGER_DIR_SHARED, LEDGER_S3_ENDPOINT, ARCHIVE_S3_ENDPOINT } = settings
  if (LEDGER_DIR && LEDGER_S3_ENDPOINT) {
    throw new SettingsError('LEDGER_DIR and LEDGER_S3_ENDPOINT must not be set together: the ledger has one store.')
  }
  if (LEDGER_DIR_SHARED && !LEDGER_DIR) {
    throw new SettingsError('LEDGER_DIR_SHARED must not be set without LEDGER_DIR.')
  }
  if (APP_ENV === 'production' && LEDGER_DIR && !LEDGER_DIR_SHARED) {
    throw new SettingsError(
      'LEDGER_DIR must be on storage that all instances share and that outlives them when APP_ENV is production: set LEDGER_DIR_SHARED=1 if it is, or set LEDGER_S3_ENDPOINT or ARCHIVE_S3_ENDPOINT.',
    )
  }
  if (LEDGER_DIR) return path.resolve(LEDGER_DIR)
  return LEDGER_S3_ENDPOINT || ARCHIVE_S3_ENDPOINT ? undefined : path.resolve(DATA_DIR, 'ledger')
}
