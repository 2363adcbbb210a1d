import * as z from 'zod'
import { type Parsed, url, type Variables } from './setting-fields'
import { SettingsError } from './settings-error'

export const ENGINE_FIELDS = {
  INNGEST_BASE_URL: url(['http:', 'https:'], 'https://inngest.example.com').optional(),
  INNGEST_DEV: z.string().optional(),
  INNGEST_EVENT_KEY: z.string().optional(),
  INNGEST_SIGNING_KEY: z.string().optional(),
}

export function engineSettings(settings: Parsed<typeof ENGINE_FIELDS>) {
  const isDev = isEngineDev(settings)
  const keys = [settings.INNGEST_EVENT_KEY, settings.INNGEST_SIGNING_KEY].filter(Boolean).length
  if (keys === 1 && !isDev) {
    throw new SettingsError('INNGEST_EVENT_KEY and INNGEST_SIGNING_KEY must be set together.')
  }
  return {
    /** Whether an Inngest engine is configured. The in-process sweep runs with it and without it. */
    hasEngine: isDev || keys === 2,
    /** The engine's URL; undefined for Inngest's cloud, for a development server on this host, or without an engine. */
    engineUrl: settings.INNGEST_BASE_URL,
  }
}

export const engineProblems = (given: Variables): string[] =>
  isEngineDev(given) ? ['INNGEST_DEV must not be set when APP_ENV is production: it would accept unsigned calls.'] : []

const isEngineDev = ({ INNGEST_DEV }: { INNGEST_DEV?: string | undefined }) =>
  Boolean(INNGEST_DEV) && !['0', 'false'].includes(INNGEST_DEV ?? '')
