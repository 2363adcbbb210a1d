import path from 'node:path'
import * as z from 'zod'
import { hour } from '@/domain/limits/durations'
import { count, durationUpTo, flag, type Parsed, port, url, type Variables } from './setting-fields'

export const INSTANCE_FIELDS = {
  APP_ENV: z.enum(['local', 'production'], 'must be local or production').default('local'),
  PORT: port.default(3000),
  APP_URL: url(['http:', 'https:'], 'https://accounts.example.com')
    .refine((text) => /^\w+:\/\/[^/?#]+\/?$/.test(text), 'must be an origin without a path')
    .optional(),
  DATA_DIR: z.string().default('.data'),
  TRUSTED_PROXY_HOPS: count(0),
  DRAIN_TIME: durationUpTo(hour, 'PT10S, of an hour at most').optional(),
  ALLOW_PRIVATE_ENDPOINTS: flag.optional(),
  HSTS_INCLUDE_SUBDOMAINS: flag.default(true),
}

export type InstanceFields = Parsed<typeof INSTANCE_FIELDS>

/** Load balancers ask every few seconds whether an instance is ready, and most believe the second or third refusal. */
const PRODUCTION_DRAIN_MS = 10_000

export function instanceSettings(settings: InstanceFields) {
  const isProduction = settings.APP_ENV === 'production'
  return {
    isProduction,
    port: settings.PORT,
    /** The origin at which people reach the service. Links in mails begin with it. */
    appUrl: new URL(settings.APP_URL ?? `http://localhost:${settings.PORT}`).origin,
    dataDir: path.resolve(settings.DATA_DIR),
    trustedProxyHops: settings.TRUSTED_PROXY_HOPS,
    /** How long an instance that is told to stop still takes new connections. */
    drainMs: settings.DRAIN_TIME ?? (isProduction ? PRODUCTION_DRAIN_MS : 0),
    allowsPrivateEndpoints: !isProduction || settings.ALLOW_PRIVATE_ENDPOINTS === true,
    /** Whether Strict-Transport-Security includes the subdomains of APP_URL's host. */
    hstsCoversSubdomains: settings.HSTS_INCLUDE_SUBDOMAINS,
  }
}

export const instanceProblems = ({ APP_URL }: Variables): string[] =>
  /^http:/i.test(APP_URL ?? '') ? ['APP_URL must be https when APP_ENV is production.'] : []
