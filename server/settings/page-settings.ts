import { list, type Parsed, url, type Variables } from './setting-fields'
import { SettingsError } from './settings-error'

/** The spelling that browsers send. A port or a letter case that they would leave out is another text. */
const isOrigin = (text: string, protocols: string[]) =>
  URL.canParse(text) &&
  new URL(text).origin === text &&
  protocols.includes(new URL(text).protocol) &&
  !text.includes('*')

/** These lead to no app, because the browser itself runs, shows or opens what follows them. */
const BROWSER_SCHEMES = [
  ...['http:', 'https:', 'ws:', 'wss:', 'ftp:', 'file:', 'filesystem:', 'view-source:'],
  ...['about:', 'blob:', 'data:', 'javascript:', 'vbscript:', 'intent:'],
]
const isAppScheme = (text: string) => /^[a-z][a-z\d+.-]*:$/.test(text) && !BROWSER_SCHEMES.includes(text)

export const PAGE_FIELDS = {
  ALLOWED_ORIGINS: list
    .refine(
      (origins) => origins.every((origin) => isOrigin(origin, ['https:', 'http:'])),
      'must be origins such as https://app.example.com, separated by commas, without a path and without a slash at the end',
    )
    .default([]),
  RETURN_TO: list
    .refine(
      (targets) => targets.every((target) => isOrigin(target, ['https:']) || isAppScheme(target)),
      'must be https origins such as https://app.example.com and schemes of apps such as myapp:, separated by commas',
    )
    .default([]),
  SETTINGS_URL: url(['https:', 'http:'], 'https://app.example.com/settings')
    .refine((text) => !/#/.test(text), 'must have no fragment')
    .optional(),
}

export const pageSettings = (settings: Parsed<typeof PAGE_FIELDS>) => ({
  /** The adopter's own page of the settings, to which mails lead in place of ours. */
  settingsUrl: settingsUrlOf(settings),
  /** The origins of the adopter's own pages, which may call the API. */
  allowedOrigins: settings.ALLOWED_ORIGINS,
  /** Where the settings pages may lead back to: https origins, and schemes of apps with their colon. */
  returnTo: settings.RETURN_TO,
})

function settingsUrlOf({ SETTINGS_URL, RETURN_TO, ALLOWED_ORIGINS }: Parsed<typeof PAGE_FIELDS>): string | null {
  if (!SETTINGS_URL) return null
  const { origin, href } = new URL(SETTINGS_URL)
  if ([...RETURN_TO, ...ALLOWED_ORIGINS].includes(origin)) return href
  throw new SettingsError(
    `SETTINGS_URL must be a page of an origin that RETURN_TO or ALLOWED_ORIGINS lists: add ${origin}.`,
  )
}

export const pageProblems = ({ ALLOWED_ORIGINS = '' }: Variables): string[] =>
  /(?:^|[\s,])http:/.test(ALLOWED_ORIGINS) ? ['ALLOWED_ORIGINS must be https when APP_ENV is production.'] : []
