import * as z from 'zod'
import { type Parsed, url } from './setting-fields'

/** `name=value,…` with percent-encoded values, as the standard variables have it; null for anything else. */
function parsePairs(text: string): Record<string, string> | null {
  const pairs: Record<string, string> = {}
  for (const pair of text.split(',').filter((each) => each.trim() !== '')) {
    const [, name, value = ''] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? []
    if (!name) return null
    try {
      pairs[name] = decodeURIComponent(value)
    } catch {
      return null
    }
  }
  return pairs
}

const isHeader = ([name, value]: [string, string]): boolean => {
  try {
    return new Headers([[name, value]]).has(name)
  } catch {
    return false
  }
}

const pairs = z.string().transform((text, ctx) => {
  const parsed = parsePairs(text)
  if (parsed) return parsed
  ctx.addIssue('must be pairs such as name=value, separated by commas, with % in a value as %25')
  return z.NEVER
})

export const WATCH_FIELDS = {
  METRICS_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{16,}$/, 'must be 16 visible ASCII characters or more')
    .optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: url(['http:', 'https:'], 'http://collector:4318').optional(),
  OTEL_EXPORTER_OTLP_HEADERS: pairs
    .refine((headers) => Object.entries(headers).every(isHeader), 'must be names and values that a header may have')
    .optional(),
  OTEL_RESOURCE_ATTRIBUTES: pairs.optional(),
  LOG_LEVEL: z
    .enum(['silent', 'error', 'warn', 'info', 'debug'], 'must be silent, error, warn, info or debug')
    .optional(),
}

export const watchSettings = (settings: Parsed<typeof WATCH_FIELDS>) => ({
  /** Undefined: there is no metrics page. */
  metricsToken: settings.METRICS_TOKEN,
  /** Undefined: no traces. */
  otlpEndpoint: settings.OTEL_EXPORTER_OTLP_ENDPOINT,
  otlpHeaders: settings.OTEL_EXPORTER_OTLP_HEADERS ?? {},
  otlpAttributes: settings.OTEL_RESOURCE_ATTRIBUTES ?? {},
  logLevel: settings.LOG_LEVEL ?? 'info',
  /** Of the operator command, which answers in words of its own. */
  commandLogLevel: settings.LOG_LEVEL ?? 'warn',
})
