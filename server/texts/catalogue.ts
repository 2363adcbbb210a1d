import compile from 'icu-minify/compile'
import type { Language } from '@/contract/languages'
import en from '@/messages/en.json'

/** The English texts define which texts exist. */
export type Catalogue = typeof en
export type Area = keyof Catalogue

export interface Texts {
  [key: string]: string | Texts
}

/** The English texts as in the file, in ICU MessageFormat. */
export const ENGLISH: Catalogue = en

// Loaded on demand, because the API answers before any text is needed.
const SOURCES: Record<Language, () => Promise<{ default: Texts }>> = {
  en: async () => ({ default: en }),
  de: () => import('@/messages/de.json'),
  fr: () => import('@/messages/fr.json'),
  es: () => import('@/messages/es.json'),
  'pt-BR': () => import('@/messages/pt-BR.json'),
  ja: () => import('@/messages/ja.json'),
}

/** The texts of a language as in the file. */
export const sourceOf = async (language: Language): Promise<Texts> => (await SOURCES[language]()).default

/** The compiled texts of a language, with the adopter's in place of ours, so that neither pages nor mails need a parser. */
export const compileCatalogue = async (language: Language, own: Texts = {}): Promise<Catalogue> =>
  compileAll(overlay(overlay(en, await sourceOf(language)), own)) as Catalogue

const isGroup = (value: string | Texts | undefined): value is Texts => typeof value === 'object'

// The compiler's objects have no prototype, and React passes only plain ones to a client component.
const compileAll = (texts: Texts): object =>
  Object.fromEntries(
    Object.entries(texts).map(([key, value]) => [
      key,
      isGroup(value) ? compileAll(value) : structuredClone(compile(value)),
    ]),
  )

/** The texts of `over` in place of those of `under`. */
const overlay = (under: Texts, over: Texts): Texts =>
  Object.fromEntries(
    Object.entries(under).map(([key, value]) => {
      const other = over[key]
      if (isGroup(value)) return [key, isGroup(other) ? overlay(value, other) : value]
      return [key, typeof other === 'string' ? other : value]
    }),
  )

/** The names of a text's values and tags. */
export const parametersOf = (text: string): string[] => [...new Set(namesIn(compile(text)))].sort()

/** Values that a text may take beside those of the English one. */
const MORE_PARAMETERS: Record<string, string[]> = {
  // The English subject is documented without them.
  'Mails.verifyNewEmail.subject': ['code', 'product'],
  // Texts of adopters that were made from the English one of before.
  'Mails.accountWithdrawalStarted.footnote': ['support', 'supportEmail'],
}

/** The names of the values and tags that the text of this path may have, in any language. */
export const parametersFor = (path: string, english: string): string[] => [
  ...parametersOf(english),
  ...(MORE_PARAMETERS[path] ?? []),
]

// A node is a text, a value `[name]`, a tag `[name, ...nodes]`, or a choice `[name, kind, branches]`, where the kind is a number.
const namesIn = (nodes: unknown): string[] => (Array.isArray(nodes) ? nodes.flatMap(namesOf) : [])
function namesOf(node: unknown): string[] {
  if (!Array.isArray(node)) return []
  const [name, kind, branches] = node
  return [name, ...(typeof kind === 'number' ? Object.values(branches ?? {}).flatMap(namesIn) : namesIn(node.slice(1)))]
}

/** Every text by its path, such as `SignIn.title`. */
export const flatten = (texts: Texts, prefix = ''): [path: string, text: string][] =>
  Object.entries(texts).flatMap(([key, value]) =>
    isGroup(value) ? flatten(value, `${prefix}${key}.`) : [[prefix + key, value] as [string, string]],
  )
