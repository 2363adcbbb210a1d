/** Red, green and blue of a colour such as #1f4fc4, each from 0 to 255. */
const channelsOf = (color: string) => [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))

const linear = (value: number) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)

/** Relative luminance of WCAG 2. */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(color).map((value) => linear(value / 255))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const contrast = (one: string, other: string) => {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

const MIN_CONTRAST = 4.5
/** What stands behind text in the accent, as in globals.css. In the dark, pages and mails show a lighter shade of it. */
const LIGHT = { surface: '#ffffff', canvas: '#fafaf8', softShare: 0.08 }
const DARK = { surface: '#15171a', canvas: '#0d0e11', softShare: 0.18 }
/** The cards of mails in the dark. */
const DARK_MAIL = '#1c1f26'

export interface Accent {
  accent: string
  /** Behind a badge or a note. */
  soft: string
}

/** The least contrast that text in the accent has anywhere. */
function leastContrast(accent: string, { surface, canvas, softShare }: typeof LIGHT, ...more: string[]): number {
  const backgrounds = [surface, canvas, mix(accent, surface, softShare), ...more]
  return Math.min(...backgrounds.map((background) => contrast(accent, background)))
}

/** Why people could not read text in this colour; null if they can. */
export function accentProblem(color: string): string | null {
  const found = leastContrast(color, LIGHT)
  if (found >= MIN_CONTRAST) return null
  // Never rounded up to the number that is asked for.
  const shown = (Math.floor(found * 10) / 10).toFixed(1)
  return `must have a contrast of ${MIN_CONTRAST} to 1 on white and on a tint of itself, so that it can be read; ${color} has ${shown}`
}

/** The accent on dark pages and in dark mails: mixed with white until it can be read there. */
export function accentInTheDark(color: string): string {
  for (let white = 0; white < 100; white += 5) {
    const mixed = mix('#ffffff', color, white / 100)
    if (leastContrast(mixed, DARK, DARK_MAIL) >= MIN_CONTRAST) return mixed
  }
  return '#ffffff'
}

/** What pages show in place of our own accent. */
export function accentsOf(color: string): Record<'light' | 'dark', Accent> {
  const dark = accentInTheDark(color)
  return {
    light: { accent: color, soft: mix(color, LIGHT.surface, LIGHT.softShare) },
    dark: { accent: dark, soft: mix(dark, DARK.surface, DARK.softShare) },
  }
}

/** So much of the one colour in the other. */
function mix(one: string, other: string, share: number): string {
  const others = channelsOf(other)
  const mixed = channelsOf(one).map((value, index) => value * share + (others[index] ?? 0) * (1 - share))
  return `#${mixed.map((value) => Math.round(value).toString(16).padStart(2, '0')).join('')}`
}
