import * as z from 'zod'
import { type Parsed, url } from './setting-fields'

export const WATCH_FIELDS = {
  METRICS_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{16,}$/, 'must be 16 visible ASCII characters or more')
    .optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: url(['http:', 'https:'], 'http://collector:4318').optional(),
  LOG_LEVEL: z
    .enum(['silent', 'error', 'warn', 'info', 'debug'], 'must be silent, error, warn, info or debug')
    .default('info'),
}

export const watchSettings = (settings: Parsed<typeof WATCH_FIELDS>) => ({
  /** Undefined: there is no metrics page. */
  metricsToken: settings.METRICS_TOKEN,
  /** Undefined: no traces. */
  otlpEndpoint: settings.OTEL_EXPORTER_OTLP_ENDPOINT,
  logLevel: settings.LOG_LEVEL,
})
