import type { Language } from '@/contract/languages'
import { getEnv } from '../settings/env'
import { type Catalogue, compileCatalogue } from './catalogue'

const compiled = new Map<Language, Promise<Catalogue>>()

/** Loaded and compiled at the first use of the language. */
export function loadCatalogue(language: Language): Promise<Catalogue> {
  const catalogue = compiled.get(language) ?? compileCatalogue(language, getEnv().ownTexts[language])
  compiled.set(language, catalogue)
  return catalogue
}

export type { Area, Catalogue } from './catalogue'
