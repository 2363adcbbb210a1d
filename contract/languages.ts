/** The languages of pages and mails, each by the name that its speakers give it. */
export const LANGUAGE_NAMES = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  'pt-BR': 'Português (Brasil)',
  ja: '日本語',
} as const

export type Language = keyof typeof LANGUAGE_NAMES
export const LANGUAGES = Object.keys(LANGUAGE_NAMES) as Language[]
export const DEFAULT_LANGUAGE: Language = 'en'

export const isLanguage = (text: unknown): text is Language =>
  typeof text === 'string' && Object.hasOwn(LANGUAGE_NAMES, text)

const primary = (tag: string) => tag.toLowerCase().split('-')[0]

/** The language for a reader of a BCP 47 tag: the same one, or one with the same beginning. `pt-PT` gives `pt-BR`. */
export function languageFor(tag: string | null | undefined): Language | null {
  if (!tag) return null
  const same = LANGUAGES.find((language) => language.toLowerCase() === tag.toLowerCase())
  return same ?? LANGUAGES.find((language) => primary(language) === primary(tag)) ?? null
}

/** The first language of an `Accept-Language` header that the service has. */
export function acceptedLanguage(header: string | null | undefined): Language | null {
  const wishes = (header ?? '').split(',').flatMap((part) => {
    const [tag = '', ...parameters] = part.trim().split(';')
    const weight = parameters.map((text) => /^\s*q=([\d.]+)\s*$/.exec(text)?.[1]).find((text) => text !== undefined)
    const quality = weight === undefined ? 1 : Number(weight)
    return quality > 0 ? [{ tag: tag.trim(), quality }] : []
  })
  wishes.sort((one, other) => other.quality - one.quality)
  return wishes.map(({ tag }) => languageFor(tag)).find((language) => language !== null) ?? null
}

/** A formatted duration or distance. In Japanese, no space stands between a number and its unit, though the formatter writes one. */
export const writtenUnits = (language: string, formatted: string): string =>
  language === 'ja' ? formatted.replaceAll(/\s/g, '') : formatted

/** The tag by which a language's dates and times are written. English ones are: 29 November 2026 at 18:04. */
export const dateTag = (language: string): string => (language === 'en' ? 'en-GB' : language)
