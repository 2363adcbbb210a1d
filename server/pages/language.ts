import { cookies, headers } from 'next/headers'
import { cache } from 'react'
import { createTranslator } from 'use-intl/core'
import { acceptedLanguage, isLanguage, type Language, languageFor } from '@/contract/languages'
import { getEnv } from '../settings/env'
import { type Area, type Catalogue, loadCatalogue } from '../texts/load-catalogue'
import { LANGUAGE_COOKIE, REQUESTED_LANGUAGE } from './language-cookie'
import { pageContext } from './session'

/**
 * The language that the query asks for, else the account's, else the browser's choice on this site, else its
 * Accept-Language, else DEFAULT_LOCALE.
 */
export const pageLanguage = cache(async (): Promise<Language> => {
  const requested = (await headers()).get(REQUESTED_LANGUAGE)
  if (isLanguage(requested)) return requested
  // While the account cannot be read, the page comes in the language that the browser asks for.
  const ctx = await pageContext().catch(() => null)
  const own = languageFor(ctx?.actor.user.locale)
  if (own) return own
  const chosen = (await cookies()).get(LANGUAGE_COOKIE)?.value
  if (isLanguage(chosen)) return chosen
  return acceptedLanguage((await headers()).get('accept-language')) ?? getEnv().defaultLanguage
})

/** The texts of one area, for a server component. */
export async function pageTexts<Name extends Area>(area: Name) {
  const locale = await pageLanguage()
  return createTranslator({ locale, messages: await loadCatalogue(locale), namespace: area, timeZone: 'UTC' })
}

/** The texts that go to the browser for client components. */
export const textsOf = async <Name extends Area>(areas: readonly Name[]) => textsIn(await pageLanguage(), areas)

export async function textsIn<Name extends Area>(
  language: Language,
  areas: readonly Name[],
): Promise<Pick<Catalogue, Name>> {
  const catalogue = await loadCatalogue(language)
  return Object.fromEntries(areas.map((area) => [area, catalogue[area]])) as Pick<Catalogue, Name>
}

/** The areas that every page needs in the browser. */
export const SHARED_AREAS = ['Common', 'Errors', 'Failure'] as const

/** The nonce that this page's inline styles need. */
export async function pageNonce(): Promise<string> {
  return /'nonce-([^']+)'/.exec((await headers()).get('content-security-policy') ?? '')?.[1] ?? ''
}
