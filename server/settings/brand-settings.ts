import { readFileSync } from 'node:fs'
import * as z from 'zod'
import type { Authority } from '@/contract/errors'
import { DEFAULT_LANGUAGE, isLanguage, LANGUAGES } from '@/contract/languages'
import { readOwnTexts } from '../texts/own-texts'
import { accentProblem } from './accent'
import { type Parsed, url } from './setting-fields'
import { SettingsError } from './settings-error'

const name = z
  .string()
  .refine(
    (text) => /\S/.test(text) && !/[\p{Cc}<>"]/u.test(text) && text.length <= 60,
    'must be a name of 60 characters at most, without quotes and angle brackets',
  )

export const BRAND_FIELDS = {
  PRODUCT_NAME: name.default('User Account Service'),
  PUBLISHER_NAME: name.optional(),
  PRODUCT_URL: url(['https:', 'http:'], 'https://example.com').optional(),
  SUPPORT_URL: url(['https:', 'http:'], 'https://example.com/support').optional(),
  PRIVACY_URL: url(['https:', 'http:'], 'https://example.com/privacy').optional(),
  TERMS_URL: url(['https:', 'http:'], 'https://example.com/terms').optional(),
  AUTHORITY_NAME: z
    .string()
    .refine(
      (text) => /\S/.test(text) && !/[\p{Cc}<>]/u.test(text) && text.length <= 200,
      'must be a name of 200 characters at most, without angle brackets',
    )
    .optional(),
  AUTHORITY_URL: z
    .string()
    .refine((text) => URL.canParse(text) && new URL(text).protocol === 'https:', {
      error: 'must be an https URL such as https://authority.example.com/complain',
      abort: true,
    })
    .optional(),
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
}

export interface Logo {
  type: string
  bytes: Buffer
}

const MAX_LOGO_BYTES = 200 * 1024

const KINDS: { type: string; isKind: (bytes: Buffer) => boolean }[] = [
  { type: 'image/png', isKind: (bytes) => bytes.subarray(0, 8).toString('latin1') === '\x89PNG\r\n\x1a\n' },
  { type: 'image/jpeg', isKind: (bytes) => bytes.subarray(0, 3).toString('latin1') === '\xff\xd8\xff' },
  {
    type: 'image/webp',
    isKind: (bytes) => /^RIFF.{4}WEBP/s.test(bytes.subarray(0, 12).toString('latin1')),
  },
  // Shown by <img> alone, where no script of it runs.
  {
    type: 'image/svg+xml',
    isKind: (bytes) => /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)?<svg[\s>]/.test(bytes.toString()),
  },
]

/** The picture of LOGO_FILE: PNG, JPEG, WebP or SVG. */
function readLogo(file: string): Logo {
  let bytes: Buffer
  try {
    bytes = readFileSync(file)
  } catch {
    throw new SettingsError(`LOGO_FILE must name a file that can be read: ${file}.`)
  }
  if (bytes.length > MAX_LOGO_BYTES) throw new SettingsError('LOGO_FILE must be a picture of 200 KiB at most.')
  const kind = KINDS.find(({ isKind }) => isKind(bytes))
  if (!kind) throw new SettingsError('LOGO_FILE must be a picture: PNG, JPEG, WebP or SVG.')
  return { type: kind.type, bytes }
}

function authorityOf({ AUTHORITY_NAME: name, AUTHORITY_URL: url }: Parsed<typeof BRAND_FIELDS>): Authority | null {
  if (name !== undefined && url !== undefined) return { name, url }
  if (name === undefined && url === undefined) return null
  throw new SettingsError('AUTHORITY_NAME and AUTHORITY_URL belong together: set both, or neither.')
}

export const brandSettings = (settings: Parsed<typeof BRAND_FIELDS>) => ({
  /** The product's name and look on pages, in mails and in the API description. */
  brand: {
    name: settings.PRODUCT_NAME,
    /** Who publishes the product, as its store listings say. */
    publisher: settings.PUBLISHER_NAME,
    /** The product's own site. */
    url: settings.PRODUCT_URL,
    supportUrl: settings.SUPPORT_URL,
    privacyUrl: settings.PRIVACY_URL,
    termsUrl: settings.TERMS_URL,
    logo: settings.LOGO_FILE === undefined ? undefined : readLogo(settings.LOGO_FILE),
    /** Such as #1f4fc4: links, focus and marks. */
    accentColor: settings.ACCENT_COLOR,
  },
  /** The supervisory authority to which people can complain; null if the adopter names none. */
  authority: authorityOf(settings),
  /** Used if neither the account nor the browser names a language that there is. */
  defaultLanguage: settings.DEFAULT_LOCALE,
  /** The adopter's own texts, which replace ours. */
  ownTexts: settings.MESSAGES_DIR === undefined ? {} : readOwnTexts(settings.MESSAGES_DIR),
})
