import { readFileSync } from 'node:fs'
import { SettingsError } from './settings-error'

export interface Brand {
  name: string
  /** The product's own site. */
  url: string | undefined
  supportUrl: string | undefined
  privacyUrl: string | undefined
  termsUrl: string | undefined
  logo: Logo | undefined
  /** Such as #1f4fc4: links, focus and marks. */
  accentColor: string | undefined
}

interface Logo {
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
export function readLogo(file: string): Logo {
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

const channel = (value: number) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)

/** Relative luminance of WCAG 2, of a colour such as #1f4fc4. */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) =>
    channel(Number.parseInt(color.slice(at, at + 2), 16) / 255),
  )
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const contrast = (one: string, other: string) => {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

const MIN_CONTRAST = 4.5
/** The background of light pages. Dark pages and mails show a lighter shade of the accent if it would be too dark there. */
const LIGHT_CANVAS = '#ffffff'
const DARK_CANVAS = '#1c1f26'

/** Why people could not read text in this colour; null if they can. */
export function accentProblem(color: string): string | null {
  const found = contrast(color, LIGHT_CANVAS)
  if (found >= MIN_CONTRAST) return null
  return `must have a contrast of ${MIN_CONTRAST} to 1 on white, so that it can be read; ${color} has ${found.toFixed(1)}`
}

/** The accent on dark pages: mixed with white until it is readable. */
export function accentInTheDark(color: string): string {
  for (let white = 0; white < 100; white += 5) {
    const mixed = mixWithWhite(color, white / 100)
    if (contrast(mixed, DARK_CANVAS) >= MIN_CONTRAST) return mixed
  }
  return '#ffffff'
}

const mixWithWhite = (color: string, share: number): string =>
  `#${[1, 3, 5]
    .map((at) => Number.parseInt(color.slice(at, at + 2), 16))
    .map((value) =>
      Math.round(value + (255 - value) * share)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`
